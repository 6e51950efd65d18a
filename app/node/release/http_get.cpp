#include "app/node/release/http_get.h"

#include <memory>

#include <curl/curl.h>

#include "core/base/text.h"

namespace potluck::node {

namespace {

constexpr long redirects_max = 5;
constexpr std::size_t shown_bytes = 200;

struct Transfer {
    Bytes bytes;
    std::size_t bytes_max = 0;
    bool too_large = false;
    std::stop_token stop;
};

std::size_t receive(const char* data, std::size_t, std::size_t size, void* into) {
    auto& transfer = *static_cast<Transfer*>(into);
    if (transfer.bytes.size() + size > transfer.bytes_max) {
        transfer.too_large = true;
        return 0;  // ends the transfer
    }
    const ByteSpan fresh = as_bytes({data, size});
    transfer.bytes.insert(transfer.bytes.end(), fresh.begin(), fresh.end());
    return size;
}

int ask_to_go_on(void* of, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<Transfer*>(of)->stop.stop_requested() ? 1 : 0;
}

void set_up(CURL* handle, const std::string& url, Transfer& transfer) {
    curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(handle, CURLOPT_MAXREDIRS, redirects_max);
    curl_easy_setopt(handle, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_USERAGENT, "Potluck");
    curl_easy_setopt(handle, CURLOPT_TIMEOUT, static_cast<long>(http_patience.count()));
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, ask_to_go_on);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &transfer);
}

/// The proxy looks names up, too; what the environment says of proxies and of exceptions from them no longer counts.
void go_through(CURL* handle, const net::Proxy& proxy) {
    const char* scheme = proxy.kind == net::ProxyKind::socks5 ? "socks5h://" : "http://";
    curl_easy_setopt(handle, CURLOPT_PROXY, (scheme + proxy.place()).c_str());
    curl_easy_setopt(handle, CURLOPT_NOPROXY, "");
    if (proxy.username.empty()) return;
    curl_easy_setopt(handle, CURLOPT_PROXYUSERNAME, proxy.username.c_str());
    curl_easy_setopt(handle, CURLOPT_PROXYPASSWORD, proxy.password.c_str());
}

}  // namespace

Result<Bytes> http_get(const std::string& url, std::size_t bytes_max, const std::stop_token& stop,
                       const net::Proxy& proxy) {
    static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle(curl_easy_init(), curl_easy_cleanup);
    if (started != CURLE_OK || !handle)
        return Error{ErrorCode::unavailable, "This computer's library for web servers (libcurl) cannot be used."};
    Transfer transfer{.bytes = {}, .bytes_max = bytes_max, .stop = stop};
    set_up(handle.get(), url, transfer);
    if (proxy.is_used()) go_through(handle.get(), proxy);
    const CURLcode outcome = curl_easy_perform(handle.get());
    const std::string shown = printable_ascii(url, shown_bytes);
    if (outcome == CURLE_OK) return std::move(transfer.bytes);
    if (stop.stop_requested())
        return Error{ErrorCode::cancelled, "The download was stopped because Potluck is closing."};
    if (transfer.too_large) return Error{ErrorCode::malformed, shown + " is larger than it may be; ask its maker."};
    if (outcome == CURLE_HTTP_RETURNED_ERROR)
        return Error{ErrorCode::not_found, shown + " is not on its server at present; try again later."};
    if (outcome == CURLE_COULDNT_RESOLVE_PROXY || outcome == CURLE_PROXY)
        return Error{ErrorCode::io, shown +
                                        " could not be fetched, because the proxy lets nothing through; start it, or "
                                        "choose another."};
    return Error{ErrorCode::io, shown + " could not be fetched (" + curl_easy_strerror(outcome) +
                                    "); check this computer's connection, then try again."};
}

}  // namespace potluck::node

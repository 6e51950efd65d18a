#include "net/proxy/proxy.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/base/text.h"

namespace potluck::net {

namespace {

constexpr std::string_view forms =
    "A proxy is written socks5://host:port or http://host:port, with name:password@ before the host if it asks for "
    "them; none goes without one.";

Error wrong_form() { return {ErrorCode::invalid_argument, std::string(forms)}; }

/// Well-formed, because settings are kept as JSON, without blanks.
bool is_text(std::string_view text) {
    while (!text.empty()) {
        const std::optional<std::uint32_t> code = take_code_point(text);
        if (!code || *code <= 0x20 || *code == 0x7F) return false;
    }
    return true;
}

/// Letters, digits and what names and addresses have besides.
bool is_host(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char each) {
        return is_letter(each) || is_digit(each) || each == '.' || each == '-' || each == '_' || each == ':';
    });
}

Status read_place(Proxy& proxy, std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return wrong_form();
    std::string_view host = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    const bool in_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (in_brackets) host = host.substr(1, host.size() - 2);
    if (!in_brackets && host.find(':') != std::string_view::npos) return wrong_form();
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), proxy.port);
    if (failure != std::errc() || end != digits.data() + digits.size()) return wrong_form();
    proxy.host = host;
    return {};
}

}  // namespace

std::string Proxy::place() const {
    const bool six = host.find(':') != std::string::npos;
    return (six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Status Proxy::check() const {
    if (!is_used()) return *this == Proxy{} ? Status() : wrong_form();
    if (!is_host(host) || host.size() > proxy_text_bytes_max || port == 0) return wrong_form();
    if (username.size() > proxy_text_bytes_max || password.size() > proxy_text_bytes_max)
        return Error{ErrorCode::invalid_argument, "A proxy's name and password have at most 255 bytes each."};
    if (username.empty() != password.empty())
        return Error{ErrorCode::invalid_argument, "A proxy asks for a name and a password, or for neither: give both."};
    if (!is_text(username) || !is_text(password) || username.find(':') != std::string::npos)
        return Error{ErrorCode::invalid_argument,
                     "A proxy's name and password hold no blanks, and the name holds no colon."};
    return {};
}

Result<Proxy> parse_proxy(std::string_view text) {
    Proxy proxy;
    if (text == "none") return proxy;
    constexpr std::string_view socks5 = "socks5://", http = "http://";
    if (text.starts_with(socks5)) {
        proxy.kind = ProxyKind::socks5;
        text.remove_prefix(socks5.size());
    } else if (text.starts_with(http)) {
        proxy.kind = ProxyKind::http;
        text.remove_prefix(http.size());
    } else {
        return wrong_form();
    }
    if (text.ends_with('/')) text.remove_suffix(1);
    if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
        const std::string_view secret = text.substr(0, at);
        const std::size_t colon = secret.find(':');
        if (colon == std::string_view::npos) return wrong_form();
        auto username = percent_decoded(secret.substr(0, colon), Plus::literal);
        auto password = percent_decoded(secret.substr(colon + 1), Plus::literal);
        if (!username || !password) return wrong_form();
        proxy.username = *std::move(username);
        proxy.password = *std::move(password);
        text.remove_prefix(at + 1);
    }
    if (Status read = read_place(proxy, text); !read) return read.error();
    if (Status checked = proxy.check(); !checked) return checked.error();
    return proxy;
}

}  // namespace potluck::net

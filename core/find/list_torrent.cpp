// A magnet comes from a chat or a QR code, hence from anyone: each parameter is decoded and bounded as it is read, and
// what the size says is bounded before anything is fetched. Unknown parameters are ignored, as BEP 9 wants it.
#include "core/find/list_torrent.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/base/text.h"

namespace potluck::find {

namespace {

constexpr std::string_view file_head = "potluck-signed-list 1 ";
constexpr std::string_view magnet_scheme = "magnet:?";
constexpr std::string_view topic_prefix = "urn:btmh:1220";  // multihash: SHA-256 (0x12) of 32 bytes (0x20)

/// A decimal number of at most `max`, without leading zeros.
std::optional<std::uint64_t> number_in(std::string_view text, std::uint64_t max) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (!whole || text.front() == '0' || value > max) return std::nullopt;
    return value;
}

}  // namespace

std::string SignedList::to_file() const {
    return std::string(file_head) + std::to_string(signature.size()) + "\n" + signature + text;
}

Result<SignedList> SignedList::parse(std::string_view file) {
    const Error bad{ErrorCode::malformed, "This file is no signed list of runs; ask its maker for another link."};
    const std::size_t line_end = file.substr(0, file_head.size() + 8).find('\n');
    if (!file.starts_with(file_head) || line_end == std::string_view::npos) return bad;
    const auto size =
        number_in(file.substr(file_head.size(), line_end - file_head.size()), identity::minisign_bytes_max);
    file.remove_prefix(line_end + 1);
    if (!size || *size > file.size() || file.size() - *size > list_bytes_max) return bad;
    return SignedList{std::string(file.substr(0, *size)), std::string(file.substr(*size))};
}

bool is_magnet(std::string_view source) { return same_letters(source.substr(0, magnet_scheme.size()), magnet_scheme); }

std::string ListTorrent::to_magnet() const {
    std::string link = std::string(magnet_scheme) + "xt=" + std::string(topic_prefix) + file.info_hash.hex() +
                       "&xl=" + std::to_string(file.size) + "&x.root=" + file.root.hex();
    if (!web_seed.empty()) link += "&ws=" + percent_encoded(web_seed);
    return link;
}

Result<ListTorrent> ListTorrent::parse(std::string_view magnet) {
    const Error bad{ErrorCode::malformed, "This magnet link names no list of runs; ask its maker for another one."};
    if (magnet.size() > list_magnet_bytes_max || !is_magnet(magnet)) return bad;
    magnet.remove_prefix(magnet_scheme.size());
    std::optional<Digest> info_hash;
    std::optional<BlobId> root;
    std::optional<std::uint64_t> size;
    ListTorrent torrent;
    while (!magnet.empty()) {
        const std::string_view part = magnet.substr(0, magnet.find('&'));
        magnet.remove_prefix(std::min(part.size() + 1, magnet.size()));
        const std::size_t equals = std::min(part.find('='), part.size());
        const std::string_view name = part.substr(0, equals);
        const auto value = percent_decoded(part.substr(std::min(equals + 1, part.size())), Plus::literal);
        if (!value) return bad;
        if (name == "xt" && same_letters(value->substr(0, topic_prefix.size()), topic_prefix)) {
            if (info_hash) return bad;
            info_hash = Digest::parse(value->substr(topic_prefix.size()));
            if (!info_hash) return bad;
        } else if (name == "x.root") {
            if (root) return bad;
            root = BlobId::parse(*value);
        } else if (name == "xl") {
            if (size) return bad;
            size = number_in(*value, signed_list_bytes_max);
        } else if (name == "ws") {
            if (!torrent.web_seed.empty() || value->empty() || !is_page(*value)) return bad;
            torrent.web_seed = *value;
        }
    }
    if (!info_hash || !root || !size || info_hash->is_zero() || root->is_zero()) return bad;
    torrent.file = {.root = *root, .size = *size, .kind = run::BlobKind::open, .info_hash = *info_hash};
    return torrent;
}

}  // namespace potluck::find

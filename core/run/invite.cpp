// An invite comes from a chat or an e-mail, hence from anyone: it is cut at '&' and '=' from left to right, each value
// is decoded and checked as soon as it is read, and nothing is resolved or contacted. xt and dn may occur once, x.pe
// sixteen times; other keys are ignored, as BEP 9 wants it, so that a magnet link of another program's making can be
// used.
//
// Hosts are checked by grammar, because they are shown to people and handed to a resolver: IPv4 without leading zeros
// (which some resolvers read as octal), IPv6 in brackets with at most one "::" and an IPv4 tail (RFC 4291), or a DNS
// name whose last label is not all digits. What to_magnet() writes parses to the same invite, as long as all hints fit
// into invite_bytes_max.
//
// Sources: BEP 9 for the link, BEP 52 for the btmh topic (a multihash of the info-hash).
#include "core/run/invite.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/text.h"
#include "core/run/plain_text.h"

namespace potluck::run {

namespace {

constexpr std::size_t name_characters_max = 80;
constexpr std::size_t host_bytes_max = 253;
constexpr std::string_view topic_prefix = "urn:btmh:1220";  // multihash: SHA-256 (0x12) of 32 bytes (0x20)

Error bad_link(std::string message) { return Error{ErrorCode::malformed, "This invite " + std::move(message)}; }

/// Takes the part of `rest` up to `separator` (or all of it) and removes both.
std::string_view take_until(std::string_view& rest, char separator) {
    const std::size_t end = std::min(rest.find(separator), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return part;
}

/// A decimal number of 1 to 5 digits, at most `most`; leading zeros are refused.
std::optional<std::uint32_t> small_number(std::string_view text, std::uint32_t most) {
    if (text.empty() || text.size() > 5 || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
    if (text.size() > 1 && text.front() == '0') return std::nullopt;
    std::uint32_t value = 0;
    for (const char c : text) value = 10 * value + static_cast<std::uint32_t>(c - '0');
    return value <= most ? std::optional(value) : std::nullopt;
}

bool is_ipv4(std::string_view host) {
    if (std::count(host.begin(), host.end(), '.') != 3) return false;
    for (int part = 0; part < 4; ++part) {
        if (!small_number(take_until(host, '.'), 255)) return false;
    }
    return true;
}

/// Groups of a colon-separated run of up to four hexadecimal digits each; the last may be an IPv4 address and counts
/// as two. Nothing if it is anything else; an empty run has no groups.
std::optional<std::size_t> ipv6_groups(std::string_view run) {
    std::size_t groups = 0;
    if (!run.empty() && run.back() == ':') return std::nullopt;
    while (!run.empty()) {
        const std::string_view group = take_until(run, ':');
        if (run.empty() && is_ipv4(group)) return groups + 2;
        const bool is_group =
            !group.empty() && group.size() <= 4 && std::all_of(group.begin(), group.end(), is_hex_digit);
        if (!is_group) return std::nullopt;
        ++groups;
    }
    return groups;
}

bool is_ipv6(std::string_view host) {
    if (host.size() > 45) return false;
    const std::size_t gap = host.find("::");
    if (gap == std::string_view::npos) return ipv6_groups(host) == 8;
    if (host.substr(0, gap).find('.') != std::string_view::npos) return false;  // IPv4 only at the very end
    const std::optional<std::size_t> before = ipv6_groups(host.substr(0, gap));
    const std::optional<std::size_t> after = ipv6_groups(host.substr(gap + 2));
    return before && after && *before + *after <= 7;
}

bool is_label(std::string_view label) {
    if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') return false;
    const auto fits = [](char c) { return is_digit(c) || is_letter(c) || c == '-' || c == '_'; };
    return std::all_of(label.begin(), label.end(), fits);
}

bool is_dns_name(std::string_view host) {
    if (host.empty() || host.size() > host_bytes_max || host.back() == '.') return false;
    std::string_view label;
    while (!host.empty()) {
        label = take_until(host, '.');
        if (!is_label(label)) return false;
    }
    return !std::all_of(label.begin(), label.end(), is_digit);  // such a name would be read as a number
}

/// Removes `scheme` from the front of `link`, in any case of letters; false if it is not there.
bool take_scheme(std::string_view& link, std::string_view scheme) {
    const bool same = same_letters(link.substr(0, scheme.size()), scheme);
    if (same) link.remove_prefix(scheme.size());
    return same;
}

/// What a link has said so far.
struct Draft {
    Invite invite;
    std::size_t topics = 0;
    std::size_t names = 0;
};

Status take_topic(Draft& draft, const std::string& value) {
    if (++draft.topics > 1) return bad_link("names two runs; ask the host for a new one.");
    std::string_view topic = value;
    const std::optional<RunId> run = take_scheme(topic, topic_prefix) ? RunId::parse(topic) : std::nullopt;
    if (!run || run->is_zero()) return bad_link("does not name a run of Potluck; ask the host for a new one.");
    draft.invite.run = *run;
    return {};
}

Status take_name(Draft& draft, std::string value) {
    const std::optional<std::size_t> length = plain_text_length(value, LineBreaks::refused);
    const bool fits = length && *length <= name_characters_max;
    if (++draft.names > 1 || !fits) return bad_link("has a name that cannot be shown; ask the host for a new one.");
    draft.invite.name = std::move(value);
    return {};
}

Status take_hint(Draft& draft, const std::string& value) {
    const std::optional<PeerHint> hint = parse_hint(value);
    if (!hint) return bad_link("has a peer address that cannot be read; ask the host for a new one.");
    if (draft.invite.hints.size() == invite_hints_max) {
        return bad_link("has more than 16 peer addresses; remove some.");
    }
    draft.invite.hints.push_back(*hint);
    return {};
}

/// One key=value of the query. Keys that mean nothing here are left alone.
Status take_parameter(Draft& draft, std::string_view parameter) {
    const std::string_view key = take_until(parameter, '=');
    if (key != "xt" && key != "dn" && key != "x.pe") return {};
    std::optional<std::string> value = percent_decoded(parameter, key == "dn" ? Plus::space : Plus::literal);
    if (!value) return bad_link("has a broken percent sign; copy it again.");
    if (key == "xt") return take_topic(draft, *value);
    if (key == "dn") return take_name(draft, std::move(*value));
    return take_hint(draft, *value);
}

}  // namespace

std::optional<PeerHint> parse_hint(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const std::optional<std::uint32_t> port = small_number(text.substr(colon + 1), 65'535);
    if (!port || *port == 0) return std::nullopt;
    std::string_view host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
        host = host.substr(1, host.size() - 2);
        if (!is_ipv6(host)) return std::nullopt;
    } else if (!is_ipv4(host) && !is_dns_name(host)) {
        return std::nullopt;
    }
    return PeerHint{std::string(host), static_cast<std::uint16_t>(*port)};
}

bool is_of_local_network(const PeerHint& hint) {
    std::string_view host = hint.host;
    if (is_ipv6(host)) {  // fc00::/7
        const char second = to_lower(host[1]);
        return host.find(':') == 4 && to_lower(host[0]) == 'f' && (second == 'c' || second == 'd');
    }
    if (!is_ipv4(host)) return false;
    const std::uint32_t first = *small_number(take_until(host, '.'), 255);
    const std::uint32_t second = *small_number(take_until(host, '.'), 255);
    return first == 10 || (first == 172 && second >= 16 && second < 32) || (first == 192 && second == 168);
}

std::string Invite::to_magnet() const {
    std::string link = "magnet:?xt=" + std::string(topic_prefix) + run.hex();
    if (!name.empty()) link += "&dn=" + percent_encoded(name);
    for (const PeerHint& hint : hints) {
        const bool bracketed = hint.host.find(':') != std::string::npos;
        const std::string host = bracketed ? "[" + hint.host + "]" : hint.host;
        const std::string parameter = "&x.pe=" + host + ":" + std::to_string(hint.port);
        if (link.size() + parameter.size() > invite_bytes_max) break;
        link += parameter;
    }
    return link;
}

std::string Invite::to_link(std::string_view page) const {
    constexpr std::string_view scheme = "potluck:";
    std::string query = to_magnet().substr(std::string_view("magnet:").size());
    if (page.empty()) return std::string(scheme) + query;
    // Brackets end a link for most chats, and RFC 3986 has none behind #.
    std::string link = std::string(page.substr(0, page.find('#'))) + "#" + std::string(scheme);
    for (const char c : query) {
        if (c == '[' || c == ']') {
            link += c == '[' ? "%5B" : "%5D";
        } else {
            link += c;
        }
    }
    return link.size() <= invite_bytes_max ? link : std::string(scheme) + query;
}

Result<Invite> Invite::parse(std::string_view link) {
    if (link.size() > invite_bytes_max) return bad_link("is longer than 4,096 characters; copy it again.");
    static constexpr std::string_view blanks = " \t\r\n";
    link.remove_prefix(std::min(link.find_first_not_of(blanks), link.size()));
    link = link.substr(0, link.find_last_not_of(blanks) + 1);
    std::string_view behind = link;
    const bool of_web = take_scheme(behind, "https://") || take_scheme(behind, "http://");
    if (of_web) link.remove_prefix(std::min(link.find('#'), link.size() - 1) + 1);
    if (!take_scheme(link, "magnet:?") && !take_scheme(link, "potluck:?")) {
        return bad_link(of_web ? "is a page without an invite behind it; copy all of it, with what follows #."
                               : "is not a link that begins with magnet:? or potluck:?; copy it again.");
    }
    Draft draft;
    while (!link.empty()) {
        if (const Status status = take_parameter(draft, take_until(link, '&')); !status) return status.error();
    }
    if (draft.topics == 0) return bad_link("does not name a run; copy all of it.");
    return draft.invite;
}

}  // namespace potluck::run

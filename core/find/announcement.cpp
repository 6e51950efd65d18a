// The layout is fixed fields, then strings with their lengths, then what a certificate needs, then the signature of all
// before it. The limits together stay below announcement_bytes_max, so whatever is within them fits.
//
// The certificate of a full committee (5 signatures) with its 7 keys takes 627 bytes, so it travels whole and a shorter
// proof is not needed. judge() asks for what is cheap first: age, one signature, then those of the quorum.
#include "core/find/announcement.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"
#include "core/base/text.h"
#include "core/run/accept_list.h"
#include "core/run/agreement/vote.h"
#include "core/run/plain_text.h"

namespace potluck::find {

namespace {

constexpr std::uint32_t layout_version = 2;
constexpr std::int64_t made_max = 1LL << 48U;
constexpr std::size_t certificate_bytes_max =
    1 + 32 + 12 + 4 + 1 + 32 + 1 + sizeof(identity::Signature) * run::certificate_signatures_max;
constexpr std::size_t numbers_bytes = 8 * 5 + 4 * 5;
constexpr std::size_t texts_bytes_max = 8 * 2 + name_bytes_max + purpose_bytes_max + language_bytes_max +
                                        run::licence_bytes_max + model_bytes_max + page_bytes_max + family_bytes_max +
                                        host_name_bytes_max;
constexpr std::size_t hints_bytes_max = 1 + hints_max * (2 + hint_host_bytes_max + 2);
constexpr std::size_t proof_bytes_max = 1 + 32 * run::committee_members_max + 2 + certificate_bytes_max;
static_assert(4 + 32 + 32 + 8 + numbers_bytes + texts_bytes_max + hints_bytes_max + proof_bytes_max +
                      sizeof(identity::Signature) <=
                  announcement_bytes_max,
              "an announcement within its limits fits");

bool is_plain(const std::string& text) { return run::plain_text_length(text, run::LineBreaks::refused).has_value(); }

bool is_name(const std::string& name) {
    const auto length = run::plain_text_length(name, run::LineBreaks::refused);
    return length && *length > 0 && *length <= run::run_name_characters_max;
}

bool is_loss(float loss) { return std::isfinite(loss) && loss >= 0; }

/// What is wrong with a field, as the end of a sentence; empty if nothing is.
std::string fault_of(const Announcement& one) {
    if (one.run.is_zero() || one.host.is_zero()) return "names no run";
    if (one.made <= 0 || one.made > made_max) return "has a time that no clock shows";
    if (!is_name(one.name)) return "has a name that cannot be shown";
    if (!is_plain(one.purpose) || !is_plain(one.model)) return "has a text that cannot be shown";
    if (!is_plain(one.family) || !is_plain(one.host_name)) return "has a name that cannot be shown";
    if (!is_language(one.language)) return "has a language that is no tag";
    if (!one.licence.empty() && !run::is_licence(one.licence)) return "has a licence that is none";
    if (!is_page(one.page)) return "has a page that is not of the web";
    if (std::max({one.parameters, one.memory, one.download}) > model_needs_max) return "has a model of no size";
    if (one.rounds > run::round_max || one.round > one.rounds) return "has more rounds than it plans";
    if (!is_loss(one.loss) || !is_loss(one.baseline)) return "has a loss that is none";
    if (!std::isfinite(one.flops) || one.flops < 0 || one.flops > flops_max) return "has a token that costs nonsense";
    if (one.volunteers > volunteers_max) return "has more volunteers than there are";
    if (one.round_seconds > round_seconds_max) return "has rounds that nobody waits for";
    if (one.committee.empty() != (one.round == 0) || one.certificate.empty() != (one.round == 0))
        return "has a round without its proof";
    if (std::ranges::adjacent_find(one.committee, std::ranges::greater_equal{}) != one.committee.end())
        return "has a committee out of order";
    return {};
}

void write_body(ByteWriter& out, const Announcement& one) {
    out.u32(layout_version);
    out.u64(static_cast<std::uint64_t>(one.made));
    out.raw(one.run.bytes);
    out.raw(one.host.bytes);
    for (const std::uint64_t number : {one.parameters, one.memory, one.download, one.round, one.rounds})
        out.u64(number);
    out.f32(one.loss);
    out.f32(one.baseline);
    out.f32(one.flops);
    out.u32(one.volunteers);
    out.u32(one.round_seconds);
    for (const std::string* text :
         {&one.name, &one.purpose, &one.language, &one.licence, &one.model, &one.family, &one.host_name, &one.page})
        out.string(*text);
    out.u8(static_cast<std::uint8_t>(one.hints.size()));
    for (const run::PeerHint& hint : one.hints) {
        out.string(hint.host);
        out.u16(hint.port);
    }
    out.u8(static_cast<std::uint8_t>(one.committee.size()));
    for (const PeerId& key : one.committee) out.raw(key.bytes);
    out.u16(static_cast<std::uint16_t>(one.certificate.size()));
    out.raw(one.certificate);
}

run::PeerHint read_hint(ByteReader& in) {
    run::PeerHint hint;
    hint.host = in.string(hint_host_bytes_max);
    hint.port = in.u16();
    const bool bracketed = hint.host.find(':') != std::string::npos;
    const std::string host = bracketed ? "[" + hint.host + "]" : hint.host;
    if (run::parse_hint(host + ":" + std::to_string(hint.port)) != hint) in.fail();
    return hint;
}

void read_proof(ByteReader& in, Announcement& one) {
    const std::size_t members = in.u8();
    if (members > run::committee_members_max) in.fail();
    for (std::size_t i = 0; i < members && !in.failed(); ++i) in.array(one.committee.emplace_back().bytes);
    const std::size_t size = in.u16();
    if (size > certificate_bytes_max) in.fail();
    const ByteSpan certificate = in.raw(size);
    one.certificate.assign(certificate.begin(), certificate.end());
}

Announcement read_body(ByteReader& in) {
    Announcement one;
    if (in.u32() != layout_version) in.fail();
    one.made = static_cast<std::int64_t>(std::min<std::uint64_t>(in.u64(), INT64_MAX));
    in.array(one.run.bytes);
    in.array(one.host.bytes);
    for (std::uint64_t* number : {&one.parameters, &one.memory, &one.download, &one.round, &one.rounds})
        *number = in.u64();
    one.loss = in.f32();
    one.baseline = in.f32();
    one.flops = in.f32();
    one.volunteers = in.u32();
    one.round_seconds = in.u32();
    one.name = in.string(name_bytes_max);
    one.purpose = in.string(purpose_bytes_max);
    one.language = in.string(language_bytes_max);
    one.licence = in.string(run::licence_bytes_max);
    one.model = in.string(model_bytes_max);
    one.family = in.string(family_bytes_max);
    one.host_name = in.string(host_name_bytes_max);
    one.page = in.string(page_bytes_max);
    const std::size_t hints = in.u8();
    if (hints > hints_max) in.fail();
    for (std::size_t i = 0; i < hints && !in.failed(); ++i) one.hints.push_back(read_hint(in));
    read_proof(in, one);
    return one;
}

/// Whether a quorum of the keys that it names has decided the round before the one that it claims.
bool is_decided(const Announcement& one, const run::Verifier& verifier) {
    if (one.round == 0) return true;
    const auto message = run::decode_agreement_message(one.certificate);
    const auto committee = run::Committee::from_keys(one.committee);
    if (!message || !committee) return false;
    const auto* proof = std::get_if<run::Certificate>(&*message);
    if (proof == nullptr || proof->step != run::Step::precommit) return false;
    if (proof->instance.run != one.run || proof->instance.round.next() != RoundId{one.round}) return false;
    return run::certifies(*proof, *committee, verifier);
}

}  // namespace

bool is_language(std::string_view tag) {
    const auto allowed = [](char c) { return is_letter(c) || is_digit(c) || c == '-'; };
    return tag.size() <= language_bytes_max && std::ranges::all_of(tag, allowed);
}

bool is_page(std::string_view link) {
    if (link.empty()) return true;
    const bool web = link.starts_with("https://") || link.starts_with("http://");
    const auto allowed = [](char c) { return c > ' ' && c < 0x7f && c != '"' && c != '<'; };
    return web && link.size() <= page_bytes_max && std::ranges::all_of(link, allowed);
}

run::Invite Announcement::invite() const { return {.run = run, .name = name, .hints = hints}; }

Bytes detail::encode_and_sign(const Announcement& announcement, const identity::Identity& signer) {
    ByteWriter out;
    write_body(out, announcement);
    out.raw(signer.sign(announcement_domain, out.bytes()));
    return out.take();
}

Bytes sign(const Announcement& announcement, const identity::Identity& host) {
    POTLUCK_CHECK(announcement.host == host.id());
    Bytes bytes = detail::encode_and_sign(announcement, host);
    POTLUCK_CHECK(parse_announcement(bytes).ok());
    return bytes;
}

Result<SignedAnnouncement> parse_announcement(ByteSpan bytes) {
    if (bytes.size() > announcement_bytes_max)
        return Error{ErrorCode::malformed, "An announcement of a run is longer than 2,048 bytes."};
    ByteReader in(bytes);
    SignedAnnouncement parsed{.announcement = read_body(in)};
    in.array(parsed.signature);
    if (!in.finished())
        return Error{ErrorCode::malformed, "An announcement of a run is cut short, or a field is too long."};
    if (const std::string fault = fault_of(parsed.announcement); !fault.empty())
        return Error{ErrorCode::malformed, "An announcement of a run " + fault + "."};
    return parsed;
}

run::Verdict judge(const SignedAnnouncement& signed_one, ByteSpan bytes, std::int64_t now,
                   const run::Verifier& verifier) {
    const Announcement& one = signed_one.announcement;
    if (one.made > now + clocks_differ_max.count()) return run::Verdict::absurd;
    if (one.made <= now - announcement_lasts.count()) return run::Verdict::stale;
    const ByteSpan body = bytes.first(bytes.size() - signed_one.signature.size());
    if (!verifier.verify(one.host, announcement_domain, body, signed_one.signature)) return run::Verdict::bad_signature;
    return is_decided(one, verifier) ? run::Verdict::accepted : run::Verdict::wrong_author;
}

std::vector<run::PeerHint> hints_for_announcement(const std::vector<run::PeerHint>& hints) {
    std::vector<run::PeerHint> near, far;
    for (const run::PeerHint& hint : hints) {
        if (hint.host.size() <= hint_host_bytes_max) (run::is_of_local_network(hint) ? near : far).push_back(hint);
    }
    near.resize(std::min(near.size(), hints_max / 2));
    far.resize(std::min(far.size(), hints_max - near.size()));
    far.insert(far.end(), near.begin(), near.end());
    return far;
}

}  // namespace potluck::find

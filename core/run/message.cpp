// Bytes follow from the fields that each message describes beside its struct. A message has one layout only, since its
// bytes are what the sender signs: an absent checkpoint or team is one bit that is not set, and a loss that is NaN,
// negative or beyond any plausible one is written as 0.
//
// Reading is for bytes of a stranger. A field out of range fails the ByteReader, after which it reads zeros; counts are
// compared with their limits before anything is reserved by them; and a body must end where its last field ends. So a
// message that decodes can be used without further checks of range, and decode and encode are each other's inverse on
// what was accepted.
#include "core/run/message.h"

#include <array>
#include <utility>

namespace potluck::run {

namespace {

static_assert(std::variant_size_v<Message> == static_cast<std::size_t>(last_message_kind));

/// Fails the reader if no message has that kind.
template <std::size_t index = 0>
Message read_body(MessageKind kind, ByteReader& in) {
    if constexpr (index == std::variant_size_v<Message>) {
        in.fail();
        return GoodbyeMessage{};
    } else {
        if (static_cast<std::size_t>(kind) != index + 1) return read_body<index + 1>(kind, in);
        return wire::read<std::variant_alternative_t<index, Message>>(in);
    }
}

template <std::size_t... index>
std::array<std::string, sizeof...(index)> domains(std::index_sequence<index...>) {
    return {"potluck/" + std::string(std::variant_alternative_t<index, Message>::label) + "/1" ...};
}

}  // namespace

std::uint8_t StatusMessage::marks() const {
    const bool seeds = checkpoint.size != 0;
    const bool claims_team = !plain_text_of(team, team_bytes_max, LineBreaks::refused).empty();
    return static_cast<std::uint8_t>((seeds ? has_checkpoint : 0) | (claims_team ? has_team : 0) |
                                     (light ? is_light : 0));
}

MessageKind kind_of(const Message& message) { return static_cast<MessageKind>(message.index() + 1); }

std::string_view domain_of(MessageKind kind) {
    static const auto all = domains(std::make_index_sequence<std::variant_size_v<Message>>{});
    const std::size_t index = static_cast<std::size_t>(kind) - 1;
    return index < all.size() ? all[index] : std::string_view("potluck/unknown/1");
}

Bytes signed_bytes(const Envelope& envelope) {
    ByteWriter out;
    out.raw(envelope.run.bytes);
    out.raw(envelope.body);
    return out.take();
}

Bytes signed_bytes(const RunId& run, const Message& message) {
    ByteWriter out;
    out.raw(run.bytes);
    out.raw(encode_body(message));
    return out.take();
}

ContributionMessage contribution_of(const AcceptList& list, const Accepted& entry, const StateDigest& base_before) {
    if (entry.late) return {RoundId{list.round.value - 1}, base_before, entry.payload, entry.tokens, entry.certificate};
    return {list.round, list.base, entry.payload, entry.tokens, entry.certificate};
}

Bytes encode_body(const Message& message) {
    ByteWriter out;
    std::visit([&](const auto& value) { wire::write(out, value); }, message);
    POTLUCK_CHECK(out.bytes().size() <= message_bytes_max);
    return out.take();
}

Result<Message> decode_body(MessageKind kind, ByteSpan body) {
    const std::string message_kind = "A message " + std::string(domain_of(kind));
    if (body.size() > message_bytes_max) {
        return Error{ErrorCode::malformed, message_kind + " is larger than a message may be."};
    }
    ByteReader in(body);
    Message message = read_body(kind, in);
    if (in.failed()) return Error{ErrorCode::malformed, message_kind + " is cut short or has a field out of range."};
    if (!in.finished()) return Error{ErrorCode::malformed, message_kind + " has bytes left over."};
    return message;
}

const char* name_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::accepted: return "accepted";
        case Verdict::malformed: return "malformed";
        case Verdict::bad_signature: return "bad_signature";
        case Verdict::wrong_run: return "wrong_run";
        case Verdict::not_allowed: return "not_allowed";
        case Verdict::stale: return "stale";
        case Verdict::repeated: return "repeated";
        case Verdict::wrong_base: return "wrong_base";
        case Verdict::wrong_author: return "wrong_author";
        case Verdict::contradicting: return "contradicting";
        case Verdict::bad_payload: return "bad_payload";
        case Verdict::too_large: return "too_large";
        case Verdict::absurd: return "absurd";
        case Verdict::suspended: return "suspended";
        case Verdict::no_room: return "no_room";
        case Verdict::flood: return "flood";
    }
    return "unknown";
}

}  // namespace potluck::run

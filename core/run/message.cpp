// One pair of functions per message, write and read, in the order of the fields in docs/wire-format.md. A message has
// one layout only, since its bytes are what the sender signs: integers are little-endian and of fixed width, an absent
// checkpoint or team is one bit that is not set, and a loss that is NaN, negative or above loss_max is written as 0.
//
// Reading is for bytes of a stranger. A field out of range fails the ByteReader, after which it reads zeros; counts are
// compared with their limits before anything is reserved by them; and a body must end where its last field ends. So a
// message that decodes can be used without further checks of range, and decode and encode are each other's inverse on
// what was accepted.
#include "core/run/message.h"

#include <utility>

#include "core/run/plain_text.h"

namespace potluck::run {

namespace {

/// Reads a one-byte enumeration whose last value is `last`.
template <class Enum>
Enum read_enum(ByteReader& in, Enum last) {
    const std::uint8_t value = in.u8();
    if (value > static_cast<std::uint8_t>(last)) {
        in.fail();
        return Enum{};
    }
    return static_cast<Enum>(value);
}

RoundId read_round(ByteReader& in) {
    const RoundId round{in.u64()};
    if (round.value > round_max) in.fail();
    return round;
}

/// Nats per token. Knowing nothing costs the logarithm of the vocabulary; what is far beyond that has diverged, and
/// would be all that a mean over the members shows.
constexpr float loss_max = 1e6F;

/// False for NaN, too.
bool is_plausible_loss(float loss) { return loss >= 0 && loss <= loss_max; }

/// Reads a list's bytes; an optional one may be empty.
Bytes read_list_bytes(ByteReader& in, bool optional) {
    const std::uint32_t size = in.u32();
    const bool is_absent = optional && size == 0;
    if (!is_absent && (size < accept_list_bytes_min || size > accept_list_bytes_max)) in.fail();
    const ByteSpan bytes = in.raw(in.failed() ? 0 : size);
    return {bytes.begin(), bytes.end()};
}

void write_list_bytes(ByteWriter& out, const Bytes& list) {
    POTLUCK_CHECK(list.size() <= accept_list_bytes_max);
    out.u32(static_cast<std::uint32_t>(list.size()));
    out.raw(list);
}

Bytes read_statement(ByteReader& in) {
    const std::size_t size = in.u16();
    if (size == 0 || size > statement_bytes_max) in.fail();
    const ByteSpan bytes = in.raw(in.failed() ? 0 : size);
    return {bytes.begin(), bytes.end()};
}

void write_statement(ByteWriter& out, const Bytes& statement) {
    POTLUCK_CHECK(statement.size() <= statement_bytes_max);
    out.u16(static_cast<std::uint16_t>(statement.size()));
    out.raw(statement);
}

/// What of a status may be left out: a bit for each part that is there.
constexpr std::uint8_t has_checkpoint = 1, has_team = 2;

void write(ByteWriter& out, const StatusMessage& message) {
    out.u64(message.sequence);
    out.u8(static_cast<std::uint8_t>(message.role));
    out.u8(static_cast<std::uint8_t>(message.phase));
    out.u64(message.round.value);
    out.raw(message.digest.bytes);
    out.raw(message.list.bytes);
    out.u64(message.window_tokens.value);
    out.u32(message.tokens_per_second);
    out.f32(is_plausible_loss(message.loss) ? message.loss : 0.0F);  // a loss that blew up is no loss to tell
    out.u64(message.checkpoint_round.value);
    const bool seeds = message.checkpoint.size != 0;
    const std::string team = plain_text_of(message.team, team_bytes_max, LineBreaks::refused);
    out.u8(static_cast<std::uint8_t>((seeds ? has_checkpoint : 0) | (team.empty() ? 0 : has_team)));
    if (seeds) message.checkpoint.write(out);
    out.u16(message.port);
    out.string(plain_text_of(message.name, name_bytes_max, LineBreaks::refused));
    if (!team.empty()) out.string(team);
    message.certificate.write(out);
}

StatusMessage read_status(ByteReader& in) {
    StatusMessage message;
    message.sequence = in.u64();
    message.role = read_enum(in, Role::backbone);
    message.phase = read_enum(in, Phase::leaving);
    message.round = read_round(in);
    in.array(message.digest.bytes);
    in.array(message.list.bytes);
    message.window_tokens.value = in.u64();
    message.tokens_per_second = in.u32();
    message.loss = in.f32();
    message.checkpoint_round = read_round(in);
    const std::uint8_t parts = in.u8();
    if ((parts & has_checkpoint) != 0) message.checkpoint = BlobRef::read(in);
    message.port = in.u16();
    message.name = in.string(name_bytes_max);
    if ((parts & has_team) != 0) message.team = in.string(team_bytes_max);
    message.certificate = DeviceCertificate::read(in);
    const bool in_range = message.window_tokens.value <= tokens_max && is_plausible_loss(message.loss);
    const bool told_team = (parts & has_team) != 0;
    if (parts > (has_checkpoint | has_team) || told_team == message.team.empty()) in.fail();
    if (!in_range || !plain_text_length(message.name, LineBreaks::refused)) in.fail();
    if (!plain_text_length(message.team, LineBreaks::refused)) in.fail();
    return message;
}

void write(ByteWriter& out, const CloseMessage& message) { out.u64(message.round.value); }

void write(ByteWriter& out, const ContributionMessage& message) {
    out.u64(message.round.value);
    out.raw(message.base.bytes);
    message.payload.write(out);
    out.u64(message.tokens.value);
    message.certificate.write(out);
}

ContributionMessage read_contribution(ByteReader& in) {
    ContributionMessage message;
    message.round = read_round(in);
    in.array(message.base.bytes);
    message.payload = BlobRef::read(in);
    message.tokens.value = in.u64();
    message.certificate = DeviceCertificate::read(in);
    if (message.payload.kind != BlobKind::plain) in.fail();
    if (message.tokens.value == 0 || message.tokens.value > tokens_max) in.fail();
    return message;
}

void write(ByteWriter& out, const BallotMessage& message) {
    write_statement(out, message.statement);
    write_list_bytes(out, message.list);
}

BallotMessage read_ballot(ByteReader& in) {
    BallotMessage message;
    message.statement = read_statement(in);
    message.list = read_list_bytes(in, true);
    return message;
}

void write(ByteWriter& out, const HistoryRequest& message) { out.u64(message.first.value); }

void write_lists(ByteWriter& out, const std::vector<CommittedList>& lists) {
    POTLUCK_CHECK(lists.size() <= lists_per_history_max);
    out.u16(static_cast<std::uint16_t>(lists.size()));
    for (const CommittedList& list : lists) run::write(out, list);
}

std::vector<CommittedList> read_lists(ByteReader& in) {
    std::vector<CommittedList> lists;
    const std::size_t count = in.u16();
    if (count > lists_per_history_max) in.fail();
    for (std::size_t i = 0; i < count && !in.failed(); ++i) lists.push_back(read_committed_list(in));
    return lists;
}

void write(ByteWriter& out, const HistoryMessage& message) { write_lists(out, message.lists); }

void write(ByteWriter& out, const CommitteeRequest& message) { out.u64(message.first.value); }

void write(ByteWriter& out, const CommitteeMessage& message) { write_lists(out, message.lists); }

void write(ByteWriter& out, const LayerRequest& message) {
    out.raw(message.state.bytes);
    out.u32(message.first);
}

LayerRequest read_layer_request(ByteReader& in) {
    LayerRequest message;
    in.array(message.state.bytes);
    message.first = in.u32();
    if (message.first > piece_index_max) in.fail();
    return message;
}

void write(ByteWriter& out, const LayerMessage& message) {
    POTLUCK_CHECK(message.hashes.size() <= layer_hashes_max);
    out.raw(message.state.bytes);
    out.u32(message.first);
    out.u16(static_cast<std::uint16_t>(message.hashes.size()));
    for (const Digest& hash : message.hashes) out.raw(hash.bytes);
}

LayerMessage read_layer(ByteReader& in) {
    LayerMessage message;
    in.array(message.state.bytes);
    message.first = in.u32();
    const std::size_t count = in.u16();
    const bool in_range = message.first <= piece_index_max && count <= layer_hashes_max;
    if (!in_range || in.remaining() != count * 32) {
        in.fail();
        return message;
    }
    message.hashes.resize(count);
    for (Digest& hash : message.hashes) in.array(hash.bytes);
    return message;
}

void write(ByteWriter&, const GoodbyeMessage&) {}

void write(ByteWriter& out, const HostAction& message) { message.write(out); }

void write(ByteWriter& out, const PayloadRequest& message) { out.raw(message.payload.bytes); }

void write(ByteWriter& out, const StepMessage& message) {
    out.u64(message.round.value);
    out.raw(message.list.bytes);
    message.step.write(out);
    out.raw(message.result.bytes);
}

StepMessage read_step(ByteReader& in) {
    StepMessage message;
    message.round = read_round(in);
    in.array(message.list.bytes);
    message.step = BlobRef::read(in);
    in.array(message.result.bytes);
    if (message.step.kind != BlobKind::plain) in.fail();
    return message;
}

void write(ByteWriter& out, const StepRequest& message) { out.u64(message.round.value); }

void write(ByteWriter& out, const JurorVerdict& message) { message.write(out); }

void write(ByteWriter& out, const MeasuredLoss& message) { message.write(out); }

Message read_payload_request(ByteReader& in) {
    PayloadRequest message;
    in.array(message.payload.bytes);
    return message;
}

Message read_body(MessageKind kind, ByteReader& in) {
    switch (kind) {
        case MessageKind::status: return read_status(in);
        case MessageKind::close: return CloseMessage{read_round(in)};
        case MessageKind::contribution: return read_contribution(in);
        case MessageKind::ballot: return read_ballot(in);
        case MessageKind::history_request: return HistoryRequest{read_round(in)};
        case MessageKind::history: return HistoryMessage{read_lists(in)};
        case MessageKind::layer_request: return read_layer_request(in);
        case MessageKind::layer: return read_layer(in);
        case MessageKind::goodbye: return GoodbyeMessage{};
        case MessageKind::host_action: return HostAction::read(in);
        case MessageKind::payload_request: return read_payload_request(in);
        case MessageKind::committee_request: return CommitteeRequest{read_round(in)};
        case MessageKind::committee: return CommitteeMessage{read_lists(in)};
        case MessageKind::step: return read_step(in);
        case MessageKind::step_request: return StepRequest{read_round(in)};
        case MessageKind::verdict: return JurorVerdict::read(in);
        case MessageKind::loss: return MeasuredLoss::read(in);
    }
    in.fail();  // a number no kind has
    return GoodbyeMessage{};
}

}  // namespace

void write(ByteWriter& out, const CommittedList& list) {
    write_list_bytes(out, list.list);
    write_statement(out, list.certificate);
}

CommittedList read_committed_list(ByteReader& in) {
    CommittedList list;
    list.list = read_list_bytes(in, false);
    list.certificate = read_statement(in);
    return list;
}

MessageKind kind_of(const Message& message) {
    struct Kind {
        MessageKind operator()(const StatusMessage&) const { return MessageKind::status; }
        MessageKind operator()(const CloseMessage&) const { return MessageKind::close; }
        MessageKind operator()(const ContributionMessage&) const { return MessageKind::contribution; }
        MessageKind operator()(const BallotMessage&) const { return MessageKind::ballot; }
        MessageKind operator()(const HistoryRequest&) const { return MessageKind::history_request; }
        MessageKind operator()(const HistoryMessage&) const { return MessageKind::history; }
        MessageKind operator()(const LayerRequest&) const { return MessageKind::layer_request; }
        MessageKind operator()(const LayerMessage&) const { return MessageKind::layer; }
        MessageKind operator()(const GoodbyeMessage&) const { return MessageKind::goodbye; }
        MessageKind operator()(const HostAction&) const { return MessageKind::host_action; }
        MessageKind operator()(const PayloadRequest&) const { return MessageKind::payload_request; }
        MessageKind operator()(const CommitteeRequest&) const { return MessageKind::committee_request; }
        MessageKind operator()(const CommitteeMessage&) const { return MessageKind::committee; }
        MessageKind operator()(const StepMessage&) const { return MessageKind::step; }
        MessageKind operator()(const StepRequest&) const { return MessageKind::step_request; }
        MessageKind operator()(const JurorVerdict&) const { return MessageKind::verdict; }
        MessageKind operator()(const MeasuredLoss&) const { return MessageKind::loss; }
    };
    return std::visit(Kind{}, message);
}

std::string_view domain_of(MessageKind kind) {
    switch (kind) {
        case MessageKind::status: return "potluck/status/1";
        case MessageKind::close: return "potluck/close/1";
        case MessageKind::contribution: return "potluck/contribution/1";
        case MessageKind::ballot: return "potluck/ballot/1";
        case MessageKind::history_request: return "potluck/history-request/1";
        case MessageKind::history: return "potluck/history/1";
        case MessageKind::layer_request: return "potluck/layer-request/1";
        case MessageKind::layer: return "potluck/layer/1";
        case MessageKind::goodbye: return "potluck/goodbye/1";
        case MessageKind::host_action: return "potluck/host-action/1";
        case MessageKind::payload_request: return "potluck/payload-request/1";
        case MessageKind::committee_request: return "potluck/committee-request/1";
        case MessageKind::committee: return "potluck/committee/1";
        case MessageKind::step: return "potluck/step/1";
        case MessageKind::step_request: return "potluck/step-request/1";
        case MessageKind::verdict: return "potluck/verdict/1";
        case MessageKind::loss: return "potluck/loss/1";
    }
    return "potluck/unknown/1";
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
    std::visit([&](const auto& value) { write(out, value); }, message);
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

// What members of a run say to each other. Each message is a value with one canonical byte layout, which is what the
// sender signs (domain = kind); `Envelope` is a message on its way. Blobs are never in a message, only named.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/wire/fields.h"
#include "core/run/accept_list.h"
#include "core/run/blob_ref.h"
#include "core/run/curve/measured_loss.h"
#include "core/run/device.h"
#include "core/run/jury/juror_verdict.h"
#include "core/run/plain_text.h"

namespace potluck::run {

inline constexpr std::size_t message_bytes_max = 900 * 1024;      // a BEP 10 message is at most 1 MiB
inline constexpr std::size_t payload_in_message_max = 64 * 1024;  // longer ones are fetched as blobs
inline constexpr std::size_t list_in_ballot_max = 8 * 1024;       // a longer one is asked for
inline constexpr std::size_t lists_per_history_max = 256;
inline constexpr std::size_t name_bytes_max = 40;
inline constexpr std::size_t team_bytes_max = 40;
inline constexpr std::size_t layer_hashes_max = 16'384;
inline constexpr std::uint32_t piece_index_max = 1U << 26U;  // blob_bytes_max in pieces of 16 KiB
/// Longest encoding of an agreement's message (core/run/agreement/vote.h), which this room does not read.
inline constexpr std::size_t statement_bytes_max = 503;

/// The kinds, numbered as on the wire.
enum class MessageKind : std::uint8_t {
    status = 1,
    close = 2,
    contribution = 3,
    ballot = 4,
    history_request = 5,
    history = 6,
    layer_request = 7,
    layer = 8,
    goodbye = 9,
    host_action = 10,
    payload_request = 11,
    committee_request = 12,
    committee = 13,
    step = 14,
    step_request = 15,
    verdict = 16,
    loss = 17,
    list_request = 18,
    list = 19
};
inline constexpr MessageKind last_message_kind = MessageKind::list;

enum class Role : std::uint8_t { volunteer = 0, backbone = 1 };
enum class Phase : std::uint8_t {
    joining = 0,
    training = 1,
    collecting = 2,
    applying = 3,
    repairing = 4,
    paused = 5,
    finished = 6,
    leaving = 7  // about to go, as soon as its seat in the committee is another's
};

/// A loss in nats per token. Knowing nothing costs the logarithm of the vocabulary; what is far beyond that has
/// diverged, and would be all that a mean over the members shows: such a loss is written as 0.
struct PlausibleLoss {
    static constexpr float max = 1e6F;
    /// False for NaN, too.
    [[nodiscard]] static bool is_plausible(float loss) { return loss >= 0 && loss <= max; }

    void write(ByteWriter& out, float loss) const { out.f32(is_plausible(loss) ? loss : 0.0F); }
    void read(ByteReader& in, float& loss) const {
        loss = in.f32();
        if (!is_plausible(loss)) in.fail();
    }
    template <class Value>
    [[nodiscard]] std::string type() const {
        return "f32 (0 to 10^6)";
    }
};

/// Sent every second or so to every neighbour, and at every change of round.
struct StatusMessage {
    std::uint64_t sequence = 0;
    Role role = Role::volunteer;
    Phase phase = Phase::joining;
    RoundId round;
    StateDigest digest;
    Digest list;
    TokenCount window_tokens;
    std::uint32_t tokens_per_second = 0;
    float loss = 0;
    RoundId checkpoint_round;
    BlobRef checkpoint;  // size 0 if none
    std::uint16_t port = 0;
    std::string name;  // sent is what is plain of it
    std::string team;  // likewise, empty if none
    DeviceCertificate certificate{};
    bool light = false;  // takes the sum of a round from seats: contributions of others are of no use to it
    bool operator==(const StatusMessage&) const = default;

    /// A bit for each part that may be left out and is there, and one for who is light.
    static constexpr std::uint8_t has_checkpoint = 1, has_team = 2, is_light = 4;
    [[nodiscard]] std::uint8_t marks() const;
    void take(std::uint8_t marks) { light = (marks & is_light) != 0; }
    void take(std::uint8_t) const {}  // whose marks are written, not read

    static constexpr std::string_view label = "status";
    static void fields(auto& it, auto&& field) {
        field("sequence", it.sequence, wire::Whole{},
              "grows over restarts; of each author the highest counts, for ever");
        field("role", it.role, wire::OneOf{Role::volunteer, Role::backbone}, "0 volunteer, 1 backbone");
        field("phase", it.phase, wire::OneOf{Phase::joining, Phase::leaving},
              "0 joining, 1 training, 2 collecting, 3 applying, 4 repairing, 5 paused, 6 finished, 7 leaving");
        field("round", it.round, wire::Whole{0, round_max}, "of the state held");
        field("digest", it.digest, wire::Id{}, "of that state");
        field("list", it.list, wire::Id{}, "hash of the list that made it, zero for round 0");
        field("window tokens", it.window_tokens, wire::Whole{0, tokens_max}, "trained in this window so far");
        field("tokens per second", it.tokens_per_second, wire::Whole{}, "trained");
        field("loss", it.loss, PlausibleLoss{}, "training loss of the last window; 0 if there is none");
        field("checkpoint round", it.checkpoint_round, wire::Whole{0, round_max}, "of the newest checkpoint seeded");
        std::uint8_t marks = it.marks();
        field("marks", marks, wire::Whole{0, has_checkpoint | has_team | is_light},
              "sum of 1 if there is a checkpoint, 2 if a team, 4 if the sender takes steps instead of payloads");
        it.take(marks);
        if (field.has((marks & has_checkpoint) != 0))
            field("checkpoint", it.checkpoint, wire::Part{}, "that checkpoint, only if it is marked");
        field("port", it.port, wire::Whole{}, "where it listens for BitTorrent");
        field("name", it.name, PlainText{0, name_bytes_max}, "of the computer");
        if (field.has((marks & has_team) != 0))
            field("team", it.team, PlainText{1, team_bytes_max}, "of its person, only if it is marked");
        field("certificate", it.certificate, wire::Part{}, "whose computer it is");
    }
};

/// A committee member's word that the window of `round` is over.
struct CloseMessage {
    RoundId round;
    bool operator==(const CloseMessage&) const = default;

    static constexpr std::string_view label = "close";
    static void fields(auto& it, auto&& field) {
        field("round", it.round, wire::Whole{0, round_max}, "whose window is over");
    }
};

struct ContributionMessage {
    RoundId round;
    StateDigest base;
    BlobRef payload;
    TokenCount tokens;
    DeviceCertificate certificate{};
    bool operator==(const ContributionMessage&) const = default;

    static constexpr std::string_view label = "contribution";
    static void fields(auto& it, auto&& field) {
        field("round", it.round, wire::Whole{0, round_max}, "that it was made in");
        field("base", it.base, wire::Id{}, "digest of theta[round] that the sender holds");
        field("payload", it.payload, PlainBlob{}, "section 7");
        field("tokens", it.tokens, wire::Whole{1, tokens_max}, "trained for it");
        field("certificate", it.certificate, wire::Part{}, "whose computer the sender is");
    }
};

/// An accept list and the proof that it is L[r]: the precommits of a quorum, a Certificate of core/run/agreement.
struct CommittedList {
    Bytes list;  // AcceptList::encode()
    Bytes certificate;
    bool operator==(const CommittedList&) const = default;

    static constexpr std::string_view label = "committed list";
    static void fields(auto& it, auto&& field) {
        field("list", it.list, wire::Sized<std::uint32_t>{accept_list_bytes_min, accept_list_bytes_max}, "section 5");
        field("certificate", it.certificate, wire::Sized<std::uint16_t>{1, statement_bytes_max},
              "a message of kind 3 of section 9");
    }
};

/// What the committee says about a round: one message of core/run/agreement, which carries its author's signature and
/// may be passed on by anybody, and the list it speaks of where others may lack it.
struct BallotMessage {
    Bytes statement;  // 1 to statement_bytes_max
    Bytes list;       // AcceptList::encode(), or empty: none, or beyond list_in_ballot_max
    bool operator==(const BallotMessage&) const = default;

    static constexpr std::string_view label = "ballot";
    static void fields(auto& it, auto&& field) {
        field("statement", it.statement, wire::Sized<std::uint16_t>{1, statement_bytes_max}, "a message of section 9");
        field("list", it.list, wire::Sized<std::uint32_t>{accept_list_bytes_min, accept_list_bytes_max, true},
              "that it speaks of");
    }
};

/// Asks for the lists L[first], L[first+1], ... as far as the other has them and one message holds.
struct HistoryRequest {
    RoundId first;
    bool operator==(const HistoryRequest&) const = default;

    static constexpr std::string_view label = "history-request";
    static void fields(auto& it, auto&& field) {
        field("first", it.first, wire::Whole{0, round_max}, "round whose list is asked for");
    }
};
struct HistoryMessage {
    std::vector<CommittedList> lists;
    bool operator==(const HistoryMessage&) const = default;

    static constexpr std::string_view label = "history";
    static void fields(auto& it, auto&& field) {
        field("lists", it.lists, wire::list_of<std::uint16_t>(0, lists_per_history_max, wire::Part{}),
              "of consecutive rounds");
    }
};

/// Asks for the piece layer of a state (2.2 in docs/wire-format.md), to repair a damaged copy piece by piece.
struct LayerRequest {
    StateDigest state;
    std::uint32_t first = 0;
    bool operator==(const LayerRequest&) const = default;

    static constexpr std::string_view label = "layer-request";
    static void fields(auto& it, auto&& field) {
        field("state", it.state, wire::Id{}, "whose piece layer is asked for");
        field("first", it.first, wire::Whole{0, piece_index_max}, "index of the first piece that is asked for");
    }
};
struct LayerMessage {
    StateDigest state;
    std::uint32_t first = 0;
    std::vector<Digest> hashes;
    bool operator==(const LayerMessage&) const = default;

    static constexpr std::string_view label = "layer";
    static void fields(auto& it, auto&& field) {
        field("state", it.state, wire::Id{}, "whose pieces these are");
        field("first", it.first, wire::Whole{0, piece_index_max}, "index of the first piece");
        field("hashes", it.hashes, wire::list_of<std::uint16_t>(0, layer_hashes_max, wire::Id{}),
              "of pieces from there on");
    }
};

/// Asks for a contribution with the payload that it names, which is short (payload_in_message_max).
struct PayloadRequest {
    BlobId payload;
    bool operator==(const PayloadRequest&) const = default;

    static constexpr std::string_view label = "payload-request";
    static void fields(auto& it, auto&& field) { field("payload", it.payload, wire::Id{}, "root of its blob"); }
};

/// Asks for the short way to a round far ahead: of L[first], L[first+1], ... those that changed the committee, and the
/// newest list with a table, after the one before it.
struct CommitteeRequest {
    RoundId first;
    bool operator==(const CommitteeRequest&) const = default;

    static constexpr std::string_view label = "committee-request";
    static void fields(auto& it, auto&& field) {
        field("first", it.first, wire::Whole{0, round_max}, "round from which on lists are asked for");
    }
};
/// As many of them as one message holds, in the order of their rounds; none where there is no short way.
struct CommitteeMessage {
    std::vector<CommittedList> lists;
    bool operator==(const CommitteeMessage&) const = default;

    static constexpr std::string_view label = "committee";
    static void fields(auto& it, auto&& field) {
        field("lists", it.lists, wire::list_of<std::uint16_t>(0, lists_per_history_max, wire::Part{}),
              "in the order of their rounds");
    }
};

/// What a seat of the committee that L[round] names has made of that list, in a run of coded steps: the step as a blob
/// (core/peer/states/steps.h) and where it leads. May be passed on by anybody.
struct StepMessage {
    RoundId round;
    Digest list;
    BlobRef step;
    StateDigest result;
    bool operator==(const StepMessage&) const = default;

    static constexpr std::string_view label = "step";
    static void fields(auto& it, auto&& field) {
        field("round", it.round, wire::Whole{0, round_max}, "of the list");
        field("list", it.list, wire::Id{}, "hash of that round's list");
        field("step", it.step, PlainBlob{}, "section 7");
        field("result", it.result, wire::Id{}, "digest of the state that it leads to");
    }
};

/// Asks for what seats have said of the step of `round`.
struct StepRequest {
    RoundId round;
    bool operator==(const StepRequest&) const = default;

    static constexpr std::string_view label = "step-request";
    static void fields(auto& it, auto&& field) {
        field("round", it.round, wire::Whole{0, round_max}, "whose step is asked for");
    }
};

/// Asks for a list that a ballot of the neighbour names, and that is too long to travel with it.
struct ListRequest {
    Digest list;
    bool operator==(const ListRequest&) const = default;

    static constexpr std::string_view label = "list-request";
    static void fields(auto& it, auto&& field) { field("list", it.list, wire::Id{}, "hash of the list"); }
};
struct ListMessage {
    Bytes list;  // AcceptList::encode()
    bool operator==(const ListMessage&) const = default;

    static constexpr std::string_view label = "list";
    static void fields(auto& it, auto&& field) {
        field("list", it.list, wire::Sized<std::uint32_t>{accept_list_bytes_min, accept_list_bytes_max},
              "that was asked for");
    }
};

/// The sender leaves on purpose; what it announced stands.
struct GoodbyeMessage {
    bool operator==(const GoodbyeMessage&) const = default;

    static constexpr std::string_view label = "goodbye";
    static void fields(auto&, auto&&) {}
};

/// In the order of their kinds.
using Message =
    std::variant<StatusMessage, CloseMessage, ContributionMessage, BallotMessage, HistoryRequest, HistoryMessage,
                 LayerRequest, LayerMessage, GoodbyeMessage, HostAction, PayloadRequest, CommitteeRequest,
                 CommitteeMessage, StepMessage, StepRequest, JurorVerdict, MeasuredLoss, ListRequest, ListMessage>;

[[nodiscard]] MessageKind kind_of(const Message& message);
/// Domain tag under which messages of this kind are signed, for example "potluck/contribution/1".
[[nodiscard]] std::string_view domain_of(MessageKind kind);

/// A message with its sender and signature. The signature covers domain, run id and body.
struct Envelope {
    RunId run;
    PeerId sender;
    MessageKind kind = MessageKind::status;
    Bytes body;  // canonical layout of the message
    std::array<std::byte, 64> signature{};
    /// The blob that a contribution names, where that is short and the receiver may lack it. Not signed: its hash is.
    Bytes payload{};
    bool operator==(const Envelope&) const = default;
};

/// Run id followed by body: the exact bytes an envelope's signature covers under its domain.
[[nodiscard]] Bytes signed_bytes(const Envelope& envelope);
[[nodiscard]] Bytes signed_bytes(const RunId& run, const Message& message);
/// What the contributor of an entry has signed, rebuilt from its list; of a late one, with the base of the list before.
[[nodiscard]] ContributionMessage contribution_of(const AcceptList& list, const Accepted& entry,
                                                  const StateDigest& base_before = {});
[[nodiscard]] Bytes encode_body(const Message& message);
/// Strict; `malformed` names what is wrong.
[[nodiscard]] Result<Message> decode_body(MessageKind kind, ByteSpan body);

/// What became of something a peer sent. Counted per peer and kind; never an error of ours.
enum class Verdict {
    accepted,
    malformed,
    bad_signature,
    wrong_run,
    not_allowed,
    stale,
    repeated,
    wrong_base,
    wrong_author,   // not of the committee, or not its turn
    contradicting,  // a second message of one author for one place: evidence against that author
    bad_payload,
    too_large,
    absurd,     // a status with figures that no computer has
    suspended,  // a contribution of a person whom the jury has shut out
    no_room,    // as many members are known as may be: nobody's fault
    flood
};
[[nodiscard]] const char* name_of(Verdict verdict);

}  // namespace potluck::run

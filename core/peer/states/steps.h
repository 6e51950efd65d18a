// The steps of recent rounds, in a run whose recipe codes them: what seats have signed of each, which of them is
// fetched by a member that is light, and which are offered to others. A full member makes a step of payloads and keeps
// it; if it has a seat of the committee that the list names, it says so to everybody. A light member takes a step on
// the word of more seats than may lie, and only if it leads where they say.
//
//   full    computed() --published, signed by a seat--> StepMessage --passed on--> everybody
//   light   want() --f + 1 seats say the same--> fetched --on_blob--> find() --applied, and it leads elsewhere-->
//   refuse()
//                    '-- nothing comes for step_patience: gave_up(), and payloads are taken as a full member does
//
// A blob is the hash of its list and what core/numerics/outer/step_code.h makes, so that no two rounds share one.
//
// Does not: compute or apply a step (state_keeper.h). A full member takes nobody's word.
// Threads: the peer's. Owns: what was signed, the steps at hand, whether this member is light, and the audits.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/numerics/outer/step_code.h"
#include "core/peer/chain/chain_log.h"
#include "core/peer/payloads/payloads.h"
#include "core/peer/presence/members.h"
#include "core/peer/states/audits.h"
#include "core/peer/states/full_or_light.h"
#include "core/proof/true_step.h"

namespace potluck::peer {

inline constexpr std::uint64_t steps_kept = 8;         // of the newest rounds
inline constexpr std::uint64_t step_rounds_ahead = 2;  // said of rounds that are not decided here yet
inline constexpr Duration step_patience{20'000};       // for seats, and for a fetch that does not move
inline constexpr std::size_t step_list_bytes = 32;     // what a blob begins with
inline constexpr Duration step_asked_again_after{2'000};
inline constexpr std::size_t step_answers_max = 4'096;  // remembered, of all neighbours

using proof::step_blob;

/// Whose step it is: that of L[round], whose hash is `list` and which names the committee `seats`.
struct StepOrigin {
    RoundId round;
    Digest list;
    std::vector<PeerId> seats;
};

/// A step that is here and was checked.
struct AgreedStep {
    run::BlobRef ref;
    BlobPointer blob;
    numerics::StepView view;
    StateDigest result;  // where its signers say that it leads
};
using StepPointer = std::shared_ptr<const AgreedStep>;

class Steps {
public:
    struct Parts {
        const Context& context;
        const ChainLog& chain;
        const Members& members;
        Payloads& payloads;
        StateStore& store;
        Jobs& jobs;
        Seats& seats;
        ErrorReport& errors;
    };
    explicit Steps(Parts parts)
        : m(parts),
          m_choice(m.context.manifest.recipe.window),
          m_audits({m.context, m.chain, m.payloads, m.store, m.jobs, m.seats, m.errors}) {}

    /// Whether the run has steps.
    [[nodiscard]] bool coded() const { return m.context.manifest.recipe.outer.form == numerics::StepForm::coded; }
    /// Whether this member takes steps and no payloads at present.
    [[nodiscard]] bool light() const { return coded() && m_choice.light() && !m_seated; }

    /// This member has made theta[round + 1] of the list's payloads, by this step, and it is on disk.
    void computed(const StepOrigin& origin, ByteSpan step, const StateDigest& result);

    /// Whether this very message is known, so that its signature need not be checked again.
    [[nodiscard]] bool holds(const PeerId& sender, const run::StepMessage& message) const;
    /// `accepted` if it is news, and is to be passed on. Its signature was checked.
    [[nodiscard]] run::Verdict on_step(const run::Envelope& envelope, const run::StepMessage& message);
    [[nodiscard]] run::Verdict on_request(const PeerId& from, const run::StepRequest& request);

    /// The first list that this process follows, or the one before the round that it begins with, says how it begins.
    void begin_with(const run::AcceptList& list);
    /// A light member needs the step of `list`: asks for what seats say, and fetches it once enough agree.
    void want(const run::AcceptList& list, const Digest& hash);
    /// The step of the list with this hash; null while it is not here or not signed by enough seats.
    [[nodiscard]] StepPointer find(const Digest& list) const;
    /// This member has made something else of L[round] than a quorum: neighbours are asked what seats said of it, which
    /// may prove that it was they who lied.
    void ask_about(RoundId round) const;
    /// A member says that L[round], whose hash is `list`, has led to `result`. If it has a seat and this member has
    /// taken a step that leads elsewhere, one of both is wrong, and the step is audited: once for each seat, for as
    /// long as it has one, since its word costs it nothing.
    void heard_result(const PeerId& member, const Digest& list, const StateDigest& result);
    /// The state that is held came of a step of this list that is known to be false.
    [[nodiscard]] bool misled(const Digest& list) const;
    /// No step of it will do: its payloads are to be taken.
    [[nodiscard]] bool gave_up(const Digest& list) const;
    /// It does not lead where its signers say, from the state that is held here.
    void refuse(const Digest& list);
    void on_blob(const run::BlobRef& ref, const BlobPointer& content);
    void on_blob_failed(const BlobId& id);

    /// theta[round] is held: who was light may be full now, and the other way round. `window_closed` of the round
    /// before.
    void entered(RoundId round, std::optional<TimePoint> window_closed);
    /// How many seats' word the newest step that was taken stood on; 0 for who is full.
    [[nodiscard]] std::size_t signers() const { return light() ? m_signers : 0; }

    /// Whether what seats say is true.
    [[nodiscard]] Audits& audits() { return m_audits; }
    [[nodiscard]] const Audits& audits() const { return m_audits; }

private:
    struct Said {
        run::StepMessage message;
        identity::Signature signature{};
    };
    struct Wanted {
        RoundId round;
        std::vector<PeerId> seats;
        std::uint64_t payload_bytes = 0;
        TimePoint since, asked_at;  // since: it was wanted, or came nearer
        double progress = 0;
        std::optional<run::StepMessage> agreed;
        TimePoint agreed_at;
        std::optional<Duration> taken;  // by the fetch
        bool refused = false;
        StepPointer step;
    };
    [[nodiscard]] bool may_sign(const PeerId& sender, const run::StepMessage& message) const;
    [[nodiscard]] std::vector<PeerId> agreeing(const Wanted& wanted, const Digest& list,
                                               std::optional<run::StepMessage>& out) const;
    [[nodiscard]] bool is_refused(const Digest& list, const Wanted& wanted) const;
    [[nodiscard]] bool is_seat(const PeerId& member) const;
    void ask(Wanted& wanted);
    void forget_before(RoundId round);
    [[nodiscard]] std::uint64_t step_bytes_of(const run::AcceptList& list) const;
    void judge_line(RoundId round, std::optional<TimePoint> window_closed);

    const Parts m;
    FullOrLight m_choice;
    Audits m_audits;
    bool m_begun = false, m_seated = false;
    std::size_t m_signers = 0;
    std::map<RoundId, std::map<PeerId, Said>> m_said;
    std::map<Digest, Wanted> m_wanted;    // by list
    std::set<PeerId> m_doubters;          // whose word has led to an audit, of those who have seats
    std::map<RoundId, BlobId> m_offered;  // made here or fetched
    std::map<std::pair<PeerId, RoundId>, TimePoint> m_answered;
};

}  // namespace potluck::peer

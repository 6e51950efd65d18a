// Who may take part in a run and who may decide, and whether one accept list may follow another.
// Threads: values; any.
#pragma once

#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/run/accept_list.h"
#include "core/run/curve/loss_curve.h"
#include "core/run/jury/suspended.h"
#include "core/run/manifest.h"
#include "core/run/message.h"

namespace potluck::run {

/// What the manifest says of it, and what the host has changed since. All keys are persons' but those of committees.
struct RunRules {
    RunId run;
    PeerId host;
    std::vector<PeerId> backbones;
    std::vector<PeerId> allowed;          // by the manifest; sorted; empty: anybody
    std::vector<PeerId> vouched{};        // by the host since; sorted
    std::vector<PeerId> banned{};         // sorted; unvouched_keys as well while the run is closed
    std::uint32_t actions = 0;            // of the host, that are in force
    std::optional<Device> host_device{};  // the computer that decides L[0], if the host's key is not its own
    bool has_jury = false;                // lists may suspend persons
    SuspendedPersons suspended{};
    std::uint64_t measure_every = 0;  // rounds; 0: lists hold no losses
    RoundId last{};                   // state of the run
    LossCurve curve{};

    /// The next action is in force. A suspension that it lifts is carry_out()'s.
    void apply(const HostAction& action);
    /// What a list suspends, the suspensions that its actions lift, and the point of the curve that it holds.
    void carry_out(const AcceptList& list);
    /// The list is the newest: both of them.
    void follow(const AcceptList& list);
    /// Whether the curve may get a point of theta[round]: every so many rounds, and of the last.
    [[nodiscard]] bool is_measured(RoundId round) const;
    /// Whether the host has closed an open run: only whom it trusts takes part from then on.
    [[nodiscard]] bool closed() const;
    [[nodiscard]] bool admits(const PeerId& peer) const;
    [[nodiscard]] bool bans(const PeerId& peer) const;
    /// Whether L[round] may hold contributions of this person.
    [[nodiscard]] bool may_contribute(const PeerId& peer, RoundId round) const;
    /// Host, backbones, the allow list and who was vouched for later, unless they are banned. Only they may sit in the
    /// committee, and they are never newcomers.
    [[nodiscard]] bool trusts(const PeerId& peer) const;
    /// All of them, sorted.
    [[nodiscard]] std::vector<PeerId> trusted() const;
    /// Who decides L[0], sorted: the host and the backbones that follow it, as many as make a size of 1, 4 or 7.
    [[nodiscard]] std::vector<PeerId> first_committee() const;
    [[nodiscard]] Owners first_owners() const;
};

/// The rules in the manifest of `run`, before its first list.
[[nodiscard]] RunRules rules_of(const RunId& run, const Manifest& manifest);

/// The largest committee that so many members make: 7, 4 or 1, which stand 2, 1 and 0 liars; 0 of none.
[[nodiscard]] std::size_t largest_committee(std::size_t members);
[[nodiscard]] bool is_committee_size(std::size_t size);

/// Who decides `list`: whom the list before it names, or whom its host has put in their place.
[[nodiscard]] std::vector<PeerId> committee_of(const AcceptList& list, const AcceptList* previous,
                                               const RunRules& rules);

/// The certificates of committee_of().
[[nodiscard]] Owners owners_of(const AcceptList& list, const AcceptList* previous, const RunRules& rules);

/// Whether the list after `previous` may hold a contribution of this member to the round of `previous`: not if that
/// list has one, or has taken the model back. Whether the run's recipe lets any be late is not asked here.
[[nodiscard]] bool may_be_late(const PeerId& contributor, const AcceptList* previous);

/// Whether the verdicts of this suspension are f + 1, each of a seat of `committee`.
[[nodiscard]] bool is_by_seats(const Suspension& suspension, const std::vector<PeerId>& committee);

/// Whether a suspension is by seats of `committee`, which decides L[round], and its verdicts are fresh and of the
/// person's present number of suspensions. Signatures are the caller's to check.
[[nodiscard]] bool may_suspend(const Suspension& suspension, const std::vector<PeerId>& committee, RoundId round,
                               const RunRules& rules);
/// Whether one verdict may stand in L[round]: judged lately, and of the person's present number of suspensions.
[[nodiscard]] bool is_fresh(const JurorVerdict& verdict, RoundId round, const RunRules& rules);

/// Whether a list may hold these losses: of a round that is due and lately was, by persons who may contribute. Only the
/// closing list holds those of its own base.
[[nodiscard]] bool may_measure(const AcceptList& list, const RunRules& rules);

/// Whether `list` may follow `previous` (null for round 0): place, link, admitted contributors, suspensions by seats,
/// losses that are due, a committee of trusted persons with one computer each, and actions that are the next ones.
/// `rules` are those in force before it. Who has a seat and is banned keeps it until the others have agreed on who
/// follows. Base, signatures and votes are the caller's to check.
[[nodiscard]] Verdict check_link(const AcceptList& list, const AcceptList* previous, const RunRules& rules);

}  // namespace potluck::run

// Whether what seats have signed of steps is what F makes of their lists, in a run of coded steps. A full member makes
// each step itself, so it compares every word that it hears of at no cost. Where a word differs, F is computed once
// more, from payloads that are hashed first; only then is a seat convicted, and the proof kept as a file for anybody
// to check (core/proof/false_step.h).
//
//   heard(), computed() --a word differs--> F once more, as a job --it still differs--> convicted, proof on disk
//         ^                                            '--it does not: this computer was wrong--> nothing
//         '-- took_step(): by lot, a light member fetches all payloads after all, and makes the step
//
// Nobody else can know which rounds a light member audits: the lot is drawn with its secret key. Audits cost it a
// twentieth of what steps do, so they are the rarer the more contributions a round has; but the more members there are,
// the more audit. An audit makes the whole step, so it finds one false coordinate as well as many.
//
// A seat that is convicted loses its seat for good, as for two votes (seats.h). Proofs do not travel, since words do:
// every full member that hears the word makes the proof itself.
//
// Does not: take a step, or go back over rounds that convicted seats have decided (rounds.h, host_commands.h).
// Threads: the peer's, except the work of its jobs. Owns: words and true steps of recent rounds, and who is convicted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/peer/chain/chain_log.h"
#include "core/peer/chain/seats.h"
#include "core/peer/payloads/payloads.h"
#include "core/peer/seams/jobs.h"
#include "core/peer/seams/state_store.h"
#include "core/peer/states/audit_lot.h"
#include "core/proof/false_step.h"

namespace potluck::peer {

inline constexpr std::size_t words_of_seat_max = 2;  // of a round: the second one that differs is a lie, or both are
inline constexpr std::size_t step_signers_max = 16;  // of a round: a committee, and those it may change by

/// What a person reads where the committee's word cannot be followed.
inline constexpr const char* decided_by_liars =
    "The committee has agreed on a model that its seats have falsified; the run waits for its host to name others.";

class Audits {
public:
    struct Parts {
        const Context& context;
        const ChainLog& chain;
        Payloads& payloads;
        StateStore& store;
        Jobs& jobs;
        Seats& seats;
        ErrorReport& errors;
    };
    /// What a seat is known to have lied about.
    struct Lie {
        RoundId round;
        Digest list;
        bool on_disk = false;  // the proof is
        bool operator==(const Lie&) const = default;
    };
    explicit Audits(Parts parts) : m(parts) {}

    /// At start: who signed a false step in an earlier life of this process has no seat in this one.
    void load();
    /// A word that its author has signed, and that may be a seat's.
    void heard(const proof::SignedStep& word);
    /// This member has made `step` of the payloads of L[round], whose hash is `list`.
    void computed(RoundId round, const Digest& list, const run::BlobRef& step);
    /// This light member has taken a step of `step_bytes` for L[round], whose hash is `list`, and draws whether to
    /// audit it. One is audited at a time; what has not come until its payloads are released is given up.
    void took_step(RoundId round, const Digest& list, std::uint64_t step_bytes);
    /// Audits this step in any case; false if it cannot be now.
    bool begin(RoundId round, const Digest& list);
    /// A blob is here: it may be the last payload of an audit.
    void look();
    void forget_before(RoundId round);

    /// Seats that signed a false step, in this life or an earlier one.
    [[nodiscard]] const std::map<PeerId, Lie>& lies() const { return m_lies; }
    /// Whether this member knows `step` not to be that of the list.
    [[nodiscard]] bool is_false(const Digest& list, const run::BlobRef& step) const;
    /// How many rounds this light member has audited, to the end.
    [[nodiscard]] std::uint64_t audited() const { return m_audited; }
    /// Whether so many who signed the certificate of this list, L[height], are convicted that all others may lie.
    [[nodiscard]] bool is_by_liars(const CheckedList& decided) const;

private:
    struct True {
        RoundId round;
        run::BlobRef step;
    };
    struct Case;
    struct Finding;
    [[nodiscard]] static Result<std::optional<run::BlobRef>> step_of(const Case& in);
    [[nodiscard]] static Finding examine(const Case& in);
    [[nodiscard]] std::vector<proof::SignedStep> differing(RoundId round, const Digest& list,
                                                           const run::BlobRef& step) const;
    void keep_seats(RoundId round, std::map<PeerId, std::vector<proof::SignedStep>>& words) const;
    [[nodiscard]] std::optional<std::vector<PayloadPointer>> payloads_of(const run::AcceptList& list) const;
    void judge(const Digest& list);
    void on_finding(const Case& in, const Finding& found);
    void convict(const proof::SignedStep& word, const run::AcceptList& list, bool on_disk);
    void load_next(std::vector<Digest> left);

    struct Audit {
        run::AcceptList list;
        Digest hash;
        bool computing = false;
    };

    const Parts m;
    std::optional<Audit> m_audit;
    std::uint64_t m_audited = 0;
    std::map<RoundId, std::map<PeerId, std::vector<proof::SignedStep>>> m_words;
    std::map<Digest, True> m_true;  // by list
    std::set<Digest> m_examined;    // lists with a job under way
    std::map<PeerId, Lie> m_lies;
    std::set<Digest> m_files;  // lists of the proofs on disk
};

}  // namespace potluck::peer

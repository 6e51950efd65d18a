// Whether this computer makes of a list what the others make of it. F is exact, so a result of ours that differs from
// the certified one, from inputs that are right, is an error of arithmetic: of a processor or of its memory.
//
//   theta[r] differs --doubt--> the state before it is verified, F computed once more --again--> what that says
//        '--- of this list F was computed again already: the pieces that differ are fetched (repairer.h)
//
// A result is wrong if it differs from the certified one, and two wrong results in one life of the process are too
// many. What proves nothing is not counted: a first result whose inputs turn out to be damaged, and one that comes out
// alike twice where the committee has a single seat. That is one computer's word against ours, and one that is faulty
// there would silence everybody else.
//
// Does not: compute, fetch or decide what follows; rounds.h does.
// Threads: values. Owns: the result in doubt, the count.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "core/base/ids.h"

namespace potluck::peer {

inline constexpr int wrong_results_max = 1;  // before this computer stops contributing

class SelfCheck {
public:
    /// theta[round], which F has made of the list with this hash.
    struct Outcome {
        RoundId round;
        Digest list;
        StateDigest digest;
    };
    /// `unproven`: the result in doubt may have been made of damaged bytes.
    enum class Finding { nothing, unproven, wrong_once, alike_against_one_seat, wrong_twice };

    /// `ours` is not what a committee of `seats` has certified. Whether F is to be computed once more, which a computer
    /// that calculates differently does not try.
    [[nodiscard]] bool doubt(const Outcome& ours, std::size_t seats) {
        if (is_doubted(ours) || calculates_differently()) return false;
        m_first = Doubt{ours, seats};
        return true;
    }
    /// theta[sound] is the newest state whose bytes are right: if it is not the one before the result in doubt, that
    /// was made of damaged bytes.
    void verified(RoundId sound) {
        if (m_first && sound.next() != m_first->result.round) m_first->is_proof = false;
    }
    /// What F makes of the list now, and whether the payloads it was made of are whole.
    [[nodiscard]] Finding again(const Outcome& ours, const StateDigest& certified, bool whole_payloads) {
        if (!is_doubted(ours) || std::exchange(m_first->is_over, true)) return Finding::nothing;
        if (!m_first->is_proof || !whole_payloads) return Finding::unproven;
        const bool is_right = ours.digest == certified;
        if (ours.digest == m_first->result.digest && m_first->seats == 1 && !is_right) {
            return Finding::alike_against_one_seat;
        }
        m_wrong += is_right ? 1 : 2;
        return calculates_differently() ? Finding::wrong_twice : Finding::wrong_once;
    }
    [[nodiscard]] bool calculates_differently() const { return m_wrong > wrong_results_max; }

private:
    struct Doubt {
        Outcome result;
        std::size_t seats = 0;
        bool is_proof = true;  // as far as is known
        bool is_over = false;  // computed again
    };
    [[nodiscard]] bool is_doubted(const Outcome& ours) const {
        return m_first && m_first->result.round == ours.round && m_first->result.list == ours.list;
    }

    std::optional<Doubt> m_first;
    int m_wrong = 0;
};

}  // namespace potluck::peer

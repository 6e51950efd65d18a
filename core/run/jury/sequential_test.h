// When a juror has seen enough. Every measurement of a person's contributions adds its log-likelihood ratio
// (evidence_table.h) to a sum that never falls below zero; at ln(1e6) the juror says that the person does not work.
// This is Page's CUSUM, Wald's sequential test begun anew whenever it speaks for the person (Page, "Continuous
// Inspection Schemes", 1954): on average a person who works is accused once in a million measurements at most, and one
// that stops working later is found as fast as one that never began.
//
// A measurement counts as a share of the median person's. Newcomers, whose keys are free, have a say in the median only
// where there is nobody else, and persons have one each: with seven of sixteen bad it is an honest one's.
//
// A round counts only if its own figures agree that work helps: their median is above 0 and three quarters of them are
// at most twice as much. Where a model stands still, honest figures are noise around 0, and nobody can be told apart.
//
// Does not: measure, or know rounds' lists.
// Threads: values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/base/ids.h"
#include "core/base/result.h"

namespace potluck::run {

/// ln(1e6) in thousandths.
inline constexpr int evidence_enough = 13'816;
/// Contributions of a person whose mean counts for the median.
inline constexpr std::size_t figures_of_person = 8;
/// Persons of which there is a median.
inline constexpr std::size_t persons_for_median = 3;
/// Measurements of a round that can agree on anything, and by how much the upper quartile may exceed the median.
inline constexpr std::size_t measured_for_agreement = 4;
inline constexpr double agreement_max = 2.0;
/// Persons that a juror keeps in mind; the one that was judged longest ago is forgotten.
inline constexpr std::size_t judged_persons_max = 4096;

/// Bytes of what is known of that many persons.
inline constexpr std::size_t judgement_bytes_max = 32 + 4 + 2 * 8 + 4 + 2 * 8 + 1 + 1 + figures_of_person * 8;
inline constexpr std::size_t judgements_bytes_max = 1 + 4 + judged_persons_max * judgement_bytes_max;

/// The middle of figures, which are not none; of an even number the lower one of two.
template <class Number>
[[nodiscard]] Number lower_median(std::vector<Number> figures) {
    POTLUCK_CHECK(!figures.empty());
    const auto middle = figures.begin() + static_cast<std::ptrdiff_t>((figures.size() - 1) / 2);
    std::nth_element(figures.begin(), middle, figures.end());
    return *middle;
}

/// In nats a token.
struct Measurement {
    PeerId person;
    RoundId round;
    double own = 0;
    std::optional<double> other;  // nothing where the claim covers the whole shard
    double scale = 1;             // what it claims, as a share of the median contribution's tokens, at most 1; above 0
    bool newcomer = false;
};

/// What one measurement adds: `own` and `gap`, own less other, as shares of the median.
[[nodiscard]] int evidence_of(double own, std::optional<double> gap);

/// What is known of a person.
struct Judgement {
    int evidence = 0;  // 0 to 2 * evidence_enough
    // Since the evidence was 0 last.
    RoundId first, last;
    std::uint32_t judged = 0;
    double own = 0, other = 0;  // sums
    std::deque<double> recent;  // own by scale, the newest last
    bool newcomer = false;

    [[nodiscard]] bool is_enough() const { return evidence >= evidence_enough; }
    [[nodiscard]] double mean_own() const { return judged == 0 ? 0 : own / judged; }
    [[nodiscard]] double mean_other() const { return judged == 0 ? 0 : other / judged; }
};

class SequentialTests {
public:
    /// What was measured of one round's list.
    void take(const std::vector<Measurement>& round);
    [[nodiscard]] Bytes encode() const;
    /// Strict: `malformed` if another version or no program of ours wrote it.
    [[nodiscard]] static Result<SequentialTests> decode(ByteSpan bytes);
    void forget(const PeerId& person) { m_persons.erase(person); }
    /// Null for a person that was never measured, or is forgotten.
    [[nodiscard]] const Judgement* find(const PeerId& person) const;
    [[nodiscard]] const std::map<PeerId, Judgement>& all() const { return m_persons; }
    /// Lower median of the persons' means of `own` by scale; nothing while they are too few, or if it is not above 0,
    /// for then there is nothing to compare with.
    [[nodiscard]] std::optional<double> median() const;

private:
    [[nodiscard]] std::vector<double> means(bool newcomers) const;
    void add(const Measurement& measured, std::optional<double> reference);
    void make_room();
    std::map<PeerId, Judgement> m_persons;
};

}  // namespace potluck::run

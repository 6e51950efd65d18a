#include "core/run/jury/sequential_test.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/run/jury/evidence_table.h"

namespace potluck::run {

namespace {

template <std::size_t N>
std::size_t bin_of(double value, const std::array<double, N>& edges) {
    return static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), value) - edges.begin());
}

bool is_sound(const Measurement& measured) {
    const bool is_finite = std::isfinite(measured.own) && (!measured.other || std::isfinite(*measured.other));
    return is_finite && measured.scale > 0;
}

/// Whether what was measured of a round says that work helps at present.
bool is_agreed(const std::vector<Measurement>& round) {
    std::vector<double> figures;
    for (const bool newcomers : {false, true}) {
        if (figures.size() >= measured_for_agreement) break;
        figures.clear();
        for (const Measurement& one : round) {
            if (is_sound(one) && (newcomers || !one.newcomer)) figures.push_back(one.own / one.scale);
        }
    }
    if (figures.size() < measured_for_agreement) return false;
    std::sort(figures.begin(), figures.end());
    const double median = figures[(figures.size() - 1) / 2];
    return median > 0 && figures[3 * figures.size() / 4] <= agreement_max * median;
}

}  // namespace

int evidence_of(double own, std::optional<double> gap) {
    const std::size_t column = gap ? bin_of(*gap, gap_edges) : gap_edges.size() + 1;
    return evidence_table.at(bin_of(own, own_edges)).at(column);
}

void SequentialTests::take(const std::vector<Measurement>& round) {
    if (!is_agreed(round)) return;
    // Compared with what was known before it.
    const std::optional<double> reference = median();
    for (const Measurement& one : round) {
        if (is_sound(one)) add(one, reference);
    }
}

void SequentialTests::add(const Measurement& measured, std::optional<double> reference) {
    if (!m_persons.contains(measured.person)) make_room();
    Judgement& known = m_persons[measured.person];
    known.newcomer = measured.newcomer;
    known.recent.push_back(measured.own / measured.scale);
    if (known.recent.size() > figures_of_person) known.recent.pop_front();
    if (known.evidence == 0) {
        known.first = measured.round;
        known.judged = 0;
        known.own = known.other = 0;
    }
    known.last = measured.round;
    ++known.judged;
    known.own += measured.own;
    known.other += measured.other.value_or(measured.own);
    if (!reference) return;
    const double usual = *reference * measured.scale;
    std::optional<double> gap;
    if (measured.other) gap = (measured.own - *measured.other) / usual;
    known.evidence = std::clamp(known.evidence + evidence_of(measured.own / usual, gap), 0, 2 * evidence_enough);
}

const Judgement* SequentialTests::find(const PeerId& person) const {
    const auto found = m_persons.find(person);
    return found == m_persons.end() ? nullptr : &found->second;
}

std::vector<double> SequentialTests::means(bool newcomers) const {
    std::vector<double> all;
    for (const auto& [person, known] : m_persons) {
        if (known.newcomer && !newcomers) continue;
        const double sum = std::accumulate(known.recent.begin(), known.recent.end(), 0.0);
        all.push_back(sum / static_cast<double>(known.recent.size()));
    }
    return all;
}

std::optional<double> SequentialTests::median() const {
    std::vector<double> all = means(false);
    if (all.size() < persons_for_median) all = means(true);
    if (all.size() < persons_for_median) return std::nullopt;
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) / 2);
    std::nth_element(all.begin(), middle, all.end());
    return *middle > 0 ? std::optional(*middle) : std::nullopt;
}

void SequentialTests::make_room() {
    if (m_persons.size() < judged_persons_max) return;
    m_persons.erase(std::min_element(m_persons.begin(), m_persons.end(),
                                     [](const auto& a, const auto& b) { return a.second.last < b.second.last; }));
}

}  // namespace potluck::run

// A round's figures are first asked whether they agree that work helps, then each is compared with the median of what
// was known before the round, so that no figure is compared with itself. The sum of a person stays between 0 and twice
// what convicts: work after a verdict takes as long to be believed as the verdict took.
//
// The file of judgements is this member's own. It is parsed as strictly as a stranger's bytes all the same, because a
// damaged sum would accuse an honest member.
// Threads: values.
#include "core/run/jury/sequential_test.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

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
    const double median = lower_median(figures);
    return median > 0 && figures[3 * figures.size() / 4] <= agreement_max * median;
}

constexpr std::uint8_t layout_version = 1;

void write(ByteWriter& out, const PeerId& person, const Judgement& known) {
    out.raw(person.bytes);
    out.u32(static_cast<std::uint32_t>(known.evidence));
    out.u64(known.first.value);
    out.u64(known.last.value);
    out.u32(known.judged);
    out.f64(known.own);
    out.f64(known.other);
    out.u8(known.newcomer ? 1 : 0);
    out.u8(static_cast<std::uint8_t>(known.recent.size()));
    for (const double figure : known.recent) out.f64(figure);
}

Judgement read(ByteReader& in) {
    Judgement known;
    const std::uint32_t evidence = in.u32();
    if (evidence > 2 * evidence_enough) in.fail();
    known.evidence = static_cast<int>(evidence);
    known.first = RoundId{in.u64()};
    known.last = RoundId{in.u64()};
    known.judged = in.u32();
    known.own = in.f64();
    known.other = in.f64();
    known.newcomer = in.u8() != 0;
    const std::size_t figures = in.u8();
    if (figures == 0 || figures > figures_of_person) in.fail();
    for (std::size_t i = 0; i < figures && !in.failed(); ++i) {
        known.recent.push_back(in.f64());
        if (!std::isfinite(known.recent.back())) in.fail();
    }
    if (!std::isfinite(known.own) || !std::isfinite(known.other) || known.first > known.last) in.fail();
    return known;
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
    const double middle = lower_median(std::move(all));
    return middle > 0 ? std::optional(middle) : std::nullopt;
}

Bytes SequentialTests::encode() const {
    ByteWriter out;
    out.u8(layout_version);
    out.u32(static_cast<std::uint32_t>(m_persons.size()));
    for (const auto& [person, known] : m_persons) write(out, person, known);
    return out.take();
}

Result<SequentialTests> SequentialTests::decode(ByteSpan bytes) {
    ByteReader in(bytes);
    SequentialTests tests;
    if (in.u8() != layout_version) in.fail();
    const std::uint32_t count = in.u32();
    if (count > judged_persons_max) in.fail();
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
        PeerId person;
        in.array(person.bytes);
        const bool is_next = tests.m_persons.empty() || tests.m_persons.rbegin()->first < person;
        const Judgement known = read(in);
        if (!is_next) in.fail();
        tests.m_persons.emplace_hint(tests.m_persons.end(), person, known);
    }
    if (!in.finished()) return Error{ErrorCode::malformed, "Judgements cannot be read."};
    return tests;
}

void SequentialTests::make_room() {
    if (m_persons.size() < judged_persons_max) return;
    m_persons.erase(std::min_element(m_persons.begin(), m_persons.end(),
                                     [](const auto& a, const auto& b) { return a.second.last < b.second.last; }));
}

}  // namespace potluck::run

// A round that begins looks at the list that led to it: an allowance of time says how many of its entries may be
// measured, the lot says which, and a subject whose payload or shard is not here makes room for the next one.
//
// One plan is with the trainer at a time. It costs what the trainer says that it computed, also where the answer comes
// too late to count. A figure is compared with others as a share of what the entry claims, up to the
// median claim; late entries were trained in the round before, and so are their records.
//
// Threads: the peer's.
#include "core/peer/jury/juror.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/log.h"
#include "core/proof/true_step.h"
#include "core/run/sample_order.h"

namespace potluck::peer {

namespace {

/// Lower median of what a list's entries claim.
std::uint64_t median_claim(const run::AcceptList& list) {
    std::vector<std::uint64_t> claims;
    for (const run::Accepted& entry : list.entries) claims.push_back(entry.tokens.value);
    return run::lower_median(std::move(claims));
}

/// Millionths, as a verdict has them.
std::int32_t figure_of(double nats) {
    const double most = run::figure_max;
    return static_cast<std::int32_t>(std::llround(std::clamp(nats * 1e6, -most, most)));
}

}  // namespace

bool Juror::has_seat() const { return m.context.seated_in(m.chain.committee()); }

/// How many contributions may be measured in the time that is saved up: at least subjects_min once there is any, since
/// fewer say nothing. What that takes too much is a debt.
std::size_t Juror::affordable() {
    const TimePoint now = m.context.now();
    const run::Recipe& recipe = m.context.manifest.recipe;
    const Duration passed = now - m_saved_up_at.value_or(now - recipe.window);
    m_saved_up_at = now;
    const auto share_of = [&](Duration time) {
        return Duration{static_cast<Duration::rep>(recipe.measuring.jury * static_cast<double>(time.count()))};
    };
    m_savings = std::min(m_savings + share_of(passed), share_of(windows_to_save_up * recipe.window));
    if (m_savings <= Duration{0}) return 0;
    if (m_measured == 0) return subjects_min;
    const Duration each = std::max(Duration{1}, m_time_taken / static_cast<Duration::rep>(m_measured));
    return std::clamp(static_cast<std::size_t>(m_savings / each), subjects_min, subjects_max);
}

void Juror::round_begins() {
    const bool is_judge = m.chain.rules().has_jury && m.trainer != nullptr && m.chain.height().value > 0;
    if (!is_judge) return;
    const Duration patience = windows_to_judge * m.context.manifest.recipe.window;
    if (m_asked && (m.context.now() >= m_asked->at + patience || !m.mediator.may_measure())) m_asked.reset();
    if (m_asked || !m.mediator.may_measure()) return;
    const bool is_own_turn = m.chain.height().value % own_check_every == 0;
    if (!has_seat() && !is_own_turn) return;
    const run::AcceptList* list = m.chain.head();
    if (list == nullptr || list->entries.empty()) return;
    ask(*list);
}

run::Turn Juror::turn_of(const run::AcceptList& list, const run::Accepted& entry) const {
    const std::uint64_t probation = m.context.manifest.recipe.probation_rounds;
    if (run::is_back_on_probation(m.chain.rules().suspended, entry.person(), list.round, probation))
        return run::Turn::back;
    return entry.newcomer ? run::Turn::newcomer : run::Turn::other;
}

/// Indexes of entries in the order in which they are measured. Its own contribution a juror sees now and then.
std::vector<std::size_t> Juror::draw(const run::AcceptList& list, const Digest& hash) const {
    std::vector<run::Candidate> candidates;
    std::optional<std::size_t> own;
    for (std::size_t i = 0; i < list.entries.size(); ++i) {
        const run::Accepted& entry = list.entries[i];
        if (entry.peer == m.context.self()) own = i;
        candidates.push_back({entry.peer, turn_of(list, entry)});
    }
    std::vector<std::size_t> drawn = run::draw_subjects(hash, m.context.self(), candidates, candidates.size());
    if (own) std::erase(drawn, *own);
    if (!has_seat() && drawn.size() > own_check_others)
        drawn.erase(drawn.begin() + static_cast<std::ptrdiff_t>(own_check_others), drawn.end());
    if (own && m.chain.height().value % own_check_every == 0) drawn.insert(drawn.begin(), *own);
    return drawn;
}

/// What F clips contributions to, as far as their payloads are here: a member that takes the sum has a few.
double Juror::norm_max(const run::AcceptList& list) const {
    std::vector<PayloadPointer> payloads;
    std::vector<const numerics::PayloadView*> views;
    for (const run::Accepted& entry : list.entries) {
        payloads.push_back(m.payloads.find(entry.payload.root));
        views.push_back(payloads.back() ? &payloads.back()->view : nullptr);
    }
    std::vector<numerics::WeightedPayload> here = proof::weighted_list(list, views);
    std::erase_if(here, [](const numerics::WeightedPayload& one) { return one.payload == nullptr; });
    return numerics::norm_max(here,
                              proof::outer_step_of({m.context.manifest.recipe, m.context.layout.parameters}, list));
}

/// Nothing if its payload or its shard is not here.
std::optional<JudgePlan::Subject> Juror::subject_of(const run::AcceptList& list, const run::Accepted& entry,
                                                    const Digest& hash) const {
    const run::Manifest& manifest = m.context.manifest;
    const PayloadPointer payload = m.payloads.find(entry.payload.root);
    if (!payload) return std::nullopt;
    const RoundId trained{list.round.value - (entry.late ? 1 : 0)};
    const std::size_t index = run::shard_of(manifest.recipe.seed, trained, entry.peer, manifest.shards.size());
    const run::Shard& shard = manifest.shards[index];
    const BlobPointer content =
        m.mediator.shards_here().contains(index) ? m.context.swarm.blob(shard.blob.root) : nullptr;
    if (!content) return std::nullopt;
    const std::uint64_t claimed = std::max<std::uint64_t>(1, entry.tokens.value / manifest.model.context);
    const run::JudgedPositions positions =
        run::draw_positions(hash, m.context.self(), entry.peer, claimed, shard.records, run::judged_records);
    const auto records_at = [&](const std::vector<std::uint64_t>& at) {
        std::vector<std::uint64_t> records;
        for (const std::uint64_t n : at)
            records.push_back(run::record_at(manifest.recipe.seed, trained, entry.peer, shard.records, n));
        return records;
    };
    const ByteSpan bytes = payload->blob->bytes();
    JudgePlan::Subject subject;
    subject.contributor = entry.peer;
    subject.payload = std::make_shared<const Bytes>(bytes.begin() + payload_author_bytes, bytes.end());
    subject.shard = content->path();
    subject.records = shard.records;
    subject.own = records_at(positions.own);
    subject.other = records_at(positions.other);
    return subject;
}

void Juror::ask(const run::AcceptList& list) {
    const auto held = m.store.held();
    const bool has_base =
        std::any_of(held.begin(), held.end(), [&](const auto& one) { return one.round == list.round; });
    const std::size_t count = has_base ? affordable() : 0;
    if (count == 0) return;
    const Digest hash = m.chain.hash_at(list.round);
    const std::uint64_t usual = median_claim(list);
    JudgePlan plan{list.round, m.store.state_place(list.round), {}, norm_max(list)};
    Asked asked{list.round, m.context.now(), {}};
    for (const std::size_t index : draw(list, hash)) {
        if (plan.subjects.size() == count) break;
        const run::Accepted& entry = list.entries[index];
        std::optional<JudgePlan::Subject> subject = subject_of(list, entry, hash);
        if (!subject) continue;
        run::Measurement measurement;
        measurement.person = entry.person();
        measurement.round = list.round;
        if (!subject->other.empty()) measurement.other = 0.0;
        measurement.scale = std::min(1.0, static_cast<double>(entry.tokens.value) / static_cast<double>(usual));
        measurement.newcomer = turn_of(list, entry) != run::Turn::other;
        asked.subjects.emplace(entry.peer, measurement);
        plan.subjects.push_back(*std::move(subject));
    }
    if (plan.subjects.empty()) return;
    m_asked = std::move(asked);
    m.trainer->judge(plan);
}

void Juror::on_judged(const JudgeReport& report) {
    m_savings -= report.taken;
    m_time_taken += report.taken;
    m_measured += report.results.size();
    if (!m_asked || m_asked->round != report.round) return;
    const Asked asked = *std::exchange(m_asked, std::nullopt);
    std::vector<run::Measurement> measured_now;
    for (const Judged& result : report.results) {
        const auto found = asked.subjects.find(result.contributor);
        if (found == asked.subjects.end()) continue;
        run::Measurement measured = found->second;
        measured.own = result.own;
        if (measured.other) measured.other = result.other;
        log::of("jury").debug("round {}: {} lowers the loss by {:.4f}, on other records by {:.4f}; its claim {:.2f}",
                              report.round.value, result.contributor.hex(), result.own, result.other, measured.scale);
        measured_now.push_back(measured);
    }
    m_tests.take(measured_now);
    if (!measured_now.empty()) save();
    accuse();
}

/// Signs what there is enough evidence for, and again before it is too old to count.
void Juror::accuse() {
    if (!has_seat()) return;
    const std::optional<double> median = m_tests.median();
    for (const auto& [person, known] : m_tests.all()) {
        if (!known.is_enough() || person == m.context.self_person()) continue;
        const run::RunRules& rules = m.chain.rules();
        if (run::is_suspended(rules.suspended, person, m.chain.height())) continue;
        const run::Suspended* before = run::find_suspended(rules.suspended, person);
        const run::JurorVerdict verdict{person,
                                        before == nullptr ? 0 : before->times,
                                        known.first,
                                        known.last,
                                        known.judged,
                                        figure_of(known.mean_own()),
                                        figure_of(known.mean_other()),
                                        figure_of(median.value_or(0))};
        const run::JurorVerdict* said = m.verdicts.own(person);
        const bool is_said = said != nullptr && said->times == verdict.times &&
                             verdict.last.value < said->last.value + verdict_renewed_after;
        if (is_said) continue;
        log::of("jury").warn("{} does not help the model: {:.4f} nats a token in {} contributions, others {:.4f}",
                             person.hex(), known.mean_own(), known.judged, median.value_or(0));
        m.verdicts.sign(verdict);
    }
}

void Juror::settle(const run::AcceptList& list) {
    for (const run::Suspension& one : list.suspensions) m_tests.forget(one.person);
    if (!list.suspensions.empty()) save();
}

void Juror::load() {
    const std::optional<Bytes> kept = m.store.load_judgements();
    if (!kept) return;
    auto tests = run::SequentialTests::decode(*kept);
    if (tests) m_tests = *std::move(tests);
    if (!tests) log::of("jury").warn("what was measured of others is damaged, and measured again");
}

void Juror::save() const {
    const Status kept = m.store.save_judgements(m_tests.encode());
    if (!kept.ok()) log::of("jury").warn("what was measured of others is not kept: {}", kept.error().message);
}

}  // namespace potluck::peer

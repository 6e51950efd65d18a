// The passes are planned at once and made one batch at a time: first every set of records without any contribution,
// each set once however many subjects have it in common, then for each subject its weights and its two sets. Weights
// are made from the vector's file each time, a piece after the other: subtracting a contribution and adding it again
// would not return to the same numbers.
//
// What a contributor controls is the payload alone. Its parser is the one gate (core/numerics/codec); a payload that
// does not pass, or whose losses are not finite, leaves its subject without a figure.
//
// Threads: see judge.h.
#include "core/training/judge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/base/check.h"
#include "core/base/files.h"
#include "core/model/traits.h"
#include "core/numerics/codec/sparse_codec.h"
#include "core/training/vector_file.h"

namespace potluck::training {

namespace {

static_assert(vector_piece % numerics::group_size == 0, "a piece of a vector is of whole groups");

/// Subtracts from `piece`, which begins at number `begin`, `factor` of what `payload` has there.
class Subtraction {
public:
    Subtraction(const numerics::PayloadView& payload, double factor)
        : m_payload(payload),
          m_factor(factor),
          m_indices(numerics::chunks_per_group * payload.k()),
          m_codes(numerics::chunks_per_group * payload.k()) {}

    void operator()(std::uint64_t begin, std::span<float> piece) {
        POTLUCK_CHECK(begin % numerics::group_size == 0);
        std::size_t group = begin / numerics::group_size;
        for (std::size_t at = 0; at < piece.size(); at += numerics::group_size, ++group) {
            std::array<float, 4> means{};
            const std::size_t entries = m_payload.decode_group(group, m_indices, m_codes, means);
            for (float& mean : means) mean = static_cast<float>(mean * m_factor);
            for (std::size_t i = 0; i < entries; ++i) piece[at + m_indices[i]] -= means[m_codes[i]];
        }
    }

private:
    const numerics::PayloadView& m_payload;
    double m_factor;
    std::vector<std::uint32_t> m_indices;
    std::vector<std::uint8_t> m_codes;
};

bool are_below(const std::vector<std::uint64_t>& indexes, std::uint64_t records) {
    return std::ranges::all_of(indexes, [&](std::uint64_t index) { return index < records; });
}

}  // namespace

Judge::Judge(const TrainerSetup& setup, const control::JudgeRequest& request, OtherModel model)
    : m_model(setup.model), m_state(request.state), m_norm_max(request.norm_max), m_other(std::move(model)) {
    const std::uint32_t together = model::records_together(m_model);
    m_at_once = together > 1 ? together : std::clamp(setup.layout.micro_batch, 1U, judged_at_once_max);
}

Result<Judge> Judge::open(const TrainerSetup& setup, const control::JudgeRequest& request) {
    for (const control::JudgeSubject& subject : request.subjects) {
        if (!are_below(subject.own, subject.records) || !are_below(subject.other, subject.records))
            return Error{ErrorCode::malformed, "A record to measure on lies beyond its shard."};
    }
    const auto begun = std::chrono::steady_clock::now();
    if (const Status fine = check_vector(request.state, setup.model.parameters()); !fine.ok()) return fine.error();
    Result<OtherModel> model = OtherModel::create(setup);
    if (!model.ok()) return model.error();
    Judge judge(setup, request, *std::move(model));
    for (const control::JudgeSubject& subject : request.subjects) {
        Subject& added = judge.m_subjects.emplace_back();
        added.payload = subject.payload;
        added.own = judge.set_of(subject.shard, subject.own);
        if (!subject.other.empty()) added.other = judge.set_of(subject.shard, subject.other);
        judge.open_shard(subject);
    }
    judge.plan_passes();
    judge.m_taken = std::chrono::steady_clock::now() - begun;
    return judge;
}

void Judge::open_shard(const control::JudgeSubject& subject) {
    const std::size_t number = m_subjects.size() - 1;
    const auto known = m_shards.find(subject.shard);
    if (known != m_shards.end() && known->second.shape().records == subject.records) return;
    Result<Shard> shard = Shard::open(subject.shard, {subject.records, m_model.context, m_model.vocabulary});
    if (!shard.ok()) return leave_out(number, shard.error().message);
    m_shards.emplace(subject.shard, *std::move(shard));
}

std::size_t Judge::set_of(const std::string& shard, const std::vector<std::uint64_t>& records) {
    RecordSet set{.shard = shard, .records = records, .loss = {}};
    const auto number = static_cast<std::size_t>(std::ranges::find(m_sets, set) - m_sets.begin());
    if (number == m_sets.size()) m_sets.push_back(std::move(set));
    return number;
}

void Judge::plan_passes() {
    for (std::size_t set = 0; set < m_sets.size(); ++set) {
        const bool is_used = std::ranges::any_of(m_subjects, [&](const Subject& subject) {
            return !subject.is_unmeasurable && (subject.own == set || subject.other == set);
        });
        if (is_used) m_passes.push_back(Pass{{}, set});
    }
    for (std::size_t number = 0; number < m_subjects.size(); ++number) {
        if (m_subjects[number].is_unmeasurable) continue;
        m_passes.push_back(Pass{number, m_subjects[number].own});
        if (m_subjects[number].other) m_passes.push_back(Pass{number, *m_subjects[number].other});
    }
}

Status Judge::step() {
    m_owner.check();
    POTLUCK_CHECK(!m_passes.empty());
    const auto begun = std::chrono::steady_clock::now();
    Status made = make_step();
    m_taken += std::chrono::steady_clock::now() - begun;
    return made;
}

Status Judge::make_step() {
    Pass& pass = m_passes.front();
    if (!m_has_weights || m_weights_of != pass.subject) return take_weights(pass.subject);
    if (const Status passed = pass_records(pass); !passed.ok()) {
        if (passed.error().code == ErrorCode::out_of_memory) return passed;
        give_up(Pass(pass), passed.error().message);
        return {};
    }
    if (pass.next == m_sets[pass.set].records.size()) finish(Pass(pass));
    return {};
}

Status Judge::take_weights(std::optional<std::size_t> subject) {
    m_has_weights = true;
    m_weights_of = subject;
    if (!subject) return m_other.load(m_state);
    const std::uint64_t size = m_model.parameters();
    const Result<Bytes> bytes =
        read_file(m_subjects[*subject].payload, numerics::payload_bytes_max(size, numerics::sent_max));
    numerics::PayloadView payload;
    const auto fault = bytes.ok() ? numerics::PayloadView::parse(*bytes, size, numerics::sent_max, payload)
                                  : numerics::PayloadFault::truncated;
    if (fault != numerics::PayloadFault::none) {
        leave_out(*subject, bytes.ok() ? std::string("A payload cannot be decoded: ") + numerics::name_of(fault) + "."
                                       : bytes.error().message);
        return {};
    }
    const bool is_clipped = m_norm_max > 0 && payload.norm() > m_norm_max;
    return m_other.load(m_state, Subtraction(payload, is_clipped ? m_norm_max / payload.norm() : 1));
}

Status Judge::pass_records(Pass& pass) {
    const RecordSet& set = m_sets[pass.set];
    const Shard& shard = m_shards.at(set.shard);
    std::vector<model::Token> batch;
    const std::size_t first = pass.next;
    for (std::uint32_t i = 0; i < m_at_once && pass.next < set.records.size(); ++i, ++pass.next) {
        if (const Status read = shard.append_record(set.records[pass.next], batch); !read.ok()) return read;
    }
    const Result<Model::Evaluation> found = m_other.model().evaluate(batch, first);
    if (!found.ok()) return found.error();
    pass.sum += found->loss_sum;
    return {};
}

void Judge::finish(const Pass& pass) {
    m_passes.pop_front();
    RecordSet& set = m_sets[pass.set];
    const double loss = pass.sum / (static_cast<double>(set.records.size()) * m_model.context);
    if (!pass.subject) {
        set.loss = loss;
        return;
    }
    if (!std::isfinite(loss) || !std::isfinite(*set.loss)) return leave_out(*pass.subject, "A loss is not a number.");
    Subject& subject = m_subjects[*pass.subject];
    // The two sets may be the same.
    (pass.set == subject.own && !subject.own_loss ? subject.own_loss : subject.other_loss) = loss;
}

/// Damaged records are no reason to leave out those who have others.
void Judge::give_up(const Pass& pass, const std::string& why) {
    if (pass.subject) return leave_out(*pass.subject, why);
    m_passes.pop_front();
    for (std::size_t number = 0; number < m_subjects.size(); ++number) {
        const bool uses_it = m_subjects[number].own == pass.set || m_subjects[number].other == pass.set;
        if (uses_it) leave_out(number, why);
    }
}

void Judge::leave_out(std::size_t subject, const std::string& why) {
    m_subjects[subject].is_unmeasurable = true;
    if (m_message.empty()) m_message = why.substr(0, control::sentence_bytes_max);
    std::erase_if(m_passes, [&](const Pass& pass) { return pass.subject == subject; });
}

control::TrainerJudged Judge::results() const {
    m_owner.check();
    control::TrainerJudged judged{
        .rows = {}, .seconds = std::chrono::duration<double>(m_taken).count(), .message = m_message};
    for (std::size_t number = 0; number < m_subjects.size(); ++number) {
        const Subject& subject = m_subjects[number];
        if (subject.is_unmeasurable || !subject.own_loss || (subject.other && !subject.other_loss)) continue;
        judged.rows.push_back({.subject = static_cast<std::uint32_t>(number),
                               .own = *m_sets[subject.own].loss - *subject.own_loss,
                               .other = subject.other ? *m_sets[*subject.other].loss - *subject.other_loss : 0});
    }
    return judged;
}

}  // namespace potluck::training

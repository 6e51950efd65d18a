#include "app/node/trainer/judging.h"

#include <fstream>
#include <string>
#include <system_error>
#include <utility>

namespace potluck::node {

namespace {

bool is_within_bounds(const peer::JudgePlan::Subject& subject) {
    return subject.payload != nullptr && subject.records > 0 && !subject.own.empty() &&
           subject.own.size() <= control::judged_records_max && subject.other.size() <= control::judged_records_max;
}

/// Not synced: a payload that is measured is of use to a living trainer only.
bool write(const std::filesystem::path& file, const Bytes& bytes) {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    out.close();
    return !out.fail();
}

}  // namespace

Result<std::unique_ptr<Judging>> Judging::prepare(const std::filesystem::path& folder, const peer::JudgePlan& plan) {
    std::unique_ptr<Judging> judging(new Judging(folder / "judged", plan.round));
    std::error_code failed;
    std::filesystem::remove_all(judging->m_folder, failed);  // of a node that was killed
    std::filesystem::create_directories(judging->m_folder, failed);
    judging->m_request.state = {plan.base.file.string(), plan.base.offset};
    judging->m_request.norm_max = plan.norm_max;
    std::vector<control::JudgeSubject>& subjects = judging->m_request.subjects;
    for (const peer::JudgePlan::Subject& subject : plan.subjects) {
        if (subjects.size() == control::judged_subjects_max) break;
        if (!is_within_bounds(subject)) continue;
        const std::filesystem::path file = judging->m_folder / std::to_string(subjects.size());
        if (!write(file, *subject.payload))
            return Error{ErrorCode::io, file.string() + " cannot be written; check the disk and its free space."};
        subjects.push_back({file.string(), subject.shard.string(), subject.records, subject.own, subject.other});
        judging->m_contributors.push_back(subject.contributor);
    }
    if (subjects.empty()) return Error{ErrorCode::invalid_argument, "There is no contribution to measure."};
    return judging;
}

Judging::~Judging() {
    std::error_code ignored;
    std::filesystem::remove_all(m_folder, ignored);
}

Result<std::vector<peer::Judged>> Judging::results(const control::TrainerJudged& judged) const {
    m_owner.check();
    std::vector<peer::Judged> results;
    std::size_t next = 0;
    for (const control::MeasuredRow& row : judged.rows) {
        if (row.subject < next || row.subject >= m_contributors.size())
            return Error{ErrorCode::malformed, "The trainer measured what it was not asked to."};
        results.push_back({m_contributors[row.subject], row.own, row.other});
        next = row.subject + 1;
    }
    return results;
}

}  // namespace potluck::node

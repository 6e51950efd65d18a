// Contributions that a trainer measures: their payloads in files that it may read, its request, and whose its answer
// is.
//
// Does not: talk to the trainer; TrainerProcess does that. Threads: the loop's. Owns: the files, which go with it.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/base/thread_owner.h"
#include "core/control/trainer_protocol.h"
#include "core/peer/seams/trainer.h"

namespace potluck::node {

class Judging {
public:
    /// Writes the payloads below `folder`, which the trainer may read. Subjects without records, or with more than a
    /// request takes, are left out, as are those beyond its number; `invalid_argument` if none is left.
    [[nodiscard]] static Result<std::unique_ptr<Judging>> prepare(const std::filesystem::path& folder,
                                                                  const peer::JudgePlan& plan);
    ~Judging();
    Judging(const Judging&) = delete;
    Judging& operator=(const Judging&) = delete;

    [[nodiscard]] const control::JudgeRequest& request() const {
        m_owner.check();
        return m_request;
    }
    [[nodiscard]] RoundId round() const {
        m_owner.check();
        return m_round;
    }
    /// `malformed` if rows are not of the request's subjects, in order.
    [[nodiscard]] Result<std::vector<peer::Judged>> results(const control::TrainerJudged& judged) const;

private:
    Judging(std::filesystem::path folder, RoundId round) : m_folder(std::move(folder)), m_round(round) {}
    ThreadOwner m_owner;
    std::filesystem::path m_folder;
    RoundId m_round;
    control::JudgeRequest m_request;
    std::vector<PeerId> m_contributors;  // of the request's subjects
};

}  // namespace potluck::node

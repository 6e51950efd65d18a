// Measures contributions of others: how much less the model's loss is with one of them than without it, on records that
// its contributor claims to have trained on and on others. Forward passes alone, with a second model beside the
// trainer's, in pieces short enough that requests wait no longer than for a micro-step.
//
//   open -- step() ... step(): the losses without any, then each contribution: its weights, its losses --> finished
//
// The contribution d is what F moves a state down by that it alone makes: its decoded values, its norm clipped as the
// round's step clips it. The losses compared are those of theta and of theta - d. Whatever a family draws for a record
// (gaps, crops) follows from the record's position in its list, so that both losses differ by the weights alone.
//
// Does not: choose records, judge, or touch what trains. Threads: the trainer's. Owns: the second model, open shards.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/thread_owner.h"
#include "core/control/trainer_protocol.h"
#include "core/training/other_model.h"
#include "core/training/shard_reader.h"
#include "core/training/trainer.h"

namespace potluck::training {

/// Records in one forward pass, at most: between passes requests are answered.
inline constexpr std::uint32_t judged_at_once_max = 8;

class Judge {
public:
    /// `malformed` if the vector is not of the model or an index lies beyond its shard; `out_of_memory` without room
    /// for a second model. A shard or payload that cannot be used leaves its contribution unmeasured, no more.
    [[nodiscard]] static Result<Judge> open(const TrainerSetup& setup, const control::JudgeRequest& request);

    /// The next forward pass, or the next contribution's weights. An error ends it: without memory, or without the
    /// vector, none of what is left can be measured.
    [[nodiscard]] Status step();
    [[nodiscard]] bool finished() const {
        m_owner.check();
        return m_passes.empty();
    }
    /// What was measured, when it is finished or has failed.
    [[nodiscard]] control::TrainerJudged results() const;

private:
    /// Records of one shard, in one order.
    struct RecordSet {
        std::string shard;
        std::vector<std::uint64_t> records;
        std::optional<double> loss;  // without any contribution, in nats a token
        bool operator==(const RecordSet& set) const { return shard == set.shard && records == set.records; }
    };
    struct Subject {
        std::string payload;
        std::size_t own = 0;               // set
        std::optional<std::size_t> other;  // likewise, if there are others
        std::optional<double> own_loss, other_loss;
        bool is_unmeasurable = false;
    };
    /// A loss to be found; without a subject, one without any contribution.
    struct Pass {
        std::optional<std::size_t> subject;
        std::size_t set = 0;
        std::size_t next = 0;  // record of the set
        double sum = 0;
    };

    Judge(const TrainerSetup& setup, const control::JudgeRequest& request, OtherModel model);
    void open_shard(const control::JudgeSubject& subject);
    [[nodiscard]] Status make_step();
    [[nodiscard]] std::size_t set_of(const std::string& shard, const std::vector<std::uint64_t>& records);
    void plan_passes();
    [[nodiscard]] Status take_weights(std::optional<std::size_t> subject);
    [[nodiscard]] Status pass_records(Pass& pass);
    void finish(const Pass& pass);
    void give_up(const Pass& pass, const std::string& why);
    void leave_out(std::size_t subject, const std::string& why);

    ThreadOwner m_owner;
    model::ModelSpec m_model;
    std::uint32_t m_at_once;
    control::VectorFile m_state;
    double m_norm_max;
    OtherModel m_other;
    std::map<std::string, Shard> m_shards;
    std::vector<RecordSet> m_sets;
    std::vector<Subject> m_subjects;
    std::deque<Pass> m_passes;                      // those still to be made, in order
    std::chrono::steady_clock::duration m_taken{};  // by open() and step()
    bool m_has_weights = false;
    std::optional<std::size_t> m_weights_of;  // the subject whose contribution they have; none: theta itself
    std::string m_message;                    // why the first subject was left out
};

}  // namespace potluck::training

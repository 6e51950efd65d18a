// What the demo found, what is wrong with it, and how it is written: values in, text out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/demo/alone/lone_training.h"
#include "app/demo/pace.h"

namespace potluck::node {

/// Liars of a demo, and what its jury makes of them.
struct JuryFound {
    struct Liar {
        std::string name, lie;
        std::uint64_t suspended = 0;  // round whose list suspended it; 0: none did
    };
    std::vector<Liar> liars;           // volunteers that handed over something else than their work
    std::vector<std::string> wronged;  // honest volunteers that were suspended
};

struct DemoReport {
    std::uint64_t rounds = 0, rounds_wanted = 0, rounds_lost = 0;
    std::uint64_t committee_size = 0, committee_size_wanted = 0;  // the largest there was
    // States that a node computed itself, beside the backbone's of the same round. What a node that came late copied
    // from a list or a repair cannot differ, so it is counted apart.
    std::uint64_t digests_compared = 0, digests_equal = 0, digests_copied = 0;
    double initial_loss = 0, final_loss = 0, bigram_loss = 0;  // nats per token, or a picture's, on validation
    std::string baseline = "bigram";                           // what bigram_loss is of
    model::ModelSpec model;
    std::vector<control::Figure> figures;        // of its family, at the end
    std::vector<control::Figure> coder_figures;  // of the picture coder that a model which draws was given
    bool collapsed = false;                      // all records look alike to the model
    double contributions_per_round = 0;          // accepted
    std::uint64_t parameters = 0;
    std::uint32_t k = 0;
    std::string plan;                       // device and layout of a volunteer's trainer
    double bits_per_parameter = 0;          // mean over accepted payloads
    std::uint64_t trained_tokens = 0;       // as the trainers counted them, whatever became of them
    std::uint64_t credited_tokens = 0;      // as the ledgers say
    double upload_bytes_per_round = 0;      // mean over volunteers, everything they sent
    double payload_bytes_per_round = 0;     // the contribution alone
    double fp32_bytes_per_round = 0;        // gradients at every step, once
    double seconds_join_to_first_step = 0;  // of the late volunteer
    double seconds = 0;
    double round_overhead_seconds = 0;
    double window_seconds = 0, collect_seconds = 0;
    Pace pace;                       // before training began
    std::optional<double> others{};  // share of the processor that other programs used while it trained
    double first_tokens = 0;         // of one batch of everybody
    std::uint64_t volunteers = 0;
    std::uint64_t late_rounds = 0, returned_rounds = 0;       // accepted after joining late, after coming back
    double late_seconds_left = 0, returned_seconds_left = 0;  // from then on until training ended
    bool all_in_step = false;                                 // every node ended with the same state
    bool closed = false;  // and has the committee's word for it, if all rounds were had
    struct Place {
        std::string name;
        std::uint64_t tokens = 0, rounds = 0;
        std::uint64_t trained = 0;  // by this volunteer's trainer
    };
    std::vector<Place> leaderboard;
    JuryFound jury;
    std::vector<LonePoint> alone;  // one computer alone, if it was measured
    std::string sample, checkpoint;
    std::string folder;                 // where all of it is kept
    std::vector<std::string> troubles;  // what went wrong on the way
};

/// The share of counted tokens that is credited in a good run: what is missing is the window of the killed volunteer
/// and windows that nobody collected after the last round.
inline constexpr double credited_share_min = 0.9;

/// By so much less than the baseline a loss ends the training: the rounds that are under way still move it a little.
inline constexpr double lead_at_end = 0.01;
/// Whether the model's loss is better than its baseline, by this share of it, and each figure of it that has one better
/// than that.
[[nodiscard]] bool has_beaten(const DemoReport& report, double lead = 0);
/// What else has to be said of a run with which nothing is wrong: a sentence each.
[[nodiscard]] std::vector<std::string> remarks_on(const DemoReport& report);
/// "  worth              3.1 computers; ...\n": what a swarm with this loss was worth; empty if nothing was measured.
[[nodiscard]] std::string worth_text(const std::vector<LonePoint>& alone, double loss);
/// "9,870 tokens/s in all, 1,974 each of 5 (CPU, 1 thread, AVX2); other programs use 34 % of its processor".
[[nodiscard]] std::string computer_text(const Pace& pace, std::uint64_t volunteers);

/// One sentence for everything that a good run must have and this one has not; empty: all is well.
[[nodiscard]] std::vector<std::string> faults_of(const DemoReport& report);
[[nodiscard]] nlohmann::json to_json(const DemoReport& report);
[[nodiscard]] std::string to_text(const DemoReport& report);
/// Commands of `program` that go on from what the demo left in its folder.
[[nodiscard]] std::string to_try(const DemoReport& report, const std::string& program);

}  // namespace potluck::node

// What moments in a file cost and what they are worth.
//
//   cost    the file of a preset's moments (GPT-2 124M), 8 and 32 bits: bytes, seconds to write and to read
//   pauses  a small model on real text, paused every few rounds: validation loss at the end without pauses, with kept
//           and with fresh moments
//   moved   the same model resumed when the state has moved d rounds: training loss of the first round with moments
//           that are d rounds old, with fresh ones, and without a pause, over several resumptions
//
// A round is a number of steps here, and its state is the trainer's own: a run of one member whose whole movement is
// accepted.
//
//   bench_moments --text FOLDER-OR-FILE [--folder F] [--preset gpt2] [--rounds n] [--steps per round] [--every rounds]
//                 [--seeds n] [--threads n] [--only cost|pauses|moved] [--report FILE]
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <memory>

#include <nlohmann/json.hpp>

#include "core/base/rng.h"
#include "core/model/presets.h"
#include "core/training/compute/device.h"
#include "tests/bench/optimizer_accuracy.h"

namespace {

using namespace potluck;
using nlohmann::json;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

json cost_of(const model::ModelSpec& model, numerics::StateBits bits, const fs::path& file) {
    std::vector<numerics::ParameterSlice> slices;
    for (const model::TensorSpec& tensor : model::tensors_of(model)) {
        slices.push_back({tensor.offset, tensor.offset + tensor.elements(), 0});
    }
    numerics::OptimizerState state(slices, bits);
    Rng rng(1);
    for (std::size_t slice = 0; slice < slices.size(); ++slice) {
        for (std::uint8_t& code : state.moments(slice).mean_codes) code = static_cast<std::uint8_t>(rng.below(256));
        for (float& mean : state.moments(slice).mean) mean = static_cast<float>(rng.unit());
    }
    training::MomentsStamp stamp;
    stamp.steps = 1;
    const training::MomentsSource source{.slices = state.slices(), .bits = bits, .read = [&](std::size_t slice) {
                                             return Result<numerics::OptimizerState::Moments>(state.moments(slice));
                                         }};
    double write = 1e9, read = 1e9;
    for (int i = 0; i < 5; ++i) {
        const auto began = Clock::now();
        POTLUCK_CHECK(training::keep_moments(file, stamp, source, std::chrono::minutes(5)).ok());
        write = std::min(write, seconds_since(began));
        const auto again = Clock::now();
        POTLUCK_CHECK(training::read_moments(file, {}, state).ok());
        read = std::min(read, seconds_since(again));
    }
    training::remove_moments(file);
    return {{"bytes", training::moments_file_bytes(slices, bits)}, {"write_seconds", write}, {"read_seconds", read}};
}

enum class After { nothing, kept, fresh };

/// One member's rounds.
class Member {
public:
    Member(const bench::AccuracyRun& run, const bench::SplitText& text, fs::path folder)
        : m_run(run), m_text(text), m_folder(std::move(folder)) {
        m_recipe.learning_rate = run.learning_rate;
        m_recipe.batch = run.batch;
        m_recipe.total_rounds = 1000;
        std::vector<float> initial(run.model.parameters());
        model::fill_initial_state(run.model, run.seed, initial);
        m_trainer = made({});
        POTLUCK_CHECK(m_trainer->start_from(initial).ok());
    }
    /// Training loss of the round.
    double train(std::uint64_t round) {
        const training::TrainingPlace place{.key = {m_run.seed, {round}, {}},
                                            .shard_path = m_run.shard.string(),
                                            .records = m_text.training.size() / (m_run.model.context + 1),
                                            .learning_rate = run::learning_rate_at(m_recipe, round)};
        POTLUCK_CHECK(m_trainer->train_in(place).ok());
        while (m_trainer->totals().steps < m_run.steps) POTLUCK_CHECK(m_trainer->micro_step().ok());
        return m_trainer->snapshot(state()).value().mean_loss();
    }
    void keep(std::uint64_t round) {
        POTLUCK_CHECK(m_trainer->keep_moments(place_of(round), std::chrono::minutes(1)).ok());
    }
    /// A new trainer from the newest state, with moments of `round` or without.
    void resume(std::uint64_t round, After after) {
        m_trainer = made(after == After::kept ? std::optional(place_of(round)) : std::nullopt);
        POTLUCK_CHECK(m_trainer->start_from(state()).ok());
    }
    [[nodiscard]] double validation() const { return bench::validation_loss(*m_trainer, m_text, m_run.model.context); }
    /// Another member that is where this one is, but for its moments.
    [[nodiscard]] std::unique_ptr<Member> twin(std::uint64_t round, After after) const {
        const fs::path folder = m_folder / "twin";
        fs::create_directories(folder);
        auto other = std::make_unique<Member>(m_run, m_text, folder);
        fs::copy_file(state().path, other->state().path, fs::copy_options::overwrite_existing);
        std::error_code none;
        fs::copy_file(place_of(round).file, folder / place_of(round).file.filename(),
                      fs::copy_options::overwrite_existing, none);
        other->resume(round, after);
        return other;
    }

private:
    [[nodiscard]] control::VectorFile state() const { return {(m_folder / "state").string(), 0}; }
    [[nodiscard]] training::MomentsPlace place_of(std::uint64_t round) const {
        return {m_folder / ("moments" + std::to_string(round)), {}, {round}, 0};
    }
    [[nodiscard]] std::unique_ptr<training::Trainer> made(const std::optional<training::MomentsPlace>& moments) const {
        training::TrainerSetup setup{.model = m_run.model, .recipe = m_recipe, .layout = {}, .threads = m_run.threads};
        setup.pace = training::Pace::exact;
        setup.layout.matmul = m_run.matmul;
        setup.moments = moments;
        return std::make_unique<training::Trainer>(training::Trainer::create(setup).value());
    }

    const bench::AccuracyRun& m_run;
    const bench::SplitText& m_text;
    fs::path m_folder;
    run::Recipe m_recipe;
    std::unique_ptr<training::Trainer> m_trainer;
};

struct Plan {
    std::uint64_t rounds = 40, every = 4;
};

double with_pauses(const bench::AccuracyRun& run, const bench::SplitText& text, const fs::path& folder,
                   const Plan& plan, After after) {
    Member member(run, text, folder);
    for (std::uint64_t round = 0; round < plan.rounds; ++round) {
        if (after != After::nothing && round > 0 && round % plan.every == 0) {
            if (after == After::kept) member.keep(round);
            member.resume(round, after);
        }
        (void)member.train(round);
    }
    return member.validation();
}

constexpr std::uint64_t moves[] = {0, 1, 2, 4, 8};

/// Mean training losses of the rounds after a resumption: without an end, with fresh moments, and with moments that are
/// so many rounds older than the state.
json after_moves(const bench::AccuracyRun& run, const bench::SplitText& text, const fs::path& folder,
                 const Plan& plan) {
    std::map<std::string, double> sums;
    int times = 0;
    Member member(run, text, folder);
    for (std::uint64_t round = 0; round < plan.rounds; ++round) {
        if (round > 0) member.keep(round);
        const bool resumes = round > std::end(moves)[-1] && round % plan.every == 0;
        if (resumes) {
            ++times;
            sums["fresh"] += member.twin(round, After::fresh)->train(round);
            for (const std::uint64_t moved : moves) {
                sums["kept_" + std::to_string(moved)] += member.twin(round - moved, After::kept)->train(round);
            }
        }
        const double straight = member.train(round);
        if (resumes) sums["straight"] += straight;
    }
    json report = {{"seed", run.seed}, {"resumptions", times}};
    for (const auto& [name, sum] : sums) report[name] = sum / times;
    return report;
}

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string, std::string> options{{"--text", "."},    {"--preset", "gpt2"}, {"--rounds", "40"},
                                               {"--steps", "40"},  {"--every", "4"},     {"--seeds", "3"},
                                               {"--threads", "1"}, {"--only", ""}};
    options["--folder"] = fs::temp_directory_path().string();
    for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
    const auto number = [&](const char* name) { return static_cast<std::uint32_t>(std::stoul(options[name])); };
    const auto wanted = [&](const char* part) { return options["--only"].empty() || options["--only"] == part; };
    const fs::path folder = fs::path(options["--folder"]) / ("bench_moments_" + std::to_string(getpid()));
    fs::create_directories(folder);
    json report = {{"bench", "moments"}, {"preset", options["--preset"]}};
    if (wanted("cost")) {
        const model::ModelSpec large = model::model_preset(options["--preset"]).value();
        report["cost_8_bits"] = cost_of(large, numerics::StateBits::bits8, folder / "moments");
        report["cost_32_bits"] = cost_of(large, numerics::StateBits::bits32, folder / "moments");
    }
    training::treat_freed_memory(training::FreedMemory::kept);
    const Plan plan{number("--rounds"), number("--every")};
    bench::AccuracyRun run;
    run.model = model::model_preset("tiny").value();
    run.steps = number("--steps");
    run.learning_rate = 3e-3;
    run.threads = training::use_threads(number("--threads"));
    run.shard = folder / "shard";
    const bench::SplitText text = bench::split_text(options["--text"], run.model.context);
    std::ofstream(run.shard, std::ios::binary)
        << as_text(model::stored_tokens(text.training, model::token_width(run.model.vocabulary)));
    report["parameters"] = run.model.parameters();
    report["steps_per_round"] = run.steps;
    for (run.seed = 1; run.seed <= number("--seeds"); ++run.seed) {
        if (wanted("pauses")) {
            report["pauses"].push_back({{"seed", run.seed},
                                        {"none", with_pauses(run, text, folder, plan, After::nothing)},
                                        {"kept", with_pauses(run, text, folder, plan, After::kept)},
                                        {"fresh", with_pauses(run, text, folder, plan, After::fresh)}});
            std::fprintf(stderr, "%s\n", report["pauses"].back().dump().c_str());
        }
        if (wanted("moved")) {
            report["moved"].push_back(after_moves(run, text, folder, plan));
            std::fprintf(stderr, "%s\n", report["moved"].back().dump().c_str());
        }
    }
    fs::remove_all(folder);
    std::printf("%s\n", report.dump(2).c_str());
    if (options.contains("--report")) std::ofstream(options["--report"]) << report.dump(2) << '\n';
    return 0;
}

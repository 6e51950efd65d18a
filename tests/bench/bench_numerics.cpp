// Speed of core/numerics and of SHA-256 on one core, beside what this computer's memory allows.
//
//   bench_numerics [--report FILE] [--million N] [--only optimizer]
//
// Every figure is the best of several passes over N million parameters (default 64). The memory limits are measured in
// the same run: reading a float per parameter for the codec, reading one and writing one for F, and for an optimizer
// a loop that reads and writes the same arrays and does next to nothing with them. Step and limit take turns, and their
// share is the median over the turns, because other programs use the same memory. optimizer_python.py times PyTorch.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/merkle.h"
#include "core/base/sha256.h"
#include "core/base/sha256_blocks.h"
#include "core/numerics/codec/encoder.h"
#include "core/numerics/codec/plain_codec.h"
#include "core/numerics/optimizer/optimizer_parts.h"
#include "core/numerics/outer/outer_stepper.h"
#include "tests/golden/numerics_inputs.h"

namespace {

using namespace potluck;
using nlohmann::json;

constexpr std::uint32_t sent = 64;

/// Processor seconds of the fastest of `passes` calls; `prepare` runs before each and is not counted. Everything here
/// runs in one thread, so that this is the wall clock of a computer that does nothing else.
template <class Prepare, class Work>
double best_seconds(int passes, const Prepare& prepare, const Work& work) {
    double best = 1e30;
    for (int i = 0; i < passes; ++i) {
        prepare();
        const std::clock_t start = std::clock();
        work();
        best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return best;
}

double million_per_second(std::size_t count, double seconds) { return static_cast<double>(count) / seconds * 1e-6; }

void say(json& report, const std::string& name, double value, const char* unit) {
    std::printf("%-44s %10.4g %s\n", name.c_str(), value, unit);
    std::fflush(stdout);
    report[name] = {{"value", value}, {"unit", unit}};
}

/// How fast memory can be read: a sum that the compiler may not drop.
double read_seconds(const std::vector<float>& from) {
    volatile std::uint64_t sink = 0;
    return best_seconds(
        5, [] {},
        [&] {
            std::uint64_t sum[8] = {};
            const auto* at = reinterpret_cast<const char*>(from.data());
            for (std::size_t i = 0; i + 64 <= from.size() * 4; i += 64) {
                std::uint64_t words[8];
                std::memcpy(words, at + i, 64);
                for (int l = 0; l < 8; ++l) sum[l] ^= words[l];
            }
            for (const std::uint64_t part : sum) sink = sink + part;
        });
}

struct Stage {
    std::vector<float> source;
    std::vector<float> error;
    std::vector<float> target;
};

void measure_codec(json& report, Stage& stage, const char* kind) {
    const std::size_t count = stage.source.size();
    const auto restore = [&] { stage.error = stage.source; };
    std::vector<std::byte> payload;
    const std::string prefix = std::string(kind) + " ";
    for (const Isa path : {Isa::baseline, Isa::avx2, Isa::avx512}) {
        if (!available(path)) continue;
        const double taken =
            best_seconds(3, restore, [&] { payload = numerics::encode_with(path, stage.error, sent, 1); });
        say(report, prefix + "encode " + name_of(path), million_per_second(count, taken), "M param/s/core");
    }
    const double encode = best_seconds(5, restore, [&] { payload = numerics::encode(stage.error, sent, 1); });
    numerics::PayloadView view;
    const double parse = best_seconds(
        5, [] {},
        [&] {
            if (numerics::PayloadView::parse(payload, count, sent, view) != numerics::PayloadFault::none) std::abort();
        });
    const double decode = best_seconds(
        5, [] {}, [&] { numerics::add_decoded(stage.target, view, -1.0F, 1); });
    say(report, prefix + "encode", million_per_second(count, encode), "M param/s/core");
    say(report, prefix + "parse", million_per_second(count, parse), "M param/s/core");
    say(report, prefix + "decode and add", million_per_second(count, decode), "M param/s/core");
    const double all = encode + parse + decode;
    say(report, prefix + "encode + parse + decode", million_per_second(count, all), "M param/s/core");
    const double bits = static_cast<double>(payload.size()) * 8 / static_cast<double>(count);
    say(report, prefix + "payload", bits, "bit/param");
}

void measure_plain_codec(json& report) {
    const std::vector<float> source = inputs::make(inputs::Kind::bell, 4 * numerics::group_size, 2);
    std::vector<float> error;
    const double taken = best_seconds(
        2, [&] { error = source; },
        [&] {
            if (numerics::encode_plain(error, sent).empty()) std::abort();
        });
    say(report, "encode plain", million_per_second(source.size(), taken), "M param/s/core");
}

struct StepCase {
    std::size_t payloads = 0;
    std::uint32_t k = sent;
    numerics::RobustRule rule = numerics::RobustRule::mean;
};

void measure_step(json& report, Stage& stage, StepCase of) {
    const std::size_t payloads = of.payloads;
    const std::size_t count = stage.source.size();
    std::vector<std::vector<std::byte>> bytes(payloads);
    std::vector<numerics::PayloadView> views(payloads);
    std::vector<numerics::WeightedPayload> list;
    for (std::size_t i = 0; i < payloads; ++i) {
        // Another stretch of the same numbers for each, so that the payloads differ.
        std::rotate_copy(stage.source.begin(), stage.source.begin() + static_cast<std::ptrdiff_t>(i * 10'007),
                         stage.source.end(), stage.error.begin());
        bytes[i] = numerics::encode(stage.error, of.k, 1);
        if (numerics::PayloadView::parse(bytes[i], count, of.k, views[i]) != numerics::PayloadFault::none) std::abort();
        list.push_back({.payload = &views[i], .weight = 1000 + i});
    }
    const bool is_mean = of.rule == numerics::RobustRule::mean;
    const numerics::OuterStep step{.robust = of.rule};
    std::string name = "F of " + std::to_string(payloads) + " payloads";
    if (of.k != sent) name += ", k = " + std::to_string(of.k);
    if (!is_mean) name += ", CenteredClip";
    for (const Isa path : {Isa::baseline, Isa::avx2, Isa::avx512}) {
        if (!available(path)) continue;
        const double taken = best_seconds(
            3, [] {}, [&] { numerics::apply_outer_step_with(path, stage.source, stage.target, list, step, 1); });
        say(report, name + " " + name_of(path), million_per_second(count, taken), "M param/s/core");
    }
    if (!is_mean) return;  // the plain version holds every payload in full
    const auto first = std::span<const float>(stage.source).first(count);
    const double plain = best_seconds(
        1, [] {}, [&] { numerics::apply_outer_step_plain(first, stage.target, list, {}); });
    say(report, name + " plain", million_per_second(count, plain), "M param/s/core");
}

struct OptimizerStage {
    std::vector<float> parameters, gradient;
    numerics::OptimizerState state;
    std::uint64_t step = 0;
};

/// Reads and writes what a step of `stage` does: a limit of memory alone.
double touch_seconds(OptimizerStage& stage) {
    const auto moments = stage.state.moments(0);
    const auto flip = [](auto values, std::size_t at, std::size_t count) {
        // 64 bits at a time, so that the compiler's choice of vectors does not matter.
        auto* bytes = reinterpret_cast<unsigned char*>(values.data() + at);
        for (std::size_t i = 0; i < count * sizeof(values[0]); i += 8) {
            std::uint64_t word;
            std::memcpy(&word, bytes + i, 8);
            word ^= 1;
            std::memcpy(bytes + i, &word, 8);
        }
    };
    return best_seconds(
        1, [] {},
        [&] {
            for (std::size_t at = 0; at < stage.parameters.size(); at += 4096) {
                for (std::size_t i = at; i < at + 4096; ++i) stage.parameters[i] += stage.gradient[i];
                if (moments.mean.empty()) {
                    flip(moments.mean_codes, at, 4096);
                    flip(moments.variance_codes, at, 4096);
                } else {
                    flip(moments.mean, at, 4096);
                    flip(moments.variance, at, 4096);
                }
            }
        });
}

void measure_optimizer(json& report, std::size_t count, numerics::OptimizerKind kind, numerics::StateBits bits) {
    using enum numerics::OptimizerKind;
    OptimizerStage stage{.parameters = inputs::make(inputs::Kind::bell, count, 3),
                         .gradient = inputs::make(inputs::Kind::clustered, count, 4),
                         .state = numerics::OptimizerState({{0, count, 0.1F}}, bits)};
    const bool coded = bits == numerics::StateBits::bits8;
    const std::string name = std::string(coded ? "8-bit " : "fp32 ") + (kind == adamw ? "AdamW" : "LAMB");
    const auto seconds = [&](Isa path) {
        const numerics::StepHyperparams settings{.kind = kind, .learning_rate = 1e-3, .step = ++stage.step};
        return best_seconds(
            1, [] {},
            [&] {
                numerics::optimizer_step_with<float, float>(path, stage.state, 0, 1, stage.parameters, stage.gradient,
                                                            settings, 1);
            });
    };
    seconds(isa_in_use());
    for (const Isa path : {Isa::baseline, Isa::avx2}) {
        if (!available(path) || path == isa_in_use()) continue;
        const double taken = std::min(seconds(path), seconds(path));
        say(report, name + " " + name_of(path), million_per_second(count, taken), "M param/s/core");
    }
    double step = 1e30, touch = 1e30;
    std::vector<double> shares;
    for (int turn = 0; turn < 7; ++turn) {
        const double limit = touch_seconds(stage), taken = seconds(isa_in_use());
        shares.push_back(limit / taken);
        step = std::min(step, taken);
        touch = std::min(touch, limit);
    }
    std::ranges::sort(shares);
    const double bytes = 12 + 2 * static_cast<double>(stage.state.bytes()) / static_cast<double>(count);
    say(report, name, million_per_second(count, step), "M param/s/core");
    say(report, name + " moves", bytes, "byte/param");
    say(report, name + " memory limit", million_per_second(count, touch), "M param/s/core");
    say(report, name + " of its limit", 100 * shares[shares.size() / 2], "%");
}

void measure_optimizers(json& report, std::size_t count) {
    using enum numerics::StateBits;
    measure_optimizer(report, count, numerics::OptimizerKind::adamw, bits8);
    measure_optimizer(report, count, numerics::OptimizerKind::adamw, bits32);
    measure_optimizer(report, count, numerics::OptimizerKind::lamb, bits8);
}

void measure_hash(json& report, const Stage& stage) {
    const auto bytes = std::as_bytes(std::span(stage.source));
    const double size = static_cast<double>(bytes.size()) * 1e-9;
    const auto hash = [&] {
        if (sha256(bytes).is_zero()) std::abort();
    };
    const auto root = [&] {
        if (merkle_root(bytes, 1).is_zero()) std::abort();
    };
    const auto plain = [&] {
        sha256_blocks::State state = sha256_blocks::initial_state;
        sha256_blocks::compress_plain(state, bytes.data(), bytes.size() / 64);
        if (state[0] == 0 && state[1] == 0) std::abort();
    };
    say(report, "SHA-256",
        size / best_seconds(
                   3, [] {}, hash),
        "GB/s/core");
    say(report, "SHA-256 plain",
        size / best_seconds(
                   2, [] {}, plain),
        "GB/s/core");
    say(report, "file root",
        size / best_seconds(
                   3, [] {}, root),
        "GB/s/core");
}

void measure_all(json& report, std::size_t count) {
    Stage stage;
    stage.source = inputs::make(inputs::Kind::bell, count, 1);
    stage.error = stage.source;
    stage.target = stage.source;
    say(report, "memory read limit", million_per_second(count, read_seconds(stage.source)), "M param/s/core");
    const double copy = best_seconds(
        5, [] {}, [&] { std::memcpy(stage.target.data(), stage.source.data(), count * sizeof(float)); });
    say(report, "memcpy limit", million_per_second(count, copy), "M param/s/core");
    measure_codec(report, stage, "bell");
    measure_step(report, stage, {.payloads = 4});
    measure_step(report, stage, {.payloads = 16});
    measure_step(report, stage, {.payloads = 16, .k = numerics::sent_max});
    for (const std::uint32_t k : {sent, numerics::sent_max}) {
        measure_step(report, stage, {.payloads = 16, .k = k, .rule = numerics::RobustRule::centered_clip});
    }
    measure_hash(report, stage);
    stage.source = inputs::make(inputs::Kind::clustered, count, 1);
    measure_codec(report, stage, "clustered");
    measure_plain_codec(report);
}

}  // namespace

int main(int argc, char** argv) {
    std::string report_file;
    std::size_t million = 64;
    bool all = true;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (std::string_view(argv[i]) == "--report") report_file = argv[i + 1];
        if (std::string_view(argv[i]) == "--million") million = std::clamp(std::atol(argv[i + 1]), 1L, 4096L);
        if (std::string_view(argv[i]) == "--only") all = std::string_view(argv[i + 1]) != "optimizer";
    }
    json report;
    measure_optimizers(report, million << 20U);
    if (all) measure_all(report, million << 20U);
    if (report_file.empty()) return 0;
    std::ofstream(report_file) << report.dump(2) << '\n';
    return 0;
}

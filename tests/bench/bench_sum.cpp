// What the sum of a round costs a swarm whose members all run on this computer: from each one's movement to everybody's
// next state, over real sessions on 127.0.0.1.
//
//   bench_sum [--report FILE] [--members N] [--parameters N]
//
//   coded   all encode and publish; one fetches all payloads, makes the step and publishes it; the others fetch that
//   exact   all encode and publish; everybody fetches all payloads and adds them up
//
// Agreement is left out, as are the messages that name payloads and step. Figures: median of three rounds, after one
// that counts for nothing.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include "core/numerics/codec/sparse_codec.h"
#include "core/numerics/outer/step_code.h"
#include "tests/integration/swarm_fixture.h"

namespace {

using namespace potluck;
using namespace potluck::net;
using nlohmann::json;
using Clock = std::chrono::steady_clock;
using Vector = std::vector<float>;

constexpr int rounds = 3;
constexpr int patience_ms = 120'000;

enum class Form { coded, exact };

class Bench {
public:
    Bench(std::size_t members, std::size_t parameters) : m_theta(parameters), m_next(members, Vector(parameters)) {
        m_room.open(members);
        POTLUCK_CHECK(m_room.wait([&] { return m_room[0].swarm->neighbours().size() + 1 == members; }, patience_ms));
        POTLUCK_CHECK(m_room.wait_until_all_know_each_other());
    }

    /// Seconds and bytes of one round.
    struct Cost {
        double seconds = 0;
        std::uint64_t payload_bytes = 0, step_bytes = 0;
    };

    [[nodiscard]] Cost round(Form form, std::uint32_t k) {
        std::vector<Vector> movements = drawn();
        Cost cost;
        const auto began = Clock::now();
        std::vector<run::BlobRef> payloads;
        for (std::size_t i = 0; i < movements.size(); ++i) {
            payloads.push_back(m_room[i].swarm->publish(numerics::encode(movements[i], k, m_threads)).value());
            cost.payload_bytes += payloads.back().size;
        }
        if (form == Form::coded) {
            cost.step_bytes = take_step(payloads);
        } else {
            for (std::size_t i = 0; i < size(); ++i) ask(i, payloads);
            for (std::size_t i = 0; i < size(); ++i) add_up(i, payloads, Form::exact);
        }
        cost.seconds = std::chrono::duration<double>(Clock::now() - began).count();
        for (std::size_t i = 1; i < size(); ++i) POTLUCK_CHECK(m_next[i] == m_next[0]);
        for (const run::BlobRef& one : payloads) forget(one);
        return cost;
    }

private:
    [[nodiscard]] std::size_t size() const { return m_next.size(); }

    std::vector<Vector> drawn() {
        std::vector<Vector> movements(size(), Vector(m_theta.size()));
        for (Vector& movement : movements) {
            for (float& one : movement) one = static_cast<float>(m_rng.unit() - 0.5) * 1e-3F;
        }
        return movements;
    }

    void ask(std::size_t member, const std::vector<run::BlobRef>& blobs) {
        Computer& computer = m_room[member];
        for (const run::BlobRef& ref : blobs) {
            computer.swarm->fetch(
                ref, {.sources = computer.swarm->neighbours(), .deadline = {}, .damaged_copy = {}, .layer = {}});
        }
    }

    [[nodiscard]] peer::BlobPointer taken(std::size_t member, const run::BlobRef& ref) {
        const Computer& computer = m_room[member];
        POTLUCK_CHECK(m_room.wait([&] { return computer.swarm->blob(ref.root) != nullptr; }, patience_ms));
        return computer.swarm->blob(ref.root);
    }

    /// The member's next state of all payloads, once they are here; of a coded round the step.
    Bytes add_up(std::size_t member, const std::vector<run::BlobRef>& payloads, Form form) {
        std::vector<peer::BlobPointer> blobs;
        std::vector<numerics::PayloadView> views(payloads.size());
        std::vector<numerics::WeightedPayload> list;
        for (std::size_t i = 0; i < payloads.size(); ++i) {
            blobs.push_back(taken(member, payloads[i]));
            POTLUCK_CHECK(numerics::PayloadView::parse(blobs[i]->bytes(), m_theta.size(), numerics::sent_max,
                                                       views[i]) == numerics::PayloadFault::none);
            list.push_back({.payload = &views[i], .weight = 1'000 + i});
        }
        const numerics::OuterStep step{.form =
                                           form == Form::coded ? numerics::StepForm::coded : numerics::StepForm::exact};
        if (form == Form::coded) return numerics::apply_coded_step(m_theta, m_next[member], list, step, m_threads);
        numerics::apply_outer_step(m_theta, m_next[member], list, step, m_threads);
        return {};
    }

    /// The first member adds up, the others take its step, which is so many bytes long.
    std::uint64_t take_step(const std::vector<run::BlobRef>& payloads) {
        ask(0, payloads);
        const run::BlobRef step = m_room[0].swarm->publish(add_up(0, payloads, Form::coded)).value();
        for (std::size_t i = 1; i < size(); ++i) ask(i, {step});
        for (std::size_t i = 1; i < size(); ++i) {
            const peer::BlobPointer blob = taken(i, step);
            numerics::StepView view;
            POTLUCK_CHECK(numerics::StepView::parse(blob->bytes(), m_theta.size(), view) ==
                          numerics::PayloadFault::none);
            numerics::apply_step(m_theta, m_next[i], view, numerics::OuterStep().alpha, m_threads);
        }
        forget(step);
        return step.size;
    }

    void forget(const run::BlobRef& ref) {
        for (const auto& computer : m_room.computers) computer->swarm->forget(ref.root);
    }

    const unsigned m_threads = std::max(1U, std::thread::hardware_concurrency());
    Rng m_rng{1};
    Vector m_theta;
    std::vector<Vector> m_next;  // of each member
    Room m_room;
};

json told(Bench& bench, std::uint32_t k) {
    json figures{{"k", k}};
    std::array<double, 2> medians{};
    for (const Form form : {Form::coded, Form::exact}) {
        std::vector<double> seconds;
        for (int i = 0; i <= rounds; ++i) {
            const Bench::Cost cost = bench.round(form, k);
            if (i > 0) seconds.push_back(cost.seconds);
            figures["payload_bytes"] = cost.payload_bytes;
            if (form == Form::coded) figures["step_bytes"] = cost.step_bytes;
        }
        std::ranges::sort(seconds);
        medians[static_cast<std::size_t>(form)] = seconds[seconds.size() / 2];
    }
    figures["coded_seconds"] = medians[0];
    figures["exact_seconds"] = medians[1];
    figures["exact_over_coded"] = medians[1] / medians[0];
    return figures;
}

}  // namespace

int main(int argc, char** argv) {
    std::string report;
    std::size_t members = 16, parameters = 2'375'000;  // 9.5 MB in fp32
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string option = argv[i];
        if (option == "--report") report = argv[i + 1];
        if (option == "--members") members = std::stoul(argv[i + 1]);
        if (option == "--parameters") parameters = std::stoul(argv[i + 1]);
    }
    Bench bench(members, parameters);
    json figures{{"members", members}, {"parameters", parameters}, {"densities", json::array()}};
    for (const std::uint32_t k : {64U, 256U, 4096U}) figures["densities"].push_back(told(bench, k));
    std::cout << figures.dump(2) << '\n';
    if (!report.empty()) std::ofstream(report) << figures.dump(2) << '\n';
    return 0;
}

// A swarm in one process whose contributions are measured as a juror measures them: members with the product's trainer,
// error feedback, codec and F, one after the other, and beside them those who do not work. Each round every honest
// member's payload is measured, and for some members what attackers would have sent in their place. Attackers move
// nothing: what is asked here is how they look beside honest work, not what they do to a model.
//
// Data is text as bytes (decoders), pairs of such texts (encoders), drawn pictures (picture coders), striped ones
// (embedders) or captions with codes that follow from them (drawers), cut into as many shards as there are members.
// Members differ in speed, as computers do.
//
// Threads: one caller.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/model/traits.h"
#include "core/numerics/outer/outer_step.h"
#include "core/run/sample_order.h"
#include "core/training/judge.h"
#include "tests/bench/optimizer_accuracy.h"

namespace potluck::bench {

struct JuryRun {
    std::string name;
    model::ModelSpec model;
    run::Recipe recipe;
    training::Dtype matmul = training::Dtype::fp32;
    std::uint64_t steps = 10;  // of an ordinary member in a round
    std::uint64_t seed = 1;
    std::uint64_t attacked = 2;  // members of a round whose attackers are measured
    std::filesystem::path folder;
    std::filesystem::path text;
};

/// Shares of an ordinary member's steps.
inline constexpr std::array speeds{0.5, 0.8, 1.0, 1.0, 1.0, 1.0, 1.5, 2.0};
inline constexpr std::size_t judged_records = 16;
inline constexpr double copy_noise = 0.5;  // of the copied payload's norm
inline constexpr std::uint64_t lazy_part = 10;

class JurySwarm {
public:
    JurySwarm(const JuryRun& run, std::FILE* out) : m_run(run), m_out(out), m_rng(run.seed), m_theta(parameters()) {
        model::fill_initial_state(run.model, run.seed, m_theta);
        write_shards();
        for (std::size_t i = 0; i < speeds.size(); ++i) m_members.push_back(member(i));
        // Who trains on one batch, and on text that makes no sense, has a trainer of its own.
        m_repeating.push_back(member(0));
        m_shuffled.push_back(member(0));
        m_juror.push_back(training::Trainer::create(setup()).value());
    }

    void play() {
        for (m_round = 0; m_round < m_run.recipe.total_rounds; ++m_round) {
            std::vector<std::vector<std::byte>> payloads;
            for (Member& one : m_members) payloads.push_back(window(one, shard_of(one.number), ordinary(one.number)));
            const std::size_t victim = m_round % m_members.size();
            const auto repeated = window(m_repeating.front(), "repeated", ordinary(2));
            const auto shuffled = window(m_shuffled.front(), "shuffled", ordinary(2));
            measure(payloads, victim, repeated, shuffled);
            step(payloads);
            m_before = std::move(payloads);
        }
    }

private:
    using Payload = std::vector<std::byte>;
    struct Member {
        explicit Member(training::Trainer made) : trainer(std::move(made)) {}
        training::Trainer trainer;
        std::size_t number = 0;
        std::vector<float> error;
        Payload lazy;  // of the first tenth of its steps
    };
    struct Row {
        std::string kind;
        std::size_t member = 0;
        double share = 1;
    };

    [[nodiscard]] std::size_t parameters() const { return static_cast<std::size_t>(m_run.model.parameters()); }
    [[nodiscard]] std::string path(const std::string& name) const { return (m_run.folder / name).string(); }
    [[nodiscard]] static std::string shard_of(std::size_t member) { return "shard" + std::to_string(member); }
    [[nodiscard]] std::uint64_t ordinary(std::size_t member) const {
        return std::max<std::uint64_t>(1, std::llround(speeds[member] * static_cast<double>(m_run.steps)));
    }
    [[nodiscard]] static PeerId peer(std::size_t member) {
        PeerId id;
        id.bytes[0] = static_cast<std::byte>(member + 1);
        return id;
    }
    [[nodiscard]] training::TrainerSetup setup() const {
        training::TrainerSetup setup{.model = m_run.model, .recipe = m_run.recipe, .threads = 1};
        setup.layout.micro_batch = std::max(8U, model::records_together(m_run.model));
        setup.layout.matmul = m_run.matmul;
        setup.layout.state_bits = m_run.recipe.state_bits;
        setup.pace = training::Pace::exact;
        return setup;
    }
    [[nodiscard]] Member member(std::size_t number) const {
        Member made(training::Trainer::create(setup()).value());
        POTLUCK_CHECK(made.trainer.start_from(m_theta).ok());
        made.number = number;
        made.error.assign(parameters(), 0.0F);
        return made;
    }

    [[nodiscard]] std::vector<model::Token> records() {
        if (model::is_embedder(m_run.model)) return stripes();
        if (model::is_drawer(m_run.model)) return captions();
        if (model::reads_pictures(m_run.model)) return pictures();
        if (model::is_encoder(m_run.model)) return pairs();
        return split_text(m_run.text, m_run.model.context).training;
    }
    /// A square on a plain ground.
    [[nodiscard]] std::vector<model::Token> pictures() {
        const std::uint32_t side = m_run.model.coder.side;
        std::vector<model::Token> all;
        for (int i = 0; i < 8'000; ++i) {
            std::array<std::uint64_t, 3> ground{}, square{};
            for (auto& value : ground) value = m_rng.below(256);
            for (auto& value : square) value = m_rng.below(256);
            const std::uint64_t x = m_rng.below(side), y = m_rng.below(side), size = 2 + m_rng.below(side / 2);
            for (std::uint64_t row = 0; row < side; ++row)
                for (std::uint64_t column = 0; column < side; ++column)
                    for (std::size_t c = 0; c < 3; ++c) {
                        const bool inside = row >= y && row < y + size && column >= x && column < x + size;
                        all.push_back(static_cast<model::Token>(inside ? square[c] : ground[c]));
                    }
            all.push_back(0);
        }
        return all;
    }
    /// Stripes of one of eight directions and two colours, with noise; the class is not told.
    [[nodiscard]] std::vector<model::Token> stripes() {
        const std::uint32_t side = m_run.model.swav.side;
        std::vector<model::Token> all;
        for (int i = 0; i < 8'000; ++i) {
            const double angle = static_cast<double>(m_rng.below(8)) * std::numbers::pi / 8;
            const double wide = 2 + 2 * m_rng.unit(), shift = 8 * m_rng.unit();
            std::array<std::array<std::uint64_t, 3>, 2> colours{};
            for (auto& colour : colours)
                for (auto& value : colour) value = m_rng.below(240);
            for (std::uint32_t row = 0; row < side; ++row)
                for (std::uint32_t column = 0; column < side; ++column) {
                    const double at = (row * std::cos(angle) + column * std::sin(angle) + shift) / wide;
                    const auto& colour = colours[static_cast<std::size_t>(std::floor(at)) & 1U];
                    for (const std::uint64_t value : colour)
                        all.push_back(static_cast<model::Token>(value + m_rng.below(16)));
                }
            all.push_back(0);
        }
        return all;
    }
    /// Three words of eight each; nine of ten codes are what the words say of their place.
    [[nodiscard]] std::vector<model::Token> captions() {
        const model::DalleShape& shape = m_run.model.dalle;
        const std::uint64_t codes = m_run.model.vocabulary - shape.text_vocabulary;
        std::vector<model::Token> all;
        for (int i = 0; i < 16'000; ++i) {
            std::array<std::uint64_t, 3> words{};
            for (auto& word : words) word = m_rng.below(8);
            all.push_back(model::dalle_begin);
            for (std::uint32_t at = 0; at < shape.text; ++at)
                all.push_back(
                    static_cast<model::Token>(at < words.size() ? 2 + 8 * at + words[at] : model::dalle_fill));
            for (std::uint64_t place = 0; place < std::uint64_t{shape.grid} * shape.grid; ++place) {
                const std::uint64_t said = (words[0] * 5 + words[1] * (place / shape.grid) + words[2] * place) % codes;
                const std::uint64_t code = m_rng.below(10) > 0 ? said : m_rng.below(codes);
                all.push_back(static_cast<model::Token>(shape.text_vocabulary + code));
            }
        }
        return all;
    }
    /// Bytes above the marks.
    [[nodiscard]] std::vector<model::Token> pairs() const {
        const model::TextMarks marks = *model::text_marks(m_run.model);
        const std::uint32_t context = m_run.model.context, half = (context - 3) / 2;
        const SplitText text = split_text(m_run.text, 2 * half - 1);
        std::vector<model::Token> all;
        for (std::size_t begin = 0; begin + 2 * half <= text.training.size(); begin += 2 * half) {
            all.push_back(static_cast<model::Token>(marks.cls));
            for (std::size_t i = 0; i < 2 * half; ++i) {
                if (i == half) all.push_back(static_cast<model::Token>(marks.sep));
                all.push_back(5 + text.training[begin + i] % 250);
            }
            all.push_back(static_cast<model::Token>(marks.sep));
            all.resize(all.size() + context + 1 - (2 * half + 3), static_cast<model::Token>(marks.pad));
        }
        return all;
    }

    void write_shards() {
        const std::size_t length = m_run.model.context + 1;
        std::vector<model::Token> all = records();
        m_records = std::min<std::uint64_t>(all.size() / length / speeds.size(), 4'096);
        // Neighbouring text is alike: a shard takes every so many-th record.
        std::vector<std::vector<model::Token>> shards(speeds.size());
        for (std::size_t record = 0; record < m_records * speeds.size(); ++record) {
            const auto from = all.begin() + static_cast<std::ptrdiff_t>(record * length);
            auto& shard = shards[record / 64 % speeds.size()];
            if (shard.size() < m_records * length)
                shard.insert(shard.end(), from, from + static_cast<std::ptrdiff_t>(length));
        }
        for (const auto& shard : shards) m_records = std::min<std::uint64_t>(m_records, shard.size() / length);
        for (std::size_t i = 0; i < shards.size(); ++i) {
            shards[i].resize(m_records * length);
            write(shard_of(i), shards[i]);
        }
        std::vector<model::Token> repeated;
        for (std::size_t record = 0; record < m_records; ++record) {
            const auto from = shards[2].begin() + static_cast<std::ptrdiff_t>(record % m_run.recipe.batch * length);
            repeated.insert(repeated.end(), from, from + static_cast<std::ptrdiff_t>(length));
        }
        write("repeated", repeated);
        // Tokens change places within a record, but for an encoder's marks, a picture's class and what may only stand
        // before a picture's codes.
        std::vector<model::Token> shuffled = shards[2];
        const bool keeps_marks = model::is_encoder(m_run.model);
        const std::size_t fixed = model::is_drawer(m_run.model) ? m_run.model.dalle.text + 1 : 0;
        for (std::size_t record = 0; record < m_records; ++record)
            for (std::size_t i = length - 1; i > fixed; --i) {
                model::Token& one = shuffled[record * length + i];
                model::Token& other = shuffled[record * length + fixed + m_rng.below(i - fixed + 1)];
                if (keeps_marks && (one < 5 || other < 5)) continue;
                if (model::reads_pictures(m_run.model) && i == length - 1) continue;
                std::swap(one, other);
            }
        write("shuffled", shuffled);
    }
    void write(const std::string& name, const std::vector<model::Token>& tokens) const {
        std::ofstream(path(name), std::ios::binary)
            << as_text(model::stored_tokens(tokens, model::token_width(m_run.model.vocabulary)));
    }

    [[nodiscard]] Payload encoded(std::vector<float> values) const {
        return numerics::encode(values, m_run.recipe.k, 1);
    }
    [[nodiscard]] std::vector<float> decoded(const Payload& payload) const {
        std::vector<float> values(parameters(), 0.0F);
        numerics::PayloadView view;
        POTLUCK_CHECK(numerics::PayloadView::parse(payload, parameters(), m_run.recipe.k, view) ==
                      numerics::PayloadFault::none);
        numerics::add_decoded(values, view, 1, 1);
        return values;
    }

    /// One member's window from theta on. What of its moments and error feedback remains is its own.
    [[nodiscard]] Payload window(Member& one, const std::string& shard, std::uint64_t steps) {
        write_vector("theta", m_theta);
        POTLUCK_CHECK(one.trainer.rebase({path("theta"), 0}).ok());
        const training::TrainingPlace place{.key = {m_run.seed, {m_round}, peer(one.number)},
                                            .shard_path = path(shard),
                                            .records = m_records,
                                            .learning_rate = run::learning_rate_at(m_run.recipe, m_round)};
        POTLUCK_CHECK(one.trainer.train_in(place).ok());
        const std::uint64_t lazy = std::max<std::uint64_t>(1, steps / lazy_part);
        while (one.trainer.totals().steps < steps) {
            POTLUCK_CHECK(one.trainer.micro_step().ok());
            if (one.trainer.totals().steps == lazy) one.lazy = encoded(movement(one));
        }
        const std::vector<float> moved = movement(one);
        POTLUCK_CHECK(one.trainer.snapshot({path("local"), 0}).ok());
        for (std::size_t i = 0; i < moved.size(); ++i)
            one.error[i] = m_run.recipe.error_decay * one.error[i] + moved[i];
        return numerics::encode(one.error, m_run.recipe.k, 1);
    }
    [[nodiscard]] std::vector<float> movement(const Member& one) const {
        std::vector<float> moved = one.trainer.parameters();
        for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = m_theta[i] - moved[i];
        return moved;
    }
    void write_vector(const std::string& name, std::span<const float> values) const {
        std::ofstream(path(name), std::ios::binary) << as_text(std::as_bytes(values));
    }

    /// The members' payloads as F takes them; `views` are what it points to.
    [[nodiscard]] std::vector<numerics::WeightedPayload> listed(const std::vector<Payload>& payloads,
                                                                std::vector<numerics::PayloadView>& views) const {
        views.resize(payloads.size());
        std::vector<numerics::WeightedPayload> list;
        for (std::size_t i = 0; i < payloads.size(); ++i) {
            POTLUCK_CHECK(numerics::PayloadView::parse(payloads[i], parameters(), m_run.recipe.k, views[i]) ==
                          numerics::PayloadFault::none);
            list.push_back({.payload = &views[i], .weight = ordinary(i)});
        }
        return list;
    }
    void step(const std::vector<Payload>& payloads) {
        std::vector<numerics::PayloadView> views;
        numerics::apply_outer_step(m_theta, m_theta, listed(payloads, views), m_run.recipe.outer, 1);
    }

    [[nodiscard]] static double norm_of(const std::vector<float>& values) {
        double squares = 0;
        for (const float value : values) squares += static_cast<double>(value) * static_cast<double>(value);
        return std::sqrt(squares);
    }
    /// Noise of this norm after it was coded.
    [[nodiscard]] std::vector<float> noise(double norm) {
        std::vector<float> values(parameters());
        for (float& value : values) {
            double sum = -6;
            for (int i = 0; i < 12; ++i) sum += m_rng.unit();
            value = static_cast<float>(sum);
        }
        const double sent = norm_of(decoded(encoded(values)));
        for (float& value : values) value = static_cast<float>(static_cast<double>(value) * norm / sent);
        return values;
    }

    /// Claims the work of `member`, with records from all over what that says it trained on, and as many that it did
    /// not.
    void ask(control::JudgeRequest& request, std::vector<Row>& rows, const std::string& kind, std::size_t member,
             const Payload& payload) {
        control::JudgeSubject subject{
            path("payload" + std::to_string(rows.size())), path(shard_of(member)), m_records, {}, {}};
        const std::uint64_t claimed = ordinary(member) * m_run.recipe.batch;
        std::set<std::uint64_t> trained;
        for (std::uint64_t n = 0; n < claimed; ++n)
            trained.insert(run::record_at(m_run.seed, {m_round}, peer(member), m_records, n));
        for (std::size_t i = 0; i < judged_records; ++i) {
            const std::uint64_t n =
                i * claimed / judged_records + m_rng.below(std::max<std::uint64_t>(1, claimed / judged_records));
            subject.own.push_back(run::record_at(m_run.seed, {m_round}, peer(member), m_records, n));
        }
        while (trained.size() < m_records && subject.other.size() < judged_records) {
            const std::uint64_t index = m_rng.below(m_records);
            if (!trained.contains(index)) subject.other.push_back(index);
        }
        std::ofstream(subject.payload, std::ios::binary) << as_text(payload);
        request.subjects.push_back(std::move(subject));
        rows.push_back({kind, member, speeds[member]});
    }

    void measure(const std::vector<Payload>& payloads, std::size_t victim, const Payload& repeated,
                 const Payload& shuffled) {
        write_vector("theta", m_theta);
        std::vector<numerics::PayloadView> views;
        control::JudgeRequest request;
        request.state.path = path("theta");
        request.norm_max = numerics::norm_max(listed(payloads, views), m_run.recipe.outer);
        std::vector<Row> rows;
        for (std::size_t i = 0; i < payloads.size(); ++i) ask(request, rows, "honest", i, payloads[i]);
        for (std::uint64_t i = 0; i < m_run.attacked; ++i) {
            const std::size_t at = (victim + i * 3) % payloads.size(), next = (at + 1) % payloads.size();
            std::vector<float> values = decoded(payloads[at]);
            const double norm = norm_of(values);
            ask(request, rows, "noise", at, encoded(noise(norm)));
            if (i == 0) ask(request, rows, "zero", at, encoded(std::vector<float>(parameters(), 0.0F)));
            for (float& value : values) value = -value;
            ask(request, rows, "flipped", at, encoded(values));
            if (!m_before.empty()) ask(request, rows, "copy of the round before", at, m_before[next]);
            if (!m_before.empty()) ask(request, rows, "own payload again", at, m_before[at]);
            std::vector<float> copied = decoded(payloads[next]);
            const std::vector<float> added = noise(copy_noise * norm_of(copied));
            for (std::size_t n = 0; n < copied.size(); ++n) copied[n] += added[n];
            ask(request, rows, "copy of this round with noise", at, encoded(copied));
            ask(request, rows, "another shard", at, payloads[next]);
            ask(request, rows, "a tenth of the steps", at, m_members[at].lazy);
        }
        ask(request, rows, "one batch again and again", 2, repeated);
        ask(request, rows, "shuffled tokens", 2, shuffled);
        training::Judge judge = training::Judge::open(m_juror.front().setup(), request).value();
        while (!judge.finished()) POTLUCK_CHECK(judge.step().ok());
        for (const control::MeasuredRow& row : judge.results().rows) {
            const Row& of = rows[row.subject];
            const bool all = request.subjects[row.subject].other.empty();
            std::fprintf(m_out, "%s,%llu,%llu,%s,%zu,%g,%.9g,", m_run.name.c_str(),
                         static_cast<unsigned long long>(m_run.seed), static_cast<unsigned long long>(m_round),
                         of.kind.c_str(), of.member, of.share, row.own);
            all ? std::fprintf(m_out, "\n") : std::fprintf(m_out, "%.9g\n", row.other);
        }
        std::fflush(m_out);
    }

    JuryRun m_run;
    std::FILE* m_out;
    Rng m_rng;
    std::uint64_t m_round = 0, m_records = 0;
    std::vector<float> m_theta;
    std::vector<Member> m_members, m_repeating, m_shuffled;
    std::vector<training::Trainer> m_juror;
    std::vector<Payload> m_before;
};

}  // namespace potluck::bench

// A run whose memory is measured: a model of a family, records that it takes, and the trainer's requests for both.
//
// Does not: start a trainer (trainer_child.h) or judge what it took.
// Threads: one. Owns: a folder with state and shard.
#pragma once

#include <QTemporaryDir>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "core/control/trainer_protocol.h"
#include "core/model/initial_state.h"
#include "core/model/presets.h"
#include "core/run/recipe.h"
#include "tests/integration/trainer_child.h"

namespace potluck::tests {

inline constexpr std::uint64_t mebibyte = 1ULL << 20U;

struct MeasuredRun {
    static constexpr std::uint64_t records = 64;

    QTemporaryDir folder;
    model::ModelSpec model;
    run::Recipe recipe;
    control::VectorFile state{folder.filePath("state").toStdString(), 0};
    std::string shard = folder.filePath("shard").toStdString();

    MeasuredRun(const model::ModelSpec& measured, std::uint32_t batch) : model(measured) {
        recipe.batch = batch;
        write();
    }
    /// A small model, large enough that weights, moments and activations each weigh as much as the program itself.
    /// `deep`: a narrow DALL-E of many layers, whose streams weigh as much as all else, or SwAV's network of 50.
    explicit MeasuredRun(model::Family family = model::Family::gpt2, bool deep = false)
        : MeasuredRun(small_model(family, deep), family == model::Family::dalle  ? 4
                                                 : family == model::Family::swav ? 32
                                                                                 : 8) {}
    static model::ModelSpec small_model(model::Family family, bool deep) {
        model::ModelSpec model;
        model.family = family;
        model.vocabulary = 8192;
        model.context = 256;
        model.layers = 8;
        model.heads = 8;
        model.width = 512;
        if (family == model::Family::llama) {
            model.activation = model::Activation::silu_gated;
            model.llama = {.kv_heads = 2, .head_width = 64, .inner = 1'408, .tied = false};
        }
        if (family == model::Family::albert) model.albert.inner = 4 * model.width;
        if (family == model::Family::coder) {
            model = model::model_preset("coder-small").value();
            model.coder.side = 64;
            model.context = model::coder_context(model.coder);
            model.width = 128;
        }
        if (family == model::Family::dalle) {
            model = model::model_preset("dalle-emoji").value();
            model.layers = deep ? 64 : 8;
            if (!deep) model.width = 512;
            if (!deep) model.heads = 8;
        }
        if (family == model::Family::swav) {
            model = model::model_preset(deep ? "swav-resnet50" : "swav-tiny").value();
            model.swav.together = 32;
            model.swav.queue = 0;  // which fills only after many steps
        }
        return model;
    }
    void write() const {
        std::vector<float> values(model.parameters());
        model::fill_initial_state(model, 1, values);
        std::ofstream(state.path, std::ios::binary)
            .write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * 4));
        std::ofstream file(shard, std::ios::binary);
        const model::AlbertShape& marks = model.albert;
        for (std::uint64_t i = 0; i < records * (model.context + 1); ++i) {
            auto token = static_cast<std::uint16_t>(i * i % 8191 % model.vocabulary);
            const std::uint64_t at = i % (model.context + 1);
            if (model::reads_pictures(model)) token = at == model.context ? 0 : token % 256;
            if (model.family == model::Family::dalle) {
                const std::uint32_t text = model.dalle.text_vocabulary, codes = model.vocabulary - text;
                token = static_cast<std::uint16_t>(at > model.dalle.text ? text + token % codes : token % text);
                if (at == 0) token = model::dalle_begin;
            }
            if (model.family == model::Family::albert) {  // two texts between their marks
                token = static_cast<std::uint16_t>(std::max<unsigned>(token, 5));
                if (at == 0) token = static_cast<std::uint16_t>(marks.cls);
                if (at == model.context / 2 || at == model.context - 1) token = static_cast<std::uint16_t>(marks.sep);
                if (at == model.context) token = static_cast<std::uint16_t>(marks.pad);
            }
            file.write(reinterpret_cast<const char*>(&token), 2);
        }
    }
    [[nodiscard]] control::LoadRequest load() const {
        control::LoadRequest request;
        request.model = model;
        request.recipe = recipe;
        request.state = state;
        request.threads = 1;
        request.scratch = folder.path().toStdString();
        return request;
    }
    [[nodiscard]] json train() const {
        control::TrainRequest request;
        request.peer = std::string(64, '7');
        request.learning_rate = 1e-3;
        request.shard = shard;
        request.records = records;
        return to_json(request);
    }
};

/// Trains until so many steps of the optimizer are done.
inline bool train(TrainerChild& child, std::uint64_t steps) {
    control::TrainerProgress progress;
    while (progress.steps < steps) {
        const auto told = child.wait_for("progress");
        if (!told || !control::from_json(told->params, progress).ok()) return false;
    }
    return true;
}

}  // namespace potluck::tests

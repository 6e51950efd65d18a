// A model of its own beside a trainer's, for states that are not L, so that training is not disturbed. It keeps numbers
// as the trainer's layout does.
// Threads: one, the trainer's. Owns: the weights, the model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "core/base/result.h"
#include "core/base/thread_owner.h"
#include "core/control/trainer_protocol.h"
#include "core/training/compute/flat_vector.h"
#include "core/training/compute/model.h"
#include "core/training/trainer.h"

namespace potluck::training {

class OtherModel {
public:
    /// All zeros until a load(). `out_of_memory` if there is no room.
    [[nodiscard]] static Result<OtherModel> create(const TrainerSetup& setup);

    /// Takes a state. After a failure the weights are of no state: load() again.
    [[nodiscard]] Status load(const control::VectorFile& state) {
        return load(state, [](std::uint64_t, std::span<float>) {});
    }
    /// The same, with each piece changed on its way; `begin` counts numbers and is a multiple of vector_piece.
    using Change = std::function<void(std::uint64_t begin, std::span<float> piece)>;
    [[nodiscard]] Status load(const control::VectorFile& state, const Change& change);
    [[nodiscard]] Model& model() {
        m_owner.check();
        return *m_model;
    }

private:
    OtherModel(FlatVector values, std::unique_ptr<Model> model)
        : m_values(std::move(values)), m_model(std::move(model)) {}
    ThreadOwner m_owner;
    FlatVector m_values;
    std::unique_ptr<Model> m_model;
};

}  // namespace potluck::training

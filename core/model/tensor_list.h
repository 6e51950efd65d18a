// The list of a family's tensors in the making: one behind the other in the flat vector, each with its role. Private to
// the families of this folder.
// Threads: a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/model_spec.h"

namespace potluck::model {

class TensorList {
public:
    using Shape = std::vector<std::uint64_t>;

    /// What is added from here on belongs to this layer, or to none.
    void enter(std::optional<std::uint32_t> layer) { m_layer = layer; }

    void add(std::string name, Shape shape, Role role) {
        TensorSpec tensor{std::move(name), std::move(shape), m_next, role, m_layer};
        m_next += tensor.elements();
        m_tensors.push_back(std::move(tensor));
    }
    /// "<name>.weight" and "<name>.bias" of one row each.
    void add_norm(const std::string& name, std::uint64_t width) {
        add(name + ".weight", {width}, Role::gain);
        add(name + ".bias", {width}, Role::bias);
    }
    /// "<name>.weight" of the given shape and "<name>.bias" of `outputs`.
    void add_affine(const std::string& name, Shape shape, std::uint64_t outputs, Role role) {
        add(name + ".weight", std::move(shape), role);
        add(name + ".bias", {outputs}, Role::bias);
    }
    [[nodiscard]] std::vector<TensorSpec> take() { return std::move(m_tensors); }

private:
    std::vector<TensorSpec> m_tensors;
    std::uint64_t m_next = 0;
    std::optional<std::uint32_t> m_layer;
};

}  // namespace potluck::model

// One flat vector as tensors, and sums of gradients into another: what the families of this room need around
// autograd's passes. Private to its sources.
// Threads: any; tensors are their owner's.
#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <vector>

#include "core/model/model_spec.h"
#include "core/training/compute/device.h"
#include "core/training/compute/piecewise.h"
#include "core/training/compute/tensor_types.h"
#include "core/training/memory/layout.h"

namespace potluck::training {

/// Views of one flat vector, tensor by tensor.
inline std::vector<at::Tensor> tensor_views(const model::ModelSpec& spec, const at::Tensor& flat) {
    std::vector<at::Tensor> views;
    for (const model::TensorSpec& tensor : model::tensors_of(spec)) {
        const std::vector<std::int64_t> shape(tensor.shape.begin(), tensor.shape.end());
        views.push_back(
            flat.narrow(0, static_cast<std::int64_t>(tensor.offset), static_cast<std::int64_t>(tensor.elements()))
                .view(shape));
    }
    return views;
}

inline at::Tensor tensor_over(const FlatView& vector) {
    const auto kind = at::TensorOptions().dtype(type_of(vector.dtype)).device(device_of(vector.device));
    return at::from_blob(vector.data, {static_cast<std::int64_t>(vector.size)}, kind);
}

/// Takes L as a family's tensors where it computes, in fp32; `tensors` are views of `flat`, which is a copy unless L is
/// of that kind already.
inline void take_tensors(const model::ModelSpec& spec, const FlatView& local, at::Device device, at::Tensor& flat,
                         std::vector<at::Tensor>& tensors) {
    tensors.clear();  // an older copy makes room first
    flat = at::Tensor();
    flat = tensor_over(local).to(device, at::kFloat);
    tensors = tensor_views(spec, flat);
}

/// The same for autograd's leaves.
inline void take_leaves(const model::ModelSpec& spec, const FlatView& local, at::Device device, at::Tensor& flat,
                        std::vector<at::Tensor>& leaves) {
    take_tensors(spec, local, device, flat, leaves);
    for (at::Tensor& leaf : leaves) leaf.set_requires_grad(true);
}

/// Runs `backward`, which adds to the vector that it is given and returns the loss, so that the sums end up in
/// `gradient`; where the loss is not finite and the two are not the same memory, nothing does.
template <class Backward>
double add_sums(const at::Tensor& flat, const FlatView& gradient, const Backward& backward) {
    const at::Tensor target = tensor_over(gradient);
    const bool in_place = gradient.dtype == Dtype::fp32 && target.device() == flat.device();
    const at::Tensor sums = in_place ? target : at::zeros_like(flat);
    const double loss = backward(sums);
    if (!in_place && std::isfinite(loss)) add_in_pieces(target, sums);
    return loss;
}

/// The same for a `backward` that adds to the gradients of `leaves`.
template <class Backward>
double add_gradients(const model::ModelSpec& spec, const at::Tensor& flat, std::vector<at::Tensor>& leaves,
                     const FlatView& gradient, const Backward& backward) {
    return add_sums(flat, gradient, [&](const at::Tensor& sums) {
        const std::vector<at::Tensor> gradients = tensor_views(spec, sums);
        for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i].mutable_grad() = gradients[i];
        const double loss = backward();
        for (at::Tensor& leaf : leaves) leaf.mutable_grad() = at::Tensor();
        return loss;
    });
}

}  // namespace potluck::training

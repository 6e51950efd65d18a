// The plug-in is opened once for the process. Each call makes the tensors' device current, since further GPUs compute
// on threads of their own, and queues its kernels where LibTorch queues its own, so that neither waits for the other.
//
// What sums over rows need at work is LibTorch's memory, too: its allocator hands it to the next tensor of that device
// while the kernel may still be queued, which is right because that tensor's kernels are queued behind it.
//
// Threads: see the header.
#include "core/training/compute/cuda_rows.h"

#include <c10/core/DeviceGuard.h>

#include "core/device/shared_library.h"
#include "core/training/compute/cuda_optimizer.h"
#include "core/training/cuda/rows_cuda.h"

namespace potluck::training {

using at::Tensor;

struct CudaRows::Functions {
    decltype(&potluck_cuda_norm) norm = nullptr;
    decltype(&potluck_cuda_norm_backward) norm_backward = nullptr;
    decltype(&potluck_cuda_columns) columns = nullptr;
    decltype(&potluck_cuda_cross_entropy) cross_entropy = nullptr;
    decltype(&potluck_cuda_gated) gated = nullptr;
    decltype(&potluck_cuda_rotary) rotary = nullptr;
    decltype(&potluck_cuda_error) error = nullptr;

    [[nodiscard]] bool whole() const {
        return norm && norm_backward && columns && cross_entropy && gated && rotary && error;
    }
    void check(int failure) const { TORCH_CHECK(failure == 0, "CUDA error: ", error(failure)); }
};

namespace {

/// The widest norm with a backward pass here: its sums lie in the memory of one multiprocessor.
constexpr std::int64_t norm_width_max = 6000;

std::uint64_t count(std::int64_t number) { return static_cast<std::uint64_t>(number); }

std::uint32_t code_of(at::ScalarType type) {
    if (type == at::kFloat) return POTLUCK_CUDA_FP32;
    return type == at::kBFloat16 ? POTLUCK_CUDA_BF16 : POTLUCK_CUDA_FP16;
}

const float* floats(const Tensor& tensor) { return tensor.defined() ? tensor.const_data_ptr<float>() : nullptr; }
float* floats_to(const Tensor& tensor) { return tensor.defined() ? tensor.data_ptr<float>() : nullptr; }

/// LibTorch computes on the default stream, and so do we.
constexpr void* default_stream = nullptr;

}  // namespace

std::shared_ptr<const CudaRows> CudaRows::open() {
    static const auto opened = []() -> std::shared_ptr<const CudaRows> {
        const auto here = device::file_of_code(reinterpret_cast<const void*>(&CudaRows::takes_norm)).parent_path();
        if (!CudaOptimizer::open(here).ok()) return nullptr;  // of our version, and a GPU answers
        const device::SharedLibrary library(CudaOptimizer::file_in(here));
        if (!library.open()) return nullptr;
        auto found = std::make_shared<Functions>();
        found->norm = library.find<decltype(found->norm)>("potluck_cuda_norm");
        found->norm_backward = library.find<decltype(found->norm_backward)>("potluck_cuda_norm_backward");
        found->columns = library.find<decltype(found->columns)>("potluck_cuda_columns");
        found->cross_entropy = library.find<decltype(found->cross_entropy)>("potluck_cuda_cross_entropy");
        found->gated = library.find<decltype(found->gated)>("potluck_cuda_gated");
        found->rotary = library.find<decltype(found->rotary)>("potluck_cuda_rotary");
        found->error = library.find<decltype(found->error)>("potluck_cuda_error");
        if (!found->whole()) return nullptr;
        return std::shared_ptr<const CudaRows>(new CudaRows(std::move(found)));
    }();
    return opened;
}

bool CudaRows::takes_norm(std::int64_t width) { return width <= norm_width_max; }

Tensor CudaRows::norm(const Tensor& x_NC, const NormWeights& w, at::ScalarType as, NormCache& cache) const {
    const c10::DeviceGuard guard(x_NC.device());
    const Tensor x = x_NC.contiguous(), y_NC = at::empty(x.sizes(), x.options().dtype(as));
    if (!w.is_rms()) cache.mean_N1 = at::empty({x.size(0), 1}, x.options());
    cache.rstd_N1 = at::empty({x.size(0), 1}, x.options());
    const PotluckCudaNorm norm{.rows = count(x.size(0)),
                               .width = count(x.size(1)),
                               .x = floats(x),
                               .gain = floats(w.gain_C),
                               .bias = floats(w.bias_C),
                               .epsilon = w.epsilon,
                               .type = code_of(as),
                               .y = y_NC.data_ptr(),
                               .mean = w.is_rms() ? nullptr : floats_to(cache.mean_N1),
                               .rstd = floats_to(cache.rstd_N1)};
    m_functions->check(m_functions->norm(&norm, default_stream));
    return y_NC;
}

void CudaRows::norm_backward(const Tensor& dy_NC, const NormCache& cache, const NormWeights& w,
                             const Operations::NormGradients& out) const {
    const c10::DeviceGuard guard(dy_NC.device());
    const Tensor dy = dy_NC.contiguous(), x = cache.x_NC.contiguous();
    const Tensor parts = at::empty({2 * POTLUCK_CUDA_PARTS, x.size(1)}, x.options());
    const PotluckCudaNormBackward norm{.rows = count(x.size(0)),
                                       .width = count(x.size(1)),
                                       .type = code_of(dy.scalar_type()),
                                       .dy = dy.const_data_ptr(),
                                       .x = floats(x),
                                       .gain = floats(w.gain_C),
                                       .mean = w.is_rms() ? nullptr : floats(cache.mean_N1),
                                       .rstd = floats(cache.rstd_N1),
                                       .dx = floats_to(out.dx_NC),
                                       .dgain = floats_to(out.dgain_C),
                                       .dbias = w.is_rms() ? nullptr : floats_to(out.dbias_C),
                                       .workspace = floats_to(parts)};
    m_functions->check(m_functions->norm_backward(&norm, default_stream));
}

void CudaRows::queue_columns(PotluckCudaColumns columns, const Tensor& rows, const Tensor& sums) const {
    const Tensor parts = at::empty({POTLUCK_CUDA_PARTS, rows.size(1)}, sums.options());
    columns.rows = count(rows.size(0));
    columns.width = count(rows.size(1));
    columns.from = rows.const_data_ptr();
    columns.sums = floats_to(sums);
    columns.workspace = floats_to(parts);
    m_functions->check(m_functions->columns(&columns, default_stream));
}

Tensor CudaRows::narrow(const Tensor& d_NC, at::ScalarType as, const Tensor& sums_C) const {
    const c10::DeviceGuard guard(d_NC.device());
    const Tensor d = d_NC.contiguous(), dy_NC = at::empty(d.sizes(), d.options().dtype(as));
    PotluckCudaColumns columns{};
    columns.what = POTLUCK_CUDA_NARROW;
    columns.type = code_of(as);
    columns.to = dy_NC.data_ptr();
    queue_columns(columns, d, sums_C);
    return dy_NC;
}

void CudaRows::activation_backward(model::Activation function, const Tensor& x_NF, const Tensor& dy_NF,
                                   const Tensor& sums_F) const {
    const c10::DeviceGuard guard(dy_NF.device());
    const bool is_relu = function == model::Activation::relu;
    PotluckCudaColumns columns{};
    columns.what = is_relu ? POTLUCK_CUDA_RELU_BACKWARD : POTLUCK_CUDA_GELU_BACKWARD;
    columns.type = code_of(dy_NF.scalar_type());
    columns.x = x_NF.const_data_ptr();
    columns.to = dy_NF.data_ptr();
    queue_columns(columns, dy_NF, sums_F);
}

void CudaRows::add_column_sums(const Tensor& x_NO, const Tensor& sums_O) const {
    const c10::DeviceGuard guard(x_NO.device());
    PotluckCudaColumns columns{};
    columns.what = POTLUCK_CUDA_SUM;
    columns.type = code_of(x_NO.scalar_type());
    queue_columns(columns, x_NO.contiguous(), sums_O);
}

Tensor CudaRows::gated(const Tensor& x_NU) const {
    const c10::DeviceGuard guard(x_NU.device());
    const Tensor y_NF = at::empty({x_NU.size(0), x_NU.size(1) / 2}, x_NU.options());
    PotluckCudaGated gated{};
    gated.rows = count(y_NF.size(0));
    gated.width = count(y_NF.size(1));
    gated.type = code_of(x_NU.scalar_type());
    gated.x = x_NU.data_ptr();
    gated.y = y_NF.data_ptr();
    m_functions->check(m_functions->gated(&gated, default_stream));
    return y_NF;
}

void CudaRows::gated_backward(const Tensor& x_NU, const Tensor& dy_NF) const {
    const c10::DeviceGuard guard(x_NU.device());
    PotluckCudaGated gated{};
    gated.rows = count(dy_NF.size(0));
    gated.width = count(dy_NF.size(1));
    gated.type = code_of(x_NU.scalar_type());
    gated.x = x_NU.data_ptr();
    gated.dy = dy_NF.const_data_ptr();
    m_functions->check(m_functions->gated(&gated, default_stream));
}

void CudaRows::rotate(const Tensor& x_NQ, const RotaryAngles& angles, std::int64_t heads, std::int64_t time,
                      Operations::Turn turn) const {
    const c10::DeviceGuard guard(x_NQ.device());
    const PotluckCudaRotary rotary{.rows = count(x_NQ.size(0)),
                                   .stride = count(x_NQ.stride(0)),
                                   .time = count(time),
                                   .heads = count(heads),
                                   .half = count(angles.cosines_TR.size(1)),
                                   .type = code_of(x_NQ.scalar_type()),
                                   .back = turn == Operations::Turn::back ? 1U : 0U,
                                   .x = x_NQ.data_ptr(),
                                   .cosines = floats(angles.cosines_TR),
                                   .sines = floats(angles.sines_TR)};
    m_functions->check(m_functions->rotary(&rotary, default_stream));
}

Tensor CudaRows::cross_entropy(const Tensor& logits_NV, const Tensor& targets_N, double scale) const {
    const c10::DeviceGuard guard(logits_NV.device());
    const Tensor losses_N = at::empty({logits_NV.size(0)}, logits_NV.options().dtype(at::kFloat));
    const Tensor targets = targets_N.contiguous();
    const PotluckCudaCrossEntropy entropy{.rows = count(logits_NV.size(0)),
                                          .vocabulary = count(logits_NV.size(1)),
                                          .stride = count(logits_NV.stride(0)),
                                          .type = code_of(logits_NV.scalar_type()),
                                          .logits = logits_NV.data_ptr(),
                                          .targets = targets.const_data_ptr<std::int64_t>(),
                                          .scale = scale,
                                          .losses = losses_N.data_ptr<float>()};
    m_functions->check(m_functions->cross_entropy(&entropy, default_stream));
    return losses_N;
}

}  // namespace potluck::training

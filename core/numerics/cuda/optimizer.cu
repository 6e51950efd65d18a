// The kernels of potluck_cuda: one thread per number, one thread block per block of 256, the arithmetic of
// optimizer_arithmetic.h compiled without fused multiply-add and with correctly rounded division and square root.
//
// LAMB takes three kernels: every block's sums of squares, their sum in the order that the processor adds them, and the
// step, which computes the update once more.
#include "core/numerics/cuda/optimizer_cuda.h"

#include <cuda_runtime.h>

#include "core/numerics/optimizer/optimizer_arithmetic.h"

namespace {

namespace arithmetic = potluck::numerics::arithmetic;
using arithmetic::StepConstants;

#define POTLUCK_MAP(name, count) __device__ const float name[count]
#include "core/numerics/optimizer/dynamic_map_values.inl"
#undef POTLUCK_MAP

constexpr unsigned block_size = 256;

struct Squares {
    double parameters, updates;
};

/// Everything a kernel needs, by value.
struct Slice {
    StepConstants constants;
    PotluckCudaStep step;
    uint64_t blocks;
};

struct Workspace {
    float factor;
    float unused[3];
    Squares squares[1];  // per block, then per piece
};

__device__ float loaded(const void* from, bool bf16, uint64_t i) {
    if (!bf16) return static_cast<const float*>(from)[i];
    return arithmetic::float_of(static_cast<uint32_t>(static_cast<const uint16_t*>(from)[i]) << 16U);
}

struct Number {
    bool part;
    float parameter, mean, variance;  // moments after the step
};

__device__ Number number(const Slice& slice, uint64_t i) {
    const PotluckCudaStep& step = slice.step;
    if (i >= step.length) return {false, 0.0F, 0.0F, 0.0F};
    const uint64_t block = i / block_size;
    const bool coded = step.mean == nullptr;
    const float mean = coded ? mean_map[step.mean_codes[i]] * step.mean_scales[block] : step.mean[i];
    const float variance =
        coded ? variance_map[step.variance_codes[i]] * step.variance_scales[block] : step.variance[i];
    const float parameter = loaded(step.parameters, step.parameters_are_bf16 != 0, i);
    const float gradient = loaded(step.gradient, step.gradient_is_bf16 != 0, i) * slice.constants.scale;
    if (!arithmetic::takes_part(gradient, parameter)) return {false, parameter, mean, variance};
    return {true, parameter, arithmetic::next_mean(slice.constants, mean, gradient),
            arithmetic::next_variance(slice.constants, variance, gradient)};
}

/// The largest of the block's patterns of non-negative floats, for all of its threads.
__device__ uint32_t block_max(uint32_t own, uint32_t* room) {
    for (int distance = 16; distance > 0; distance /= 2) {
        const uint32_t other = __shfl_xor_sync(0xffffffffU, own, distance);
        own = own > other ? own : other;
    }
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = own;
    __syncthreads();
    uint32_t most = room[0];
    for (unsigned i = 1; i < block_size / 32; ++i) most = most > room[i] ? most : room[i];
    return most;
}

__device__ void store_moments(const Slice& slice, uint64_t i, const Number& n, float mean_scale, float variance_scale) {
    const PotluckCudaStep& step = slice.step;
    if (step.mean != nullptr) {
        step.mean[i] = n.mean;
        step.variance[i] = n.variance;
        return;
    }
    if (i % block_size == 0) {
        step.mean_scales[i / block_size] = mean_scale;
        step.variance_scales[i / block_size] = variance_scale;
    }
    const float y = n.mean * arithmetic::inverse_of(mean_scale);
    const uint32_t size =
        arithmetic::line_code(arithmetic::magnitude(y), mean_above, mean_slope, mean_offset, mean_last);
    step.mean_codes[i] = static_cast<uint8_t>(arithmetic::signed_code(y, size));
    const float z = n.variance * arithmetic::inverse_of(variance_scale);
    step.variance_codes[i] =
        static_cast<uint8_t>(arithmetic::line_code(z, variance_above, variance_slope, variance_offset, variance_last));
}

__global__ void __launch_bounds__(block_size) step_kernel(Slice slice) {
    __shared__ uint32_t room[2][block_size / 32];
    const PotluckCudaStep& step = slice.step;
    for (uint64_t block = blockIdx.x; block < slice.blocks; block += gridDim.x) {
        const uint64_t i = block * block_size + threadIdx.x;
        const Number n = number(slice, i);
        // Also the barrier after which nobody reads the old scales and the shared room of the block before.
        if (__syncthreads_or(n.part ? 1 : 0) == 0) continue;
        const float mean_scale =
            arithmetic::scale_of(arithmetic::float_of(block_max(arithmetic::magnitude_bits(n.mean), room[0])));
        const float variance_scale =
            arithmetic::scale_of(arithmetic::float_of(block_max(arithmetic::bits_of(n.variance), room[1])));
        if (i >= step.length) continue;
        store_moments(slice, i, n, mean_scale, variance_scale);
        if (!n.part) continue;
        const bool lamb = step.kind != POTLUCK_CUDA_ADAMW;
        const float after =
            lamb ? n.parameter - static_cast<const Workspace*>(step.workspace)->factor *
                                     arithmetic::lamb_update(slice.constants, n.parameter, n.mean, n.variance)
                 : arithmetic::adamw_stepped(slice.constants, n.parameter, n.mean, n.variance);
        if (step.parameters_are_bf16 == 0) {
            static_cast<float*>(step.parameters)[i] = after;
            continue;
        }
        const uint32_t key = arithmetic::block_key(step.rounding_seed, step.flat_begin + block * block_size);
        static_cast<uint16_t*>(step.parameters)[i] =
            static_cast<uint16_t>(arithmetic::upper_half(after, arithmetic::noise(key, threadIdx.x)));
    }
}

/// A block's sums of squares: lane l adds the numbers l, l + 16, ... in their order, then the lanes halve.
__global__ void __launch_bounds__(block_size) squares_kernel(Slice slice) {
    __shared__ float parameters[block_size], updates[block_size];
    __shared__ Squares lane[arithmetic::lanes];
    Workspace* const workspace = static_cast<Workspace*>(slice.step.workspace);
    for (uint64_t block = blockIdx.x; block < slice.blocks; block += gridDim.x) {
        const Number n = number(slice, block * block_size + threadIdx.x);
        parameters[threadIdx.x] = n.part ? n.parameter : 0.0F;
        updates[threadIdx.x] =
            n.part ? arithmetic::lamb_update(slice.constants, n.parameter, n.mean, n.variance) : 0.0F;
        __syncthreads();
        if (threadIdx.x < arithmetic::lanes) {
            Squares sum = {0, 0};
            for (unsigned i = threadIdx.x; i < block_size; i += arithmetic::lanes) {
                const double p = parameters[i], u = updates[i];
                sum.parameters += p * p;
                sum.updates += u * u;
            }
            lane[threadIdx.x] = sum;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            for (unsigned half = arithmetic::lanes / 2; half > 0; half /= 2) {
                for (unsigned l = 0; l < half; ++l) {
                    lane[l].parameters += lane[l + half].parameters;
                    lane[l].updates += lane[l + half].updates;
                }
            }
            workspace->squares[block] = lane[0];
        }
        __syncthreads();
    }
}

/// Adds `count` sums from `from` on, piece by piece, to `to`.
__global__ void pieces_kernel(const Squares* from, Squares* to, uint64_t count) {
    const uint64_t piece = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const uint64_t begin = piece * arithmetic::piece_blocks;
    if (begin >= count) return;
    const uint64_t end = begin + arithmetic::piece_blocks < count ? begin + arithmetic::piece_blocks : count;
    Squares sum = {0, 0};
    for (uint64_t i = begin; i < end; ++i) {
        sum.parameters += from[i].parameters;
        sum.updates += from[i].updates;
    }
    to[piece] = sum;
}

__global__ void factor_kernel(Workspace* workspace, const Squares* pieces, uint64_t count, double learning_rate,
                              double trust_max) {
    Squares sum = {0, 0};
    for (uint64_t i = 0; i < count; ++i) {
        sum.parameters += pieces[i].parameters;
        sum.updates += pieces[i].updates;
    }
    workspace->factor = arithmetic::lamb_factor(learning_rate, trust_max, sum.parameters, sum.updates);
}

uint64_t divided_up(uint64_t count, uint64_t by) { return (count + by - 1) / by; }

bool sensible(const PotluckCudaStep& step) {
    const bool coded = step.mean_codes != nullptr && step.variance_codes != nullptr && step.mean_scales != nullptr &&
                       step.variance_scales != nullptr;
    const bool floats = step.mean != nullptr && step.variance != nullptr;
    return step.kind <= POTLUCK_CUDA_LAMB_RAW && step.parameters != nullptr && step.gradient != nullptr &&
           coded != floats && step.step > 0 && static_cast<float>(step.epsilon) > 0.0F &&
           (step.kind == POTLUCK_CUDA_ADAMW || step.workspace != nullptr);
}

}  // namespace

uint32_t potluck_cuda_abi(void) { return POTLUCK_CUDA_ABI; }

int potluck_cuda_devices(void) {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

uint64_t potluck_cuda_workspace_bytes(uint64_t length) {
    const uint64_t blocks = divided_up(length, block_size);
    return sizeof(Workspace) + sizeof(Squares) * (blocks + divided_up(blocks, arithmetic::piece_blocks));
}

int potluck_cuda_optimizer_step(const struct PotluckCudaStep* step, void* stream) {
    if (step == nullptr || !sensible(*step)) return cudaErrorInvalidValue;
    if (step->length == 0) return cudaSuccess;
    Slice slice{};
    slice.step = *step;
    slice.blocks = divided_up(step->length, block_size);
    arithmetic::StepScalars numbers;
    numbers.lamb = step->kind != POTLUCK_CUDA_ADAMW;
    numbers.debiased_moments = step->kind != POTLUCK_CUDA_LAMB_RAW;
    numbers.learning_rate = step->learning_rate;
    numbers.beta1 = step->beta1;
    numbers.beta2 = step->beta2;
    numbers.epsilon = step->epsilon;
    numbers.gradient_scale = step->gradient_scale;
    numbers.step = step->step;
    numbers.weight_decay = step->weight_decay;
    slice.constants = arithmetic::constants_of(numbers);
    const cudaStream_t queue = static_cast<cudaStream_t>(stream);
    const unsigned grid = static_cast<unsigned>(slice.blocks < (1U << 20U) ? slice.blocks : (1U << 20U));
    if (numbers.lamb) {
        Workspace* const workspace = static_cast<Workspace*>(step->workspace);
        Squares* const pieces = workspace->squares + slice.blocks;
        const uint64_t count = divided_up(slice.blocks, arithmetic::piece_blocks);
        squares_kernel<<<grid, block_size, 0, queue>>>(slice);
        pieces_kernel<<<static_cast<unsigned>(divided_up(count, 32)), 32, 0, queue>>>(workspace->squares, pieces,
                                                                                      slice.blocks);
        factor_kernel<<<1, 1, 0, queue>>>(workspace, pieces, count, step->learning_rate, step->trust_max);
    }
    step_kernel<<<grid, block_size, 0, queue>>>(slice);
    return cudaGetLastError();
}

const char* potluck_cuda_error(int error) { return cudaGetErrorString(static_cast<cudaError_t>(error)); }

int potluck_cuda_allocate(void** out, uint64_t bytes) { return cudaMalloc(out, bytes); }
int potluck_cuda_free(void* memory) { return cudaFree(memory); }
int potluck_cuda_upload(void* to, const void* from, uint64_t bytes) {
    return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
}
int potluck_cuda_download(void* to, const void* from, uint64_t bytes) {
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
}
int potluck_cuda_wait(void) { return cudaDeviceSynchronize(); }

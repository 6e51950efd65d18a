// What bounds these passes is memory: each number is read and written once, what is needed twice is read again while
// it is in a cache. A norm's row is a warp's or, where a loss reads fifty thousand logits, a block's. Sums over rows
// (gains, biases) have two steps: a part per strip of rows, then the parts in their order, so that no result depends on
// which block was first.
#include "core/training/cuda/rows_cuda.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace {

constexpr unsigned warp = 32, warps = 8, block = warp * warps;
constexpr unsigned entropy_block = 512;
constexpr uint64_t parts_max = POTLUCK_CUDA_PARTS;
constexpr unsigned all = 0xffffffffU;

__device__ __forceinline__ float wide(float x) { return x; }
__device__ __forceinline__ float wide(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ __forceinline__ float wide(__half x) { return __half2float(x); }
__device__ __forceinline__ void put(float& to, float x) { to = x; }
__device__ __forceinline__ void put(__nv_bfloat16& to, float x) { to = __float2bfloat16(x); }
__device__ __forceinline__ void put(__half& to, float x) { to = __float2half(x); }

/// `count` numbers that are read or written at once.
template <class T, int count>
struct alignas(sizeof(T) * count) Pack {
    T values[count];
};
template <int count, class T>
__device__ __forceinline__ Pack<T, count> load(const T* from) {
    return *reinterpret_cast<const Pack<T, count>*>(from);
}
template <int count, class T>
__device__ __forceinline__ void store(T* to, const Pack<T, count>& pack) {
    *reinterpret_cast<Pack<T, count>*>(to) = pack;
}

__device__ __forceinline__ float warp_sum(float x) {
    for (unsigned distance = warp / 2; distance > 0; distance /= 2) x += __shfl_xor_sync(all, x, distance);
    return x;
}

template <class T, int pack>
__global__ void __launch_bounds__(block) norm_kernel(PotluckCudaNorm n) {
    const uint64_t row = uint64_t{blockIdx.x} * warps + threadIdx.x / warp;
    if (row >= n.rows) return;
    const unsigned lane = threadIdx.x % warp;
    const float* const x = n.x + row * n.width;
    const float count = static_cast<float>(n.width);
    float mean = 0;
    if (n.bias != nullptr) {
        for (uint64_t i = lane * pack; i < n.width; i += warp * pack) {
            const auto in = load<pack>(x + i);
            for (int k = 0; k < pack; ++k) mean += in.values[k];
        }
        mean = warp_sum(mean) / count;
    }
    float squares = 0;
    for (uint64_t i = lane * pack; i < n.width; i += warp * pack) {
        const auto in = load<pack>(x + i);
        for (int k = 0; k < pack; ++k) squares += (in.values[k] - mean) * (in.values[k] - mean);
    }
    const float rstd = 1.0F / sqrtf(warp_sum(squares) / count + static_cast<float>(n.epsilon));
    if (lane == 0) {
        n.rstd[row] = rstd;
        if (n.mean != nullptr) n.mean[row] = mean;
    }
    T* const y = static_cast<T*>(n.y) + row * n.width;
    for (uint64_t i = lane * pack; i < n.width; i += warp * pack) {
        const auto in = load<pack>(x + i), gain = load<pack>(n.gain + i);
        Pack<float, pack> bias{};
        if (n.bias != nullptr) bias = load<pack>(n.bias + i);
        Pack<T, pack> out;
        for (int k = 0; k < pack; ++k)
            put(out.values[k], (in.values[k] - mean) * rstd * gain.values[k] + bias.values[k]);
        store(y + i, out);
    }
}

/// Eight rows at a time: first each warp's own row, then the columns' sums over the eight while they are in the cache.
template <class T, int pack>
__global__ void __launch_bounds__(block) norm_backward_kernel(PotluckCudaNormBackward n, uint64_t strip) {
    extern __shared__ float sums[];  // of gain and bias, each `width`
    __shared__ float means[warps], rstds[warps];
    const unsigned lane = threadIdx.x % warp, own = threadIdx.x / warp;
    const bool rms = n.mean == nullptr;
    const float count = static_cast<float>(n.width);
    for (uint64_t i = threadIdx.x; i < 2 * n.width; i += block) sums[i] = 0;
    const uint64_t end = min(n.rows, (blockIdx.x + 1) * strip);
    for (uint64_t first = blockIdx.x * strip; first < end; first += warps) {
        const uint64_t row = first + own;
        if (row < end) {
            const float* const x = n.x + row * n.width;
            const T* const dy = static_cast<const T*>(n.dy) + row * n.width;
            float* const dx = n.dx + row * n.width;
            const float mean = rms ? 0.0F : n.mean[row], rstd = n.rstd[row];
            float of_g = 0, of_gh = 0;
            for (uint64_t i = lane * pack; i < n.width; i += warp * pack) {
                const auto in = load<pack>(x + i), gain = load<pack>(n.gain + i);
                const auto d = load<pack>(dy + i);
                for (int k = 0; k < pack; ++k) {
                    const float g = wide(d.values[k]) * gain.values[k];
                    of_g += g;
                    of_gh += g * (in.values[k] - mean) * rstd;
                }
            }
            const float mean_g = rms ? 0.0F : warp_sum(of_g) / count, mean_gh = warp_sum(of_gh) / count;
            if (lane == 0) {
                means[own] = mean;
                rstds[own] = rstd;
            }
            for (uint64_t i = lane * pack; i < n.width; i += warp * pack) {
                const auto in = load<pack>(x + i), gain = load<pack>(n.gain + i);
                const auto d = load<pack>(dy + i);
                auto out = load<pack>(dx + i);
                for (int k = 0; k < pack; ++k) {
                    const float h = (in.values[k] - mean) * rstd;
                    out.values[k] += (wide(d.values[k]) * gain.values[k] - mean_g - h * mean_gh) * rstd;
                }
                store(dx + i, out);
            }
        }
        __syncthreads();
        const unsigned rows = static_cast<unsigned>(min(uint64_t{warps}, end - first));
        for (uint64_t i = threadIdx.x * pack; i < n.width; i += block * pack) {
            Pack<float, pack> gain{}, bias{};
            for (unsigned r = 0; r < rows; ++r) {
                const auto in = load<pack>(n.x + (first + r) * n.width + i);
                const auto d = load<pack>(static_cast<const T*>(n.dy) + (first + r) * n.width + i);
                for (int k = 0; k < pack; ++k) {
                    const float dy = wide(d.values[k]);
                    bias.values[k] += dy;
                    gain.values[k] += dy * (in.values[k] - means[r]) * rstds[r];
                }
            }
            for (int k = 0; k < pack; ++k) {
                sums[i + k] += gain.values[k];
                sums[n.width + i + k] += bias.values[k];
            }
        }
        __syncthreads();
    }
    for (uint64_t i = threadIdx.x; i < 2 * n.width; i += block)
        n.workspace[uint64_t{blockIdx.x} * 2 * n.width + i] = sums[i];
}

/// sums[i] += the parts' i-th numbers, of rows `stride` apart.
__global__ void __launch_bounds__(block)
    add_parts_kernel(const float* parts, uint64_t count, uint64_t stride, uint64_t width, float* sums) {
    __shared__ float room[warps][warp];
    const unsigned lane = threadIdx.x % warp, own = threadIdx.x / warp;
    const uint64_t column = uint64_t{blockIdx.x} * warp + lane;
    float sum = 0;
    if (column < width) {
        for (uint64_t part = own; part < count; part += warps) sum += parts[part * stride + column];
    }
    room[own][lane] = sum;
    __syncthreads();
    if (own != 0 || column >= width) return;
    for (unsigned i = 1; i < warps; ++i) sum += room[i][lane];
    sums[column] += sum;
}

template <class T>
struct Sum {
    using From = T;
    static constexpr bool writes = false, reads_x = false;
    static __device__ float of(float from, float) { return from; }
};
template <class T>
struct Narrow {
    using From = float;
    static constexpr bool writes = true, reads_x = false;
    static __device__ float of(float from, float) { return from; }
};
template <class T>
struct ReluBackward {
    using From = T;
    static constexpr bool writes = true, reads_x = true;
    static __device__ float of(float from, float x) { return x <= 0 ? 0.0F : from; }
};
/// The derivative of 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
template <class T>
struct GeluBackward {
    using From = T;
    static constexpr bool writes = true, reads_x = true;
    static __device__ float of(float from, float x) {
        constexpr float slope = 0.79788456080286535588F, cubic = 0.044715F;
        const float t = tanhf(slope * (x + cubic * x * x * x));
        const float inner = slope * (1 + 3 * cubic * x * x);
        return from * (0.5F * (1 + t) + 0.5F * x * (1 - t * t) * inner);
    }
};

/// A block's columns are a warp's lanes by `pack`, its rows every eighth of a strip to each warp.
template <class T, class What, int pack>
__global__ void __launch_bounds__(block) columns_kernel(PotluckCudaColumns c, uint64_t strip) {
    __shared__ float room[warps][warp * pack];
    const unsigned lane = threadIdx.x % warp, own = threadIdx.x / warp;
    const uint64_t column = (uint64_t{blockIdx.x} * warp + lane) * pack;
    const uint64_t end = min(c.rows, (blockIdx.y + 1) * strip);
    Pack<float, pack> sum{};
    if (column < c.width) {
#pragma unroll 4
        for (uint64_t row = blockIdx.y * strip + own; row < end; row += warps) {
            const uint64_t at = row * c.width + column;
            const auto from = load<pack>(static_cast<const typename What::From*>(c.from) + at);
            Pack<T, pack> x{}, to;
            if (What::reads_x) x = load<pack>(static_cast<const T*>(c.x) + at);
            for (int k = 0; k < pack; ++k) {
                const float value = What::of(wide(from.values[k]), wide(x.values[k]));
                sum.values[k] += value;
                put(to.values[k], value);
            }
            if (What::writes) store(static_cast<T*>(c.to) + at, to);
        }
    }
    for (int k = 0; k < pack; ++k) room[own][lane * pack + k] = sum.values[k];
    __syncthreads();
    if (own != 0 || column >= c.width) return;
    for (int k = 0; k < pack; ++k) {
        float whole = room[0][lane * pack + k];
        for (unsigned i = 1; i < warps; ++i) whole += room[i][lane * pack + k];
        c.workspace[uint64_t{blockIdx.y} * c.width + column + k] = whole;
    }
}

struct Normaliser {
    float most, sum;  // of exp(x - most)
};
__device__ __forceinline__ Normaliser joined(Normaliser a, Normaliser b) {
    const float most = fmaxf(a.most, b.most);
    if (most == -INFINITY) return {most, 0};
    return {most, a.sum * expf(a.most - most) + b.sum * expf(b.most - most)};
}

/// A block takes a row: its normaliser in one pass, the gradient in a second, which finds the row in the cache.
template <class T, int pack>
__global__ void __launch_bounds__(entropy_block) entropy_kernel(PotluckCudaCrossEntropy e) {
    __shared__ Normaliser room[entropy_block / warp];
    T* const logits = static_cast<T*>(e.logits) + uint64_t{blockIdx.x} * e.stride;
    const uint64_t packed = e.vocabulary / pack * pack;
    Normaliser own{-INFINITY, 0};
    bool sound = true;
    const auto take = [&](float most) {
        if (most <= own.most) return;
        own.sum *= expf(own.most - most);
        own.most = most;
    };
    for (uint64_t i = threadIdx.x * pack; i < packed; i += entropy_block * pack) {
        const auto in = load<pack>(logits + i);
        float most = wide(in.values[0]);
        for (int k = 1; k < pack; ++k) most = fmaxf(most, wide(in.values[k]));
        take(most);
        for (int k = 0; k < pack; ++k) {
            const float x = wide(in.values[k]);
            sound = sound && x == x;
            own.sum += expf(x - own.most);
        }
    }
    for (uint64_t i = packed + threadIdx.x; i < e.vocabulary; i += entropy_block) {
        const float x = wide(logits[i]);
        sound = sound && x == x;
        take(x);
        own.sum += expf(x - own.most);
    }
    for (unsigned distance = warp / 2; distance > 0; distance /= 2) {
        const Normaliser other{__shfl_xor_sync(all, own.most, distance), __shfl_xor_sync(all, own.sum, distance)};
        own = joined(own, other);
    }
    if (threadIdx.x % warp == 0) room[threadIdx.x / warp] = own;
    const bool whole = __syncthreads_and(sound ? 1 : 0) != 0;
    own = room[0];
    for (unsigned i = 1; i < entropy_block / warp; ++i) own = joined(own, room[i]);
    const uint64_t target = static_cast<uint64_t>(e.targets[blockIdx.x]);
    if (threadIdx.x == 0) {
        const float loss = own.most + logf(own.sum) - wide(logits[target]);
        e.losses[blockIdx.x] = whole ? loss : NAN;
    }
    if (e.scale == 0) return;
    __syncthreads();  // the target's logit was read
    const float scale = static_cast<float>(e.scale), share = scale / own.sum;
    const auto gradient = [&](uint64_t i, float x) {
        return expf(x - own.most) * share - (i == target ? scale : 0.0F);
    };
    for (uint64_t i = threadIdx.x * pack; i < packed; i += entropy_block * pack) {
        auto in = load<pack>(logits + i);
        for (int k = 0; k < pack; ++k) put(in.values[k], gradient(i + k, wide(in.values[k])));
        store(logits + i, in);
    }
    for (uint64_t i = packed + threadIdx.x; i < e.vocabulary; i += entropy_block)
        put(logits[i], gradient(i, wide(logits[i])));
}

template <class T, int pack>
__global__ void __launch_bounds__(block) gated_kernel(PotluckCudaGated g) {
    const uint64_t across = g.width / pack;
    const uint64_t number = uint64_t{blockIdx.x} * block + threadIdx.x;
    if (number >= g.rows * across) return;
    const uint64_t row = number / across, column = number % across * pack;
    T* const x = static_cast<T*>(g.x) + row * 2 * g.width + column;
    auto gates = load<pack>(x), ups = load<pack>(x + g.width);
    Pack<T, pack> other;
    if (g.dy != nullptr) other = load<pack>(static_cast<const T*>(g.dy) + row * g.width + column);
    for (int k = 0; k < pack; ++k) {
        const float gate = wide(gates.values[k]), up = wide(ups.values[k]);
        const float s = 1.0F / (1.0F + expf(-gate));
        if (g.dy == nullptr) {
            put(other.values[k], gate * s * up);
            continue;
        }
        const float d = wide(other.values[k]);
        put(gates.values[k], d * up * s * (1 + gate * (1 - s)));
        put(ups.values[k], d * gate * s);
    }
    if (g.dy == nullptr) {
        store(static_cast<T*>(g.y) + row * g.width + column, other);
        return;
    }
    store(x, gates);
    store(x + g.width, ups);
}

template <class T>
__global__ void __launch_bounds__(block) rotary_kernel(PotluckCudaRotary r) {
    const uint64_t across = r.heads * r.half;
    const uint64_t number = uint64_t{blockIdx.x} * block + threadIdx.x;
    if (number >= r.rows * across) return;
    const uint64_t row = number / across, head = number % across / r.half, i = number % r.half;
    const uint64_t angle = row % r.time * r.half + i;
    const float cosine = r.cosines[angle], sine = r.back != 0 ? -r.sines[angle] : r.sines[angle];
    T* const x = static_cast<T*>(r.x) + row * r.stride + head * 2 * r.half + i;
    const float first = wide(x[0]), second = wide(x[r.half]);
    put(x[0], first * cosine - second * sine);
    put(x[r.half], second * cosine + first * sine);
}

uint64_t divided_up(uint64_t count, uint64_t by) { return (count + by - 1) / by; }

/// Calls f with a value of the type.
template <class Function>
int typed(uint32_t type, Function f) {
    if (type == POTLUCK_CUDA_FP32) return f(float{});
    if (type == POTLUCK_CUDA_BF16) return f(__nv_bfloat16{});
    if (type == POTLUCK_CUDA_FP16) return f(__half{});
    return cudaErrorInvalidValue;
}

/// Whether rows may be read `pack` numbers at a time: LibTorch's memory is aligned, views of it may not be.
bool is_even(uint64_t width, int pack, const void* const* pointers, int count, uint64_t largest) {
    if (width % static_cast<uint64_t>(pack) != 0) return false;
    for (int i = 0; i < count; ++i) {
        if (reinterpret_cast<uintptr_t>(pointers[i]) % (largest * static_cast<uint64_t>(pack)) != 0) return false;
    }
    return true;
}

template <class T, template <class> class What>
int queue_columns(const PotluckCudaColumns& c, cudaStream_t stream) {
    const void* const pointers[] = {c.from, c.x, c.to};
    const bool even = is_even(c.width, 4, pointers, 3, sizeof(float));
    const uint64_t tiles = divided_up(c.width, uint64_t{warp} * (even ? 4 : 1));
    const uint64_t wanted = 1056 / tiles > 0 ? 1056 / tiles : 1;
    const uint64_t most = wanted < parts_max ? wanted : parts_max;
    const uint64_t strip = divided_up(divided_up(c.rows, most), warps) * warps;
    const uint64_t parts = divided_up(c.rows, strip);
    const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(parts));
    if (even) {
        columns_kernel<T, What<T>, 4><<<grid, block, 0, stream>>>(c, strip);
    } else {
        columns_kernel<T, What<T>, 1><<<grid, block, 0, stream>>>(c, strip);
    }
    add_parts_kernel<<<static_cast<unsigned>(divided_up(c.width, warp)), block, 0, stream>>>(c.workspace, parts,
                                                                                             c.width, c.width, c.sums);
    return cudaGetLastError();
}

}  // namespace

int potluck_cuda_norm(const struct PotluckCudaNorm* norm, void* stream) {
    if (norm == nullptr || norm->width == 0) return cudaErrorInvalidValue;
    if (norm->rows == 0) return cudaSuccess;
    return typed(norm->type, [&](auto zero) -> int {
        using T = decltype(zero);
        const void* const pointers[] = {norm->x, norm->gain, norm->bias, norm->y};
        const unsigned grid = static_cast<unsigned>(divided_up(norm->rows, warps));
        const auto queue = static_cast<cudaStream_t>(stream);
        if (is_even(norm->width, 4, pointers, 4, sizeof(float))) {
            norm_kernel<T, 4><<<grid, block, 0, queue>>>(*norm);
        } else {
            norm_kernel<T, 1><<<grid, block, 0, queue>>>(*norm);
        }
        return cudaGetLastError();
    });
}

int potluck_cuda_norm_backward(const struct PotluckCudaNormBackward* norm, void* stream) {
    if (norm == nullptr || norm->width == 0) return cudaErrorInvalidValue;
    if (norm->rows == 0) return cudaSuccess;
    const uint64_t shared = 2 * norm->width * sizeof(float);
    if (shared > 48'000) return cudaErrorInvalidConfiguration;
    return typed(norm->type, [&](auto zero) -> int {
        using T = decltype(zero);
        const void* const pointers[] = {norm->x, norm->gain, norm->dy, norm->dx};
        const uint64_t strip = divided_up(divided_up(norm->rows, parts_max), warps) * warps;
        const uint64_t parts = divided_up(norm->rows, strip), width = norm->width;
        const auto queue = static_cast<cudaStream_t>(stream);
        const auto grid = static_cast<unsigned>(parts);
        if (is_even(width, 4, pointers, 4, sizeof(float))) {
            norm_backward_kernel<T, 4><<<grid, block, shared, queue>>>(*norm, strip);
        } else {
            norm_backward_kernel<T, 1><<<grid, block, shared, queue>>>(*norm, strip);
        }
        const auto columns = static_cast<unsigned>(divided_up(width, warp));
        add_parts_kernel<<<columns, block, 0, queue>>>(norm->workspace, parts, 2 * width, width, norm->dgain);
        if (norm->dbias != nullptr) {
            add_parts_kernel<<<columns, block, 0, queue>>>(norm->workspace + width, parts, 2 * width, width,
                                                           norm->dbias);
        }
        return cudaGetLastError();
    });
}

int potluck_cuda_columns(const struct PotluckCudaColumns* columns, void* stream) {
    if (columns == nullptr || columns->width == 0) return cudaErrorInvalidValue;
    if (columns->rows == 0) return cudaSuccess;
    const auto queue = static_cast<cudaStream_t>(stream);
    return typed(columns->type, [&](auto zero) -> int {
        using T = decltype(zero);
        switch (columns->what) {
            case POTLUCK_CUDA_SUM: return queue_columns<T, Sum>(*columns, queue);
            case POTLUCK_CUDA_NARROW: return queue_columns<T, Narrow>(*columns, queue);
            case POTLUCK_CUDA_GELU_BACKWARD: return queue_columns<T, GeluBackward>(*columns, queue);
            case POTLUCK_CUDA_RELU_BACKWARD: return queue_columns<T, ReluBackward>(*columns, queue);
            default: return cudaErrorInvalidValue;
        }
    });
}

int potluck_cuda_cross_entropy(const struct PotluckCudaCrossEntropy* entropy, void* stream) {
    if (entropy == nullptr || entropy->vocabulary == 0) return cudaErrorInvalidValue;
    if (entropy->rows == 0) return cudaSuccess;
    return typed(entropy->type, [&](auto zero) -> int {
        using T = decltype(zero);
        constexpr int pack = 16 / sizeof(T);
        const void* const pointers[] = {entropy->logits};
        const auto grid = static_cast<unsigned>(entropy->rows);
        const auto queue = static_cast<cudaStream_t>(stream);
        if (is_even(entropy->stride, pack, pointers, 1, sizeof(T))) {
            entropy_kernel<T, pack><<<grid, entropy_block, 0, queue>>>(*entropy);
        } else {
            entropy_kernel<T, 1><<<grid, entropy_block, 0, queue>>>(*entropy);
        }
        return cudaGetLastError();
    });
}

int potluck_cuda_gated(const struct PotluckCudaGated* gated, void* stream) {
    if (gated == nullptr || gated->width == 0) return cudaErrorInvalidValue;
    if (gated->rows == 0) return cudaSuccess;
    return typed(gated->type, [&](auto zero) -> int {
        using T = decltype(zero);
        const void* const pointers[] = {gated->x, gated->dy, gated->y};
        const auto queue = static_cast<cudaStream_t>(stream);
        const bool even = is_even(gated->width, 4, pointers, 3, sizeof(float));
        const uint64_t threads = gated->rows * (gated->width / (even ? 4 : 1));
        const auto grid = static_cast<unsigned>(divided_up(threads, block));
        if (even) {
            gated_kernel<T, 4><<<grid, block, 0, queue>>>(*gated);
        } else {
            gated_kernel<T, 1><<<grid, block, 0, queue>>>(*gated);
        }
        return cudaGetLastError();
    });
}

int potluck_cuda_rotary(const struct PotluckCudaRotary* rotary, void* stream) {
    if (rotary == nullptr || rotary->half == 0 || rotary->time == 0) return cudaErrorInvalidValue;
    const uint64_t threads = rotary->rows * rotary->heads * rotary->half;
    if (threads == 0) return cudaSuccess;
    return typed(rotary->type, [&](auto zero) -> int {
        using T = decltype(zero);
        rotary_kernel<T>
            <<<static_cast<unsigned>(divided_up(threads, block)), block, 0, static_cast<cudaStream_t>(stream)>>>(
                *rotary);
        return cudaGetLastError();
    });
}

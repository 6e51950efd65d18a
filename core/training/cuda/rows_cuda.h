/* The part of the plug-in potluck_cuda that trains: passes over rows which LibTorch makes of several kernels each, with
 * a copy of the rows between. Sums are taken in fp32 and in an order of their own, the same at every call; so results
 * are those of core/training/compute/operations.h but for rounding. Shared state never passes through here.
 *
 * Rows are contiguous unless a stride is named; `type` is that of the products' operands. Every function queues its
 * work on `stream` (a cudaStream_t; null: the default one) of the device that is current in the calling thread, and
 * returns 0 or an error number of optimizer_cuda.h's potluck_cuda_error.
 *
 * Threads: one caller at a time per stream. Owns: nothing; all pointers are the caller's and lie on that device. */
#ifndef POTLUCK_ROWS_CUDA_H
#define POTLUCK_ROWS_CUDA_H

#include "core/numerics/cuda/optimizer_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { POTLUCK_CUDA_FP32 = 0, POTLUCK_CUDA_BF16 = 1, POTLUCK_CUDA_FP16 = 2 };

/* Sums over rows are made in at most so many parts; a workspace holds the parts of each sum of `width` floats. */
#define POTLUCK_CUDA_PARTS 264

/* y = (x - mean) * rstd * gain + bias in `type`; without a bias an RMS norm, whose mean is not asked for. */
struct PotluckCudaNorm {
    uint64_t rows, width;
    const float* x;
    const float* gain;
    const float* bias; /* null: RMS */
    double epsilon;
    uint32_t type;
    void* y;
    float* mean; /* of each row; null with RMS */
    float* rstd;
};
POTLUCK_CUDA_EXPORT int potluck_cuda_norm(const struct PotluckCudaNorm* norm, void* stream);

/* Adds to dx, dgain and, without RMS, dbias. */
struct PotluckCudaNormBackward {
    uint64_t rows, width;
    uint32_t type; /* of dy */
    const void* dy;
    const float* x;
    const float* gain;
    const float* mean; /* null: RMS */
    const float* rstd;
    float* dx;
    float* dgain;
    float* dbias;     /* null: RMS */
    float* workspace; /* 2 * POTLUCK_CUDA_PARTS * width floats */
};
POTLUCK_CUDA_EXPORT int potluck_cuda_norm_backward(const struct PotluckCudaNormBackward* norm, void* stream);

/* What happens to each number before its column's sum is added to: nothing; fp32 becomes `type`; a gradient passes
 * through the derivative of an activation at x. */
enum { POTLUCK_CUDA_SUM = 0, POTLUCK_CUDA_NARROW = 1, POTLUCK_CUDA_GELU_BACKWARD = 2, POTLUCK_CUDA_RELU_BACKWARD = 3 };
struct PotluckCudaColumns {
    uint64_t rows, width;
    uint32_t what, type;
    const void* from; /* fp32 for NARROW, else `type` */
    const void* x;    /* `type`; activations only */
    void* to;         /* `type`; may be `from` where types agree; null for SUM */
    float* sums;      /* what the columns are added to */
    float* workspace; /* POTLUCK_CUDA_PARTS * width floats */
};
POTLUCK_CUDA_EXPORT int potluck_cuda_columns(const struct PotluckCudaColumns* columns, void* stream);

/* losses[row] = -ln softmax(logits[row])[target]; with a scale other than zero the logits become scale times the
 * gradient of the sum of losses. */
struct PotluckCudaCrossEntropy {
    uint64_t rows, vocabulary, stride; /* stride: numbers from row to row */
    uint32_t type;
    void* logits;
    const int64_t* targets;
    double scale;
    float* losses;
};
POTLUCK_CUDA_EXPORT int potluck_cuda_cross_entropy(const struct PotluckCudaCrossEntropy* entropy, void* stream);

/* Rows of 2 * width numbers, gates and then values of up. Forward: y = silu(gate) * up. Backward (dy given): the
 * gradient of x replaces x. */
struct PotluckCudaGated {
    uint64_t rows, width;
    uint32_t type;
    void* x;
    const void* dy; /* null: forward */
    void* y;        /* forward only */
};
POTLUCK_CUDA_EXPORT int potluck_cuda_gated(const struct PotluckCudaGated* gated, void* stream);

/* Turns the first `heads` heads of every row in place by the angles of its position, row % time. */
struct PotluckCudaRotary {
    uint64_t rows, stride, time, heads, half; /* half: numbers of half a head */
    uint32_t type, back;
    void* x;
    const float* cosines; /* (time, half) */
    const float* sines;
};
POTLUCK_CUDA_EXPORT int potluck_cuda_rotary(const struct PotluckCudaRotary* rotary, void* stream);

#ifdef __cplusplus
}
#endif

#endif

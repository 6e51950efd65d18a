/* The plug-in potluck_cuda: optimizer steps of core/numerics/optimizer/optimizer.h on the memory of an NVIDIA GPU,
 * with the bytes that a processor gets. Plain C, so that a program built without CUDA opens it at run time; it
 * contains CUDA's run time and needs a driver only.
 *
 * Threads: one caller at a time per stream. Owns: nothing; all pointers are the caller's and lie on the device that is
 * current in the calling thread. */
#ifndef POTLUCK_OPTIMIZER_CUDA_H
#define POTLUCK_OPTIMIZER_CUDA_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define POTLUCK_CUDA_EXPORT __declspec(dllexport)
#else
#define POTLUCK_CUDA_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Grows with every change of what follows; a program uses a plug-in of its own number only. */
#define POTLUCK_CUDA_ABI 3

/* LAMB_RAW takes the moments as they are; the caller scales the learning rate where that shall make up for it. */
enum { POTLUCK_CUDA_ADAMW = 0, POTLUCK_CUDA_LAMB = 1, POTLUCK_CUDA_LAMB_RAW = 2 };

/* One slice's step. The pointers are those of the slice's first number. Either the codes and scales are given, or the
 * floats `mean` and `variance`; the others are null. */
struct PotluckCudaStep {
    uint32_t kind; /* POTLUCK_CUDA_ADAMW, _LAMB or _LAMB_RAW */
    uint32_t parameters_are_bf16, gradient_is_bf16;
    float weight_decay;
    double learning_rate, beta1, beta2, epsilon, trust_max, gradient_scale;
    uint64_t step, rounding_seed;
    uint64_t flat_begin; /* index of the slice's first number in the flat vector: what rounding depends on */
    uint64_t length;
    void* parameters;
    const void* gradient;
    uint8_t* mean_codes;
    uint8_t* variance_codes;
    float* mean_scales;
    float* variance_scales;
    float* mean;
    float* variance;
    void* workspace; /* potluck_cuda_workspace_bytes(length) bytes; LAMB only */
};

POTLUCK_CUDA_EXPORT uint32_t potluck_cuda_abi(void);

/* The number of GPUs; 0 without one or without a driver. */
POTLUCK_CUDA_EXPORT int potluck_cuda_devices(void);

POTLUCK_CUDA_EXPORT uint64_t potluck_cuda_workspace_bytes(uint64_t length);

/* Queues the step on `stream` (a cudaStream_t; null: the default one) and returns at once. 0, or an error number. */
POTLUCK_CUDA_EXPORT int potluck_cuda_optimizer_step(const struct PotluckCudaStep* step, void* stream);

/* What an error number means; valid for ever. */
POTLUCK_CUDA_EXPORT const char* potluck_cuda_error(int error);

/* Memory for those who have no other way to it (tests, benchmarks): allocation, copies either way, the end of all that
 * was queued. 0, or an error number. */
POTLUCK_CUDA_EXPORT int potluck_cuda_allocate(void** out, uint64_t bytes);
POTLUCK_CUDA_EXPORT int potluck_cuda_free(void* memory);
POTLUCK_CUDA_EXPORT int potluck_cuda_upload(void* to, const void* from, uint64_t bytes);
POTLUCK_CUDA_EXPORT int potluck_cuda_download(void* to, const void* from, uint64_t bytes);
POTLUCK_CUDA_EXPORT int potluck_cuda_wait(void);

#ifdef __cplusplus
}
#endif

#endif

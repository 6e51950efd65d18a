#include "core/training/compute/cuda_optimizer.h"

#include <string>
#include <system_error>

#include "core/device/shared_library.h"
#include "core/numerics/cuda/optimizer_cuda.h"

namespace potluck::training {

namespace {

#if defined(_WIN32)
constexpr const char* plugin_file = "potluck_cuda.dll";
#elif defined(__APPLE__)
constexpr const char* plugin_file = "libpotluck_cuda.dylib";
#else
constexpr const char* plugin_file = "libpotluck_cuda.so";
#endif

template <class Function>
bool find(const device::SharedLibrary& library, const char* name, Function& out) {
    out = library.find<Function>(name);
    return out != nullptr;
}

std::uint32_t kind_of(const numerics::StepHyperparams& settings) {
    if (settings.kind != numerics::OptimizerKind::lamb) return POTLUCK_CUDA_ADAMW;
    return settings.lamb_debias == numerics::LambDebias::moments ? POTLUCK_CUDA_LAMB : POTLUCK_CUDA_LAMB_RAW;
}

Error missing(const std::filesystem::path& file, const char* what) {
    return {ErrorCode::unavailable, "The GPU plug-in " + file.string() + " " + what + "; install Potluck again."};
}

}  // namespace

Result<CudaOptimizer::Functions> CudaOptimizer::load(const std::filesystem::path& file) {
    const device::SharedLibrary library(file);
    if (!library.open()) return missing(file, ("cannot be opened (" + library.failure() + ")").c_str());
    Functions f;
    if (!find(library, "potluck_cuda_abi", f.abi) || f.abi() != POTLUCK_CUDA_ABI) {
        return missing(file, "is of another version");
    }
    const bool whole =
        find(library, "potluck_cuda_devices", f.devices) &&
        find(library, "potluck_cuda_workspace_bytes", f.workspace_bytes) &&
        find(library, "potluck_cuda_optimizer_step", f.step) && find(library, "potluck_cuda_error", f.error) &&
        find(library, "potluck_cuda_allocate", f.allocate) && find(library, "potluck_cuda_free", f.release) &&
        find(library, "potluck_cuda_upload", f.upload) && find(library, "potluck_cuda_download", f.download) &&
        find(library, "potluck_cuda_wait", f.wait);
    if (!whole) return missing(file, "is incomplete");
    return f;
}

std::filesystem::path CudaOptimizer::file_in(const std::filesystem::path& folder) {
    for (const std::filesystem::path& place : {folder, folder.parent_path() / "lib" / "potluck"}) {
        std::error_code error;
        if (std::filesystem::exists(place / plugin_file, error)) return place / plugin_file;
    }
    return {};
}

Result<CudaOptimizer> CudaOptimizer::open(const std::filesystem::path& folder) {
    const std::filesystem::path file = file_in(folder);
    if (file.empty()) {
        return Error{ErrorCode::unavailable,
                     "The GPU plug-in is not beside the programs; install the version of Potluck for NVIDIA GPUs."};
    }
    const Result<Functions> functions = load(file);
    if (!functions) return functions.error();
    if (functions->devices() == 0) {
        return Error{ErrorCode::unavailable,
                     "No NVIDIA GPU answers; if this computer has one, install or update its driver."};
    }
    return CudaOptimizer(*functions);
}

std::uint64_t CudaOptimizer::workspace_bytes(std::uint64_t length) const { return m_functions.workspace_bytes(length); }

Status CudaOptimizer::checked(int error) const {
    constexpr int out_of_memory = 2;  // cudaErrorMemoryAllocation
    if (error == 0) return {};
    return Error{error == out_of_memory ? ErrorCode::out_of_memory : ErrorCode::io,
                 std::string("The GPU failed (") + m_functions.error(error) +
                     "); close other programs that use it, or start the computer again."};
}

Status CudaOptimizer::step(const numerics::ParameterSlice& slice, const DeviceVectors& vectors,
                           const DeviceMoments& moments, const numerics::StepHyperparams& settings, void* workspace,
                           void* stream) const {
    const auto size_of = [](DeviceDtype type) { return type == DeviceDtype::bf16 ? std::size_t{2} : std::size_t{4}; };
    const auto begin = static_cast<std::size_t>(slice.begin);
    PotluckCudaStep out{};
    out.kind = kind_of(settings);
    out.parameters_are_bf16 = vectors.parameter_type == DeviceDtype::bf16 ? 1 : 0;
    out.gradient_is_bf16 = vectors.gradient_type == DeviceDtype::bf16 ? 1 : 0;
    out.weight_decay = slice.weight_decay;
    out.learning_rate = out.kind == POTLUCK_CUDA_ADAMW ? settings.learning_rate : numerics::lamb_rate(settings);
    out.beta1 = settings.beta1;
    out.beta2 = settings.beta2;
    out.epsilon = settings.epsilon;
    out.trust_max = settings.trust_max;
    out.gradient_scale = settings.gradient_scale;
    out.step = settings.step;
    out.rounding_seed = settings.rounding_seed;
    out.flat_begin = slice.begin;
    out.length = slice.end - slice.begin;
    out.parameters = static_cast<std::byte*>(vectors.parameters) + begin * size_of(vectors.parameter_type);
    out.gradient = static_cast<const std::byte*>(vectors.gradient) + begin * size_of(vectors.gradient_type);
    out.mean_codes = moments.mean_codes;
    out.variance_codes = moments.variance_codes;
    out.mean_scales = moments.mean_scales;
    out.variance_scales = moments.variance_scales;
    out.mean = moments.mean;
    out.variance = moments.variance;
    out.workspace = workspace;
    return checked(m_functions.step(&out, stream));
}

Status CudaOptimizer::wait() const { return checked(m_functions.wait()); }

Result<void*> CudaOptimizer::allocate(std::uint64_t bytes) const {
    void* memory = nullptr;
    if (Status status = checked(m_functions.allocate(&memory, bytes)); !status) return status.error();
    return memory;
}

void CudaOptimizer::release(void* memory) const { static_cast<void>(m_functions.release(memory)); }

Status CudaOptimizer::upload(void* to, std::span<const std::byte> from) const {
    return checked(m_functions.upload(to, from.data(), from.size()));
}

Status CudaOptimizer::download(std::span<std::byte> to, const void* from) const {
    return checked(m_functions.download(to.data(), from, to.size()));
}

}  // namespace potluck::training

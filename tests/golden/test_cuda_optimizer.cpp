// The plug-in's steps on a GPU have the bytes of the processor's. Skipped where there is no GPU.
#include <QtTest>

#include <bit>
#include <cstring>
#include <limits>

#include "core/numerics/optimizer/optimizer.h"
#include "core/training/compute/cuda_optimizer.h"
#include "tests/golden/numerics_inputs.h"

using namespace potluck;
using namespace potluck::numerics;
using namespace potluck::training;
using inputs::Kind;

namespace {

constexpr std::size_t size = 300'001;
std::vector<ParameterSlice> slices() {
    return {{0, 1, 0.0F}, {1, 4'000, 0.1F}, {4'000, 70'001, 0.1F}, {70'001, size, 0.01F}};
}

/// Device memory filled from, and brought back to, what lies in a span.
class Mirror {
public:
    template <class T>
    Mirror(const CudaOptimizer& gpu, std::span<T> host) : m_gpu(gpu), m_bytes(host.size_bytes()) {
        if (host.empty()) return;
        Result<void*> memory = gpu.allocate(m_bytes);
        if (!memory) qFatal("%s", memory.error().message.c_str());
        m_memory = *memory;
        if (!gpu.upload(m_memory, std::as_bytes(host))) qFatal("upload");
    }
    ~Mirror() {
        if (m_memory != nullptr) m_gpu.release(m_memory);
    }
    Mirror(const Mirror&) = delete;
    Mirror& operator=(const Mirror&) = delete;

    template <class T>
    [[nodiscard]] T* as() const {
        return static_cast<T*>(m_memory);
    }
    /// Whether the device holds what the host does.
    template <class T>
    [[nodiscard]] bool equals(std::span<T> host) const {
        if (host.empty()) return true;
        std::vector<std::byte> bytes(m_bytes);
        if (!m_gpu.download(bytes, m_memory)) qFatal("download");
        return std::memcmp(bytes.data(), host.data(), m_bytes) == 0;
    }

private:
    const CudaOptimizer& m_gpu;
    std::size_t m_bytes;
    void* m_memory = nullptr;
};

struct MomentsMirror {
    MomentsMirror(const CudaOptimizer& gpu, const OptimizerState::Moments& m)
        : mean_codes(gpu, m.mean_codes),
          variance_codes(gpu, m.variance_codes),
          mean_scales(gpu, m.mean_scales),
          variance_scales(gpu, m.variance_scales),
          mean(gpu, m.mean),
          variance(gpu, m.variance) {}
    [[nodiscard]] DeviceMoments pointers() const {
        return {mean_codes.as<std::uint8_t>(),
                variance_codes.as<std::uint8_t>(),
                mean_scales.as<float>(),
                variance_scales.as<float>(),
                mean.as<float>(),
                variance.as<float>()};
    }
    [[nodiscard]] bool equals(const OptimizerState::Moments& m) const {
        return mean_codes.equals(m.mean_codes) && variance_codes.equals(m.variance_codes) &&
               mean_scales.equals(m.mean_scales) && variance_scales.equals(m.variance_scales) && mean.equals(m.mean) &&
               variance.equals(m.variance);
    }
    Mirror mean_codes, variance_codes, mean_scales, variance_scales, mean, variance;
};

template <class Dtype>
std::vector<Dtype> vector_of(const std::vector<float>& values) {
    if constexpr (std::is_same_v<Dtype, float>) {
        return values;
    } else {
        std::vector<Dtype> out;
        for (const float x : values)
            out.push_back({static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16U)});
        return out;
    }
}

std::vector<float> gradient_of(std::uint64_t seed) {
    std::vector<float> out = inputs::make(Kind::clustered, size, seed);
    const float odd[] = {0.0F,  -0.0F,  1e-40F, std::numeric_limits<float>::quiet_NaN(),
                         1e30F, -1e19F, 2e17F,  std::numeric_limits<float>::infinity()};
    Rng rng(seed);
    for (std::size_t i = 0; i < size / 30; ++i) out[rng.below(size)] = odd[rng.below(std::size(odd))];
    for (std::size_t i = 90'000; i < 91'000; ++i) out[i] = std::numeric_limits<float>::quiet_NaN();
    return out;
}

template <class Parameter, class Gradient>
void check_equal(const CudaOptimizer& gpu, StepHyperparams settings, StateBits bits) {
    constexpr auto type_of = [](auto number) {
        return std::is_same_v<decltype(number), float> ? DeviceDtype::fp32 : DeviceDtype::bf16;
    };
    std::vector<Parameter> parameters = vector_of<Parameter>(inputs::make(Kind::bell, size, 1));
    OptimizerState state(slices(), bits);
    const Mirror device_parameters(gpu, std::span(parameters));
    std::vector<std::unique_ptr<MomentsMirror>> device_state;
    for (std::size_t i = 0; i < slices().size(); ++i) {
        device_state.push_back(std::make_unique<MomentsMirror>(gpu, state.moments(i)));
    }
    std::vector<std::byte> zeros(static_cast<std::size_t>(gpu.workspace_bytes(size)));
    const Mirror workspace(gpu, std::span(zeros));
    for (std::uint64_t step = 1; step <= 5; ++step) {
        const std::vector<Gradient> gradient = vector_of<Gradient>(gradient_of(step));
        const Mirror device_gradient(gpu, std::span(gradient));
        settings.learning_rate = 3e-3;
        settings.gradient_scale = 0.37;
        settings.step = settings.rounding_seed = step;
        optimizer_step<Parameter, Gradient>(state, 0, slices().size(), parameters, gradient, settings, 2);
        const DeviceVectors vectors{device_parameters.as<void>(), type_of(Parameter{}), device_gradient.as<void>(),
                                    type_of(Gradient{})};
        for (std::size_t i = 0; i < slices().size(); ++i) {
            QVERIFY(
                gpu.step(slices()[i], vectors, device_state[i]->pointers(), settings, workspace.as<void>(), nullptr));
        }
        QVERIFY(gpu.wait());
        QVERIFY2(device_parameters.equals(std::span(parameters)), qPrintable(QString("step %1").arg(step)));
        for (std::size_t i = 0; i < slices().size(); ++i) QVERIFY(device_state[i]->equals(state.moments(i)));
    }
}

}  // namespace

class TestCudaOptimizer : public QObject {
    Q_OBJECT
private slots:
    void a_folder_without_plug_in_is_told() {
        const Result<CudaOptimizer> gpu = CudaOptimizer::open("/nowhere/at/all");
        QVERIFY(!gpu);
        QCOMPARE(gpu.error().code, ErrorCode::unavailable);
    }

    void a_gpu_gets_the_bytes_of_the_processor() {
        const Result<CudaOptimizer> gpu = CudaOptimizer::open(POTLUCK_BIN_DIR);
        if (!gpu) QSKIP(gpu.error().message.c_str());
        const StepHyperparams kinds[] = {{.kind = OptimizerKind::adamw},
                                         {.kind = OptimizerKind::lamb},
                                         {.kind = OptimizerKind::lamb, .lamb_debias = LambDebias::rate},
                                         {.kind = OptimizerKind::lamb, .lamb_debias = LambDebias::none}};
        for (const StepHyperparams& kind : kinds) {
            for (const StateBits bits : {StateBits::bits8, StateBits::bits32}) {
                check_equal<float, float>(*gpu, kind, bits);
                check_equal<float, Bf16>(*gpu, kind, bits);
                check_equal<Bf16, float>(*gpu, kind, bits);
                check_equal<Bf16, Bf16>(*gpu, kind, bits);
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestCudaOptimizer)
#include "test_cuda_optimizer.moc"

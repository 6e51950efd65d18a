// NVIDIA's management library as a test pretends it: one GPU, at bus place "good", whose figures are fixed, and one at
// "mute" that tells nothing. Signatures are those that core/device/nvml.h calls.
#include <cstring>

namespace {

int good = 0, mute = 0;
constexpr int not_supported = 3;

int told(const void* gpu, unsigned value, unsigned* out) {
    if (gpu != &good) return not_supported;
    *out = value;
    return 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }

int nvmlSystemGetDriverVersion(char* text, unsigned bytes) {
    std::strncpy(text, "580.65", bytes);
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* place, void** gpu) {
    if (std::strcmp(place, "good") == 0) *gpu = &good;
    if (std::strcmp(place, "mute") == 0) *gpu = &mute;
    return *gpu == nullptr ? not_supported : 0;
}

int nvmlDeviceGetPowerUsage(void* gpu, unsigned* milliwatts) { return told(gpu, 123'400, milliwatts); }
int nvmlDeviceGetEnforcedPowerLimit(void* gpu, unsigned* milliwatts) { return told(gpu, 350'000, milliwatts); }
int nvmlDeviceGetTemperature(void* gpu, int sensor, unsigned* celsius) {
    return sensor == 0 ? told(gpu, 61, celsius) : not_supported;
}

int nvmlDeviceGetMemoryInfo(void* gpu, unsigned long long* total_free_used) {
    if (gpu != &good) return not_supported;
    total_free_used[0] = 100;
    total_free_used[1] = 60;
    total_free_used[2] = 40;
    return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* gpu, unsigned* count, unsigned long long* holders) {
    if (gpu != &good || *count < 2) return not_supported;
    holders[0] = 0xffffffff00000000 | 77;  // what stands in the gap behind a number means nothing
    holders[1] = 25;
    holders[3] = 78;
    holders[4] = ~0ULL;  // unknown
    *count = 2;
    return 0;
}
}

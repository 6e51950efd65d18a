// What was found out about a computer before anybody judged it: processor, memory, the graphics drivers' answers, the
// GPU back end of LibTorch. Plain values, so that computers nobody has here are tested by their recorded facts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace potluck::device {

struct MemoryFacts {
    std::uint64_t total = 0;  // bytes; 0: unknown. A container's limit counts, where it is lower than the computer's
    std::uint64_t free = 0;   // can be had without swapping; 0: unknown
};

/// Only what the operating system lets programs use, within the instruction set in use (core/base/processor/isa.h).
struct SimdFacts {
    bool sse2 = false, avx2 = false, avx512 = false, avx512_bf16 = false, amx_bf16 = false, neon = false;
    bool intel = false;  // made by Intel, whose libraries keep their widest instructions to such processors
};

struct ProcessorFacts {
    std::string name;
    std::uint32_t cores = 0, logical = 0;
    SimdFacts simd;
    MemoryFacts memory;
};

enum class Vendor { nvidia, amd, intel };

/// A graphics processor on the computer's bus, whether or not anything can talk to it.
struct BusGpu {
    Vendor vendor = Vendor::nvidia;
    std::string name;                // the driver's name for it, else its number on the bus
    std::uint64_t memory_total = 0;  // 0: unknown
    std::uint64_t memory_free = 0;
};

/// A GPU as NVIDIA's driver describes it; the place in the list is the index that CUDA uses.
struct NvidiaGpu {
    std::string name;
    std::uint32_t major = 0, minor = 0;  // compute capability
    std::uint64_t memory_total = 0;
    std::uint64_t memory_free = 0;  // 0: unknown
};

struct NvidiaFacts {
    enum class Driver { absent, failed, working } driver = Driver::absent;
    int failure = 0;           // what cuInit gave
    std::uint32_t cuda = 0;    // highest CUDA version the driver serves: 12040 is 12.4
    std::string version = {};  // "580.65"; empty: unknown
    std::vector<NvidiaGpu> gpus = {};
};

/// The part of LibTorch that computes on GPUs: a library of its own, opened at run time.
struct BackendFacts {
    enum class Kind { none, cuda, rocm } kind = Kind::none;  // of the file that is there
    std::string file = {};
    std::string failure = {};   // why it could not be opened; empty: it was
    std::uint32_t runtime = 0;  // CUDA version it was built for: 13000 is 13.0; 0: unknown
    std::uint32_t devices = 0;  // GPUs it sees
};

enum class System { linux_like, windows, mac };

struct ComputerFacts {
    System system = System::linux_like;
    ProcessorFacts processor;
    std::vector<BusGpu> bus;
    NvidiaFacts nvidia;
    std::string torch;  // LibTorch's version: a back end must be of the same
    BackendFacts backend;
    bool metal = false;  // LibTorch can use this Mac's GPU
};

}  // namespace potluck::device

// Names, cores and vector units, each from the best source of its system: /proc/cpuinfo on Linux, sysctl on macOS, and
// CPUID's brand string elsewhere. Physical cores are the distinct pairs of socket and core id; where a virtual machine
// reports none, every logical processor counts as one. ARM64 has no name there but two numbers, and cores of several
// kinds; the last kind names the processor, because systems count the faster cores last.
//
// A vector unit is reported only if CPUID has its flag and XCR0 says that the operating system saves its registers:
// without the second the first instruction of that kind ends the process (Intel SDM, volume 1, sections 13.2 and 14.3).
// What cannot be found out is left at a value that is safe to plan with, since this must never be the reason why a
// computer does not train.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "core/device/probe.h"

#if defined(__x86_64__) || defined(_M_X64)
#define POTLUCK_HAS_CPUID 1
#ifdef _MSC_VER
#include <intrin.h>
#else
#include <cpuid.h>
#endif
#endif

#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

namespace potluck::device {

namespace {

#ifdef POTLUCK_HAS_CPUID

struct Registers {
    std::uint32_t a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(std::uint32_t leaf, std::uint32_t part) {
    Registers registers;
#ifdef _MSC_VER
    int values[4];
    __cpuidex(values, static_cast<int>(leaf), static_cast<int>(part));
    registers = {static_cast<std::uint32_t>(values[0]), static_cast<std::uint32_t>(values[1]),
                 static_cast<std::uint32_t>(values[2]), static_cast<std::uint32_t>(values[3])};
#else
    __get_cpuid_count(leaf, part, &registers.a, &registers.b, &registers.c, &registers.d);
#endif
    return registers;
}

/// Which register sets the operating system saves when it switches threads; without that they cannot be used.
std::uint64_t saved_register_sets() {
#ifdef _MSC_VER
    return _xgetbv(0);
#else
    std::uint32_t low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return std::uint64_t{high} << 32U | low;
#endif
}

bool bit(std::uint32_t word, unsigned index) { return ((word >> index) & 1U) != 0; }

#endif

#ifdef __APPLE__
std::uint32_t sysctl_number(const char* name) {
    std::int32_t value = 0;
    std::size_t size = sizeof value;
    return sysctlbyname(name, &value, &size, nullptr, 0) == 0 && value > 0 ? static_cast<std::uint32_t>(value) : 0;
}

std::string sysctl_text(const char* name) {
    char text[256] = {};
    std::size_t size = sizeof text - 1;
    return sysctlbyname(name, text, &size, nullptr, 0) == 0 ? text : "";
}
#endif

#if defined(POTLUCK_HAS_CPUID) && !defined(__linux__) && !defined(__APPLE__)
/// The processor's own name: 48 bytes in three leaves.
std::string brand() {
    std::string text;
    for (std::uint32_t leaf = 0x80000002U; leaf <= 0x80000004U; ++leaf) {
        const Registers registers = cpuid(leaf, 0);
        for (const std::uint32_t word : {registers.a, registers.b, registers.c, registers.d}) {
            for (unsigned shift = 0; shift < 32; shift += 8) text.push_back(static_cast<char>(word >> shift & 0xFFU));
        }
    }
    text.resize(std::min(text.size(), text.find('\0')));
    const std::size_t last = text.find_last_not_of(' ');
    text.resize(last == std::string::npos ? 0 : last + 1);
    return text;
}
#endif

/// By implementer and part, as MIDR_EL1 of Arm's own cores has them (their technical reference manuals).
std::string arm_core(const std::string& implementer, const std::string& part) {
    if (implementer != "0x41") return "";
    static const std::map<std::string, std::string> names = {
        {"0xd03", "Cortex-A53"},  {"0xd05", "Cortex-A55"}, {"0xd07", "Cortex-A57"}, {"0xd08", "Cortex-A72"},
        {"0xd09", "Cortex-A73"},  {"0xd0a", "Cortex-A75"}, {"0xd0b", "Cortex-A76"}, {"0xd0c", "Neoverse-N1"},
        {"0xd40", "Neoverse-V1"}, {"0xd41", "Cortex-A78"}, {"0xd44", "Cortex-X1"},  {"0xd49", "Neoverse-N2"},
        {"0xd4f", "Neoverse-V2"}};
    const auto found = names.find(part);
    return found == names.end() ? "" : found->second;
}

ProcessorFacts name_and_cores() {
#ifdef __linux__
    std::ifstream file("/proc/cpuinfo");
    std::ostringstream text;
    text << file.rdbuf();
    return parse_cpuinfo(text.str());
#elif defined(__APPLE__)
    ProcessorFacts facts;
    facts.name = sysctl_text("machdep.cpu.brand_string");
    facts.cores = sysctl_number("hw.physicalcpu");
    facts.logical = sysctl_number("hw.logicalcpu");
    return facts;
#elif defined(POTLUCK_HAS_CPUID)
    ProcessorFacts facts;
    facts.name = brand();
    return facts;
#else
    return {};
#endif
}

}  // namespace

ProcessorFacts parse_cpuinfo(const std::string& text) {
    ProcessorFacts facts;
    std::set<std::pair<std::string, std::string>> cores;
    std::string line, socket, implementer, part;
    std::istringstream lines(text);
    while (std::getline(lines, line)) {
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos) continue;
        const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
        const std::string value = colon + 2 <= line.size() ? line.substr(colon + 2) : "";
        if (key == "processor") ++facts.logical;
        if (key == "model name" && facts.name.empty()) facts.name = value;
        if (key == "physical id") socket = value;
        if (key == "core id") cores.emplace(socket, value);
        if (key == "CPU implementer") implementer = value;
        if (key == "CPU part") part = value;
    }
    if (facts.name.empty()) facts.name = arm_core(implementer, part);
    facts.cores = static_cast<std::uint32_t>(cores.size());
    return facts;
}

SimdFacts probe_simd() {
    SimdFacts facts;
#ifdef POTLUCK_HAS_CPUID
    constexpr std::uint64_t avx_state = 0x6, avx512_state = 0xE6, amx_state = 0x60000;
    facts.sse2 = true;                           // of x86-64 always
    facts.intel = cpuid(0, 0).b == 0x756E6547U;  // "Genu"ineIntel
    if (!bit(cpuid(1, 0).c, 27)) return facts;   // the system tells nothing of saved registers
    const std::uint64_t saved = saved_register_sets();
    const Registers seven = cpuid(7, 0);
    facts.avx2 = (saved & avx_state) == avx_state && bit(seven.b, 5);
    facts.avx512 = (saved & avx512_state) == avx512_state && bit(seven.b, 16);
    facts.avx512_bf16 = facts.avx512 && bit(cpuid(7, 1).a, 5);
    facts.amx_bf16 = (saved & amx_state) == amx_state && bit(seven.d, 24) && bit(seven.d, 22);
#elif defined(__aarch64__) || defined(_M_ARM64)
    facts.neon = true;
#endif
#if POTLUCK_X86_ISAS
    facts = within(facts, isa_in_use());
#endif
    return facts;
}

SimdFacts within(SimdFacts facts, Isa isa) {
    const bool wide = isa == Isa::avx512;
    facts.avx2 = facts.avx2 && isa != Isa::baseline;
    facts.avx512 = facts.avx512 && wide;
    facts.avx512_bf16 = facts.avx512_bf16 && wide;
    facts.amx_bf16 = facts.amx_bf16 && wide;
    return facts;
}

ProcessorFacts probe_processor() {
    ProcessorFacts facts = name_and_cores();
    if (facts.name.empty()) facts.name = "Processor";
    if (facts.logical == 0) facts.logical = std::max(1U, std::thread::hardware_concurrency());
    if (facts.cores == 0) facts.cores = facts.logical;
    facts.simd = probe_simd();
    facts.memory = read_memory();
    return facts;
}

}  // namespace potluck::device

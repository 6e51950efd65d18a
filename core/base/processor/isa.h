// The instruction set that our kernels compute with: the widest that this processor and this build have, or a narrower
// one that POTLUCK_ISA (baseline, avx2 or avx512) asks for, so that a computer with AVX-512 can run what others run.
// Code that exists for several asks isa_in_use() and never the processor itself.
//
//   baseline   what every processor of the architecture has: SSE2 on x86-64, NEON on ARM64
//   avx2       256 bits with FMA: Intel since 2013, AMD since 2015
//   avx512     512 bits (F, BW, DQ and VL), which most computers at home lack
//
// Standard library only, so that core/numerics may use it. Threads: any; the variable is read once.
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#if defined(__x86_64__) && defined(__GNUC__)
#define POTLUCK_X86_ISAS 1
#else
#define POTLUCK_X86_ISAS 0
#endif

namespace potluck {

enum class Isa { baseline, avx2, avx512 };

inline constexpr std::array<Isa, 3> all_isas = {Isa::baseline, Isa::avx2, Isa::avx512};

/// As POTLUCK_ISA spells it.
[[nodiscard]] inline const char* name_of(Isa isa) {
    switch (isa) {
        case Isa::baseline: return "baseline";
        case Isa::avx2: return "avx2";
        case Isa::avx512: return "avx512";
    }
    return "unknown";
}

/// True if this processor (and this build) can run `isa`; `baseline` always can.
[[nodiscard]] inline bool available(Isa isa) {
#if POTLUCK_X86_ISAS
    // The built-in also asks whether the operating system saves the wide registers.
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi");
    if (isa == Isa::avx2) return avx2;
    if (isa == Isa::avx512) {
        return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    }
#endif
    return isa == Isa::baseline;
}

struct IsaChoice {
    Isa isa = Isa::baseline;
    std::string problem = {};  // one sentence; empty: none
};

/// `asked`: the value of POTLUCK_ISA; null or empty: the widest there is.
[[nodiscard]] inline IsaChoice choose_isa(const char* asked) {
    const std::string_view word = asked == nullptr ? "" : asked;
    IsaChoice choice;
    bool known = word.empty();
    for (const Isa isa : all_isas) {
        known = known || word == name_of(isa);
        if (available(isa) && (word.empty() || word == name_of(isa))) choice.isa = isa;
    }
    if (!known) {
        choice.problem = "POTLUCK_ISA is \"" + std::string(word) + "\"; it can be baseline, avx2 or avx512.";
    } else if (!word.empty() && word != name_of(choice.isa)) {
        choice.problem = "POTLUCK_ISA asks for " + std::string(word) + ", which this processor or this build lacks.";
    }
    return choice;
}

/// This process's choice.
[[nodiscard]] inline const IsaChoice& isa_choice() {
    static const IsaChoice choice = choose_isa(std::getenv("POTLUCK_ISA"));
    return choice;
}

/// Ends the process if the variable asks for what there is not: a figure or a test of another instruction set than the
/// one that was asked for would mislead. Its status, 77, is a skipped test to those who run tests. Programs look at
/// isa_choice().problem first.
[[nodiscard]] inline Isa isa_in_use() {
    const IsaChoice& choice = isa_choice();
    if (!choice.problem.empty()) {
        std::fprintf(stderr, "%s\n", choice.problem.c_str());
        std::_Exit(77);
    }
    return choice.isa;
}

}  // namespace potluck

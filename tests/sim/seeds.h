// Which seeds a test tries: POTLUCK_SIM_SEED replays one, POTLUCK_SIM_SEEDS says how many, POTLUCK_SIM_FIRST with which
// to begin, so that a long search can be cut in pieces. From a thousand seeds on, as `./dev test --long` asks for,
// tests that have one long case instead of many run it at full length.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace potluck::sim {

/// What an environment variable says, else `otherwise`.
inline std::uint64_t told(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

inline std::vector<std::uint64_t> seeds(std::uint64_t usual) {
    if (std::getenv("POTLUCK_SIM_SEED") != nullptr) return {told("POTLUCK_SIM_SEED", 0)};
    const std::uint64_t count = told("POTLUCK_SIM_SEEDS", usual), first = told("POTLUCK_SIM_FIRST", 1);
    std::vector<std::uint64_t> list;
    for (std::uint64_t i = 0; i < count; ++i) list.push_back(first + i);
    return list;
}

/// What was wrong, and how to see it again.
inline std::string at_seed(std::uint64_t seed, const std::string& wrong) {
    return "seed " + std::to_string(seed) + ": " + wrong;
}

/// The length of a test's only case.
inline std::uint64_t length(std::uint64_t usual, std::uint64_t full) {
    return told("POTLUCK_SIM_SEEDS", 0) >= 1'000 ? full : usual;
}

/// The members of a test that takes as many as somebody asks for: POTLUCK_SIM_MEMBERS, or none.
inline std::size_t members_wanted() { return told("POTLUCK_SIM_MEMBERS", 0); }

}  // namespace potluck::sim

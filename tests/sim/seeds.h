// Which seeds a test tries: POTLUCK_SIM_SEED replays one, POTLUCK_SIM_SEEDS says how many, POTLUCK_SIM_FIRST with which
// to begin, so that a long search can be cut in pieces. From a thousand seeds on, as `./dev test --long` asks for,
// tests that have one long case instead of many run it at full length.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace potluck::sim {

inline std::vector<std::uint64_t> seeds(std::uint64_t usual) {
    if (const char* one = std::getenv("POTLUCK_SIM_SEED")) return {std::strtoull(one, nullptr, 10)};
    std::uint64_t count = usual;
    if (const char* many = std::getenv("POTLUCK_SIM_SEEDS")) count = std::strtoull(many, nullptr, 10);
    std::uint64_t first = 1;
    if (const char* begin = std::getenv("POTLUCK_SIM_FIRST")) first = std::strtoull(begin, nullptr, 10);
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
    const char* many = std::getenv("POTLUCK_SIM_SEEDS");
    return many != nullptr && std::strtoull(many, nullptr, 10) >= 1'000 ? full : usual;
}

/// The members of a test that takes as many as somebody asks for: POTLUCK_SIM_MEMBERS, or none.
inline std::size_t members_wanted() {
    const char* wanted = std::getenv("POTLUCK_SIM_MEMBERS");
    return wanted == nullptr ? 0 : std::strtoull(wanted, nullptr, 10);
}

}  // namespace potluck::sim

// What the targets of files that prove something share: a verifier that holds every signature for genuine, so that
// inputs come as far as what signatures guard, and how many inputs came how far.
#pragma once

#include <cstdint>
#include <cstdio>

#include "core/base/rng.h"
#include "core/run/agreement/keyring.h"

namespace potluck::fuzz {

class Credulous final : public run::Verifier {
public:
    bool verify(const PeerId&, std::string_view, ByteSpan, const identity::Signature&) const override { return true; }
};

struct Reached {
    std::uint64_t inputs = 0, parsed = 0, proven = 0;

    /// Prints it; whether one of `share` inputs was parsed, and any proven.
    [[nodiscard]] bool is_far_enough(std::uint64_t share) const {
        std::printf("%llu of %llu parsed, %llu proven\n", static_cast<unsigned long long>(parsed),
                    static_cast<unsigned long long>(inputs), static_cast<unsigned long long>(proven));
        return share * parsed >= inputs && proven > 0;
    }
};

inline void flip_a_bit(std::uint8_t& byte, Rng& rng) { byte = static_cast<std::uint8_t>(byte ^ (1U << rng.below(8))); }

}  // namespace potluck::fuzz

// What a liar hands over in place of its work, between a node's requests and a trainer's replies. The trainer trains as
// ever, so that the size of the lie is that of honest work; what the node reads as the local parameters is another.
//
//   noise    a movement of the same norm in a random direction
//   flipped  the movement the other way round
//   copied   the movement of the window before, again
//   lazy     a tenth of the work, and ten times the tokens
//
// Does not: talk to anybody. Threads: one. Owns: the vectors that it remembers.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/rng.h"
#include "core/control/rpc.h"
#include "core/control/trainer_protocol.h"

namespace potluck::node {

enum class Lie { noise, flipped, copied, lazy };
inline constexpr Lie lies[] = {Lie::noise, Lie::flipped, Lie::copied, Lie::lazy};
[[nodiscard]] const char* name_of(Lie lie);
[[nodiscard]] std::optional<Lie> lie_named(std::string_view name);

/// A lazy liar does one part of so many.
inline constexpr std::uint64_t lazy_parts = 10;

class Spoiler {
public:
    Spoiler(Lie lie, std::uint64_t seed) : m_lie(lie), m_rng(seed) {}

    /// What is passed on to the trainer, in order.
    [[nodiscard]] std::vector<control::Request> on_request(const control::Request& request);
    /// What is passed on to the node; nothing for an answer to a question of the liar's own. A snapshot's file is
    /// spoiled by then.
    [[nodiscard]] std::optional<control::Line> on_line(const control::Line& line);

private:
    struct Pending {
        std::uint64_t id = 0;
        std::string_view method;
        control::VectorFile vector;
    };
    void answered(control::Reply& reply);
    [[nodiscard]] Status spoil(const control::VectorFile& target);
    [[nodiscard]] std::vector<float> lie_about(const std::vector<float>& moved);
    [[nodiscard]] Result<std::vector<float>> read(const control::VectorFile& file) const;

    Lie m_lie;
    Rng m_rng;
    std::uint64_t m_parameters = 0;
    std::deque<Pending> m_pending;      // those with a vector that have no answer yet
    std::vector<float> m_anchor;        // the trainer's M
    std::vector<float> m_moved_before;  // in the window before
    double m_share = 1;                 // of the time that the node allows
};

}  // namespace potluck::node

// What of a memory plan takes how much: told by the trainer, shown by a node.
// Threads: values.
#pragma once

#include <cstdint>
#include <string>

#include "core/control/fields.h"

namespace potluck::control {

inline constexpr std::size_t sentence_bytes_max = 4096;
inline constexpr std::size_t parts_max = 64;
inline constexpr double watts_shown_max = 1e6, celsius_shown_max = 1e4;

struct PlanPart {
    static constexpr std::string_view label = "part of a plan";
    std::string what, how;
    std::uint64_t gpu = 0, ram = 0, disk = 0;

    static void fields(auto& value, auto&& field) {
        field("what", value.what, Text{sentence_bytes_max}, "Name of the part, for example weights or activations.");
        field("how", value.how, Text{sentence_bytes_max}, "Representation, for example fp32, or bf16 and streamed.");
        field("gpu", value.gpu, Whole{}, "Bytes on the GPU.");
        field("ram", value.ram, Whole{}, "Bytes in memory.");
        field("disk", value.disk, Whole{}, "Bytes on disk.");
    }
};

}  // namespace potluck::control

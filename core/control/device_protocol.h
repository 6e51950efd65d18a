// Which devices train, as their owner chose, and what there is to choose from. Part of node_protocol.h and
// node_methods.h.
//
// Threads: values.
#pragma once

#include <string>

#include "core/control/trainer_protocol.h"

namespace potluck::control {

struct DeviceChoice {
    static constexpr std::string_view label = "choice of a device";
    std::string chosen;
    std::string obstacle = {};
    bool operator==(const DeviceChoice&) const = default;

    static void fields(auto& value, auto&& field) {
        field("chosen", value.chosen, Text{device_choice_bytes_max},
              "cpu, mps, cuda:1, or several GPUs as cuda:0,cuda:2; empty: the trainer chooses.");
        field("obstacle", value.obstacle, Text{sentence_bytes_max},
              "Why a device other than the chosen one trains, in English; empty if none has to.");
    }
};

/// What this computer could train on, found and measured by a trainer of its own; what was found is kept.
struct ReadDevices {
    static constexpr std::string_view name = "devices";
    using Reply = DetectReply;
    bool again = false;

    static void fields(auto& value, auto&& field) {
        field("again", value.again, Optional{Any{}}, "Whether to detect devices again, which takes seconds.");
    }
};

/// Holds at once: the trainer ends as for a pause, with what it has trained and its moments, and goes on there.
struct SetDevice {
    static constexpr std::string_view name = "set_device";
    using Reply = Done;
    std::string device;

    static void fields(auto& value, auto&& field) {
        field("device", value.device, Text{device_choice_bytes_max},
              "cpu, mps, cuda:1, or several GPUs as cuda:0,cuda:2, including absent ones; any: the trainer chooses.");
    }
};

}  // namespace potluck::control

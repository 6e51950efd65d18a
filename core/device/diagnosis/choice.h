// Which of the devices that were found train: those that a person chose, or else every usable GPU of one kind, or else
// the processor. One of them leads: the memory plan is for its memory, and the others compute shares of its batches.
//
// Pure. Threads: any.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/control/trainer_protocol.h"

namespace potluck::device {

struct ChosenDevices {
    control::DeviceRow lead;                       // the one with the most memory, of several the first
    std::vector<control::DeviceRow> further;       // in the order in which they were found
    std::vector<control::DeviceLeftOut> left_out;  // of a person's choice; another one trains
};

/// `choice` as core/control/device_list.h reads it. `unavailable` with the reasons if nothing of a choice can train.
[[nodiscard]] Result<ChosenDevices> choose_devices(const control::DetectReply& found, const std::string& choice);

}  // namespace potluck::device

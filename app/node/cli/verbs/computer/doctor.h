// `potluck-node doctor`: what this computer can train on, in plain words. Asks a trainer process of its own, because a
// graphics driver may crash or hang: then the trainer is gone, and the doctor says so.
//
// What is asked and what is said are apart: `Findings` are facts, the rest is pure.
// Threads: one. Needs no running node.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "core/control/release_protocol.h"
#include "core/control/trainer_protocol.h"

namespace potluck::node {

struct Findings {
    std::optional<control::DetectReply> devices;
    std::string failure;                              // why some or all of them could not be asked; a sentence
    std::string last_tried;                           // what the trainer was at when it ended; empty: unknown
    bool exact = true;                                // whether shared arithmetic is exact here
    std::string device = {};                          // what the person chose; empty: the fastest
    std::string gap = {};                             // what a trainer is not kept from here; sentences
    std::optional<control::NewerRelease> newer = {};  // that this computer knows of; looks for none
};

/// True if something here can train, by the person's choice if there is one.
[[nodiscard]] bool can_train(const Findings& findings);
[[nodiscard]] std::string doctor_text(const Findings& findings);
[[nodiscard]] nlohmann::json doctor_json(const Findings& findings);

/// What follows "trying " in the last such line of a trainer's log.
[[nodiscard]] std::string last_tried(const std::string& log);

}  // namespace potluck::node

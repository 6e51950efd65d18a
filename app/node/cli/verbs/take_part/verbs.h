// The verbs of who takes part in a run.
// Threads: any.
#pragma once

#include <memory>

#include "app/node/cli/verb.h"

namespace potluck::node {

[[nodiscard]] std::unique_ptr<Verb> join_verb();
[[nodiscard]] std::unique_ptr<Verb> backbone_verb();
[[nodiscard]] std::unique_ptr<Verb> status_verb();
[[nodiscard]] std::unique_ptr<Verb> pause_verb();
[[nodiscard]] std::unique_ptr<Verb> pauses_verb();
[[nodiscard]] std::unique_ptr<Verb> resume_verb();
[[nodiscard]] std::unique_ptr<Verb> finish_verb();
[[nodiscard]] std::unique_ptr<Verb> leave_verb();
[[nodiscard]] std::unique_ptr<Verb> leaderboard_verb();
[[nodiscard]] std::unique_ptr<Verb> receipt_verb();
[[nodiscard]] std::unique_ptr<Verb> name_verb();
[[nodiscard]] std::unique_ptr<Verb> team_verb();
[[nodiscard]] std::unique_ptr<Verb> list_verb();
[[nodiscard]] std::unique_ptr<Verb> runs_verb();
[[nodiscard]] std::unique_ptr<Verb> runs_find_verb();  // a part of it
[[nodiscard]] std::unique_ptr<Verb> log_verb();
[[nodiscard]] std::unique_ptr<Verb> stop_verb();

}  // namespace potluck::node

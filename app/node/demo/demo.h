#pragma once
#include "app/node/command_line.h"
namespace potluck::node {
[[nodiscard]] ExitCode run_demo(const Command& command);
}

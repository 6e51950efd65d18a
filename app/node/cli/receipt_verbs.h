// `potluck-node receipt export|verify`: what this person was credited with, as a file that anybody can check, and what
// such a file proves. Both work beside a running node and without one; `verify` needs no data folder.
//
//   0   done, or the receipt holds      5   it does not parse
//   14  it is forged                     1   a file is missing or cannot be written
// Threads: one.
#pragma once

#include <string>

#include "app/node/cli/command_line.h"
#include "app/node/exit_code.h"
#include "app/node/models/receipt_file.h"

namespace potluck::node {

/// "1,024 tokens in 3 rounds ..." as lines for people.
[[nodiscard]] std::string receipt_text(const VerifiedReceipt& receipt);

[[nodiscard]] ExitCode run_receipt(const Command& command);

}  // namespace potluck::node

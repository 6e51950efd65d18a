#include "app/node/cli/complain.h"

#include <iostream>

#include "core/base/log.h"

namespace potluck::node {

namespace {

constexpr std::size_t shown_bytes = 1000;  // of one text; the longest sentences of ours with a path have half of it

}  // namespace

std::string clean(const std::string& text) { return log::printable(text, shown_bytes); }

ExitCode complain(const Error& error, ExitCode code) {
    std::cerr << "potluck-node: " << clean(error.message) << std::endl;
    return code;
}

ExitCode complain(const Error& error) { return complain(error, exit_code_of(error.code)); }

}  // namespace potluck::node

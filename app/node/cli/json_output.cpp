#include "app/node/cli/json_output.h"

#include <iostream>

#include "app/node/cli/complain.h"
#include "core/control/node_protocol.h"

namespace potluck::node {

void print_json(nlohmann::json object) {
    object["version"] = control::node_protocol_version;
    std::cout << json_text(object, 2) << std::endl;
}

ExitCode refuse(Output output, const Error& error) {
    if (output == Output::json) print_json({{"error", {{"kind", name_of(error.code)}, {"message", error.message}}}});
    return complain(error);
}

}  // namespace potluck::node

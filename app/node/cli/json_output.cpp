#include "app/node/cli/json_output.h"

#include <iostream>
#include <utility>

#include "app/node/cli/complain.h"
#include "core/control/node_protocol.h"

namespace potluck::node {

nlohmann::json answer_json(nlohmann::json answer) {
    answer["version"] = control::node_protocol_version;
    for (nlohmann::json* part : {&answer, answer.contains("releases") ? &answer["releases"] : nullptr}) {
        if (part != nullptr && part->is_object() && part->value("progress", 0.0) < 0) part->erase("progress");
    }
    return answer;
}

void print_json(nlohmann::json object) { std::cout << json_text(answer_json(std::move(object)), 2) << std::endl; }

ExitCode refuse(Output output, const Error& error) {
    if (output == Output::json) print_json({{"error", {{"kind", name_of(error.code)}, {"message", error.message}}}});
    return complain(error);
}

}  // namespace potluck::node

#include <csignal>
#include <cstdio>

#include "app/node/cli/command_line.h"
#include "app/node/cli/commands.h"
#include "app/node/cli/complain.h"
#include "app/node/cli/doctor.h"
#include "app/node/cli/handing_over.h"
#include "app/node/cli/page_writer.h"
#include "app/node/cli/plan_view.h"
#include "app/node/cli/receipt_verbs.h"
#include "app/node/cli/release_verbs.h"
#include "app/node/cli/serving.h"
#include "app/node/cli/this_node.h"
#include "app/node/cli/verify_view.h"
#include "app/node/exit_code.h"
#include "app/node/hosting/pack_files.h"
#include "app/node/paths.h"
#include "app/node/trainer/trainer_limits.h"
#include "core/base/processor/isa.h"

namespace {

/// The demo is a program of its own beside this one, which takes the same words.
potluck::node::ExitCode start_demo(int argc, char** argv) {
    using namespace potluck::node;
    const auto ended = hand_over(program_beside("potluck-demo"), std::vector<std::string>(argv + 1, argv + argc));
    if (ended) return *ended;
    return complain({ended.error().code, "The demo is a program of its own, and " + ended.error().message +
                                             " Install all of Potluck, or build the target potluck-demo."});
}

}  // namespace

int main(int argc, char** argv) {
    using namespace potluck::node;
#ifdef SIGPIPE
    std::signal(SIGPIPE, SIG_IGN);  // a reader may close its end at any time; the write then fails, and that is enough
#endif
    if (const std::string& problem = potluck::isa_choice().problem; !problem.empty()) {
        std::fprintf(stderr, "%s\n", problem.c_str());
        return static_cast<int>(ExitCode::usage);
    }
    ParsedCommand parsed = parse_command_line(argc, argv);
    if (!parsed.command) return static_cast<int>(parsed.exit);
    if (parsed.command->verb == Verb::demo) return static_cast<int>(start_demo(argc, argv));
    confine_trainers(parsed.command->node.data_folder);
    switch (parsed.command->verb) {
        case Verb::host:
        case Verb::join:
        case Verb::backbone:
        case Verb::serve: return static_cast<int>(serve(*parsed.command));
        case Verb::trainer_list:
        case Verb::trainer_install:
        case Verb::trainer_remove:
        case Verb::updates:
        case Verb::release_index: return static_cast<int>(run_release_verb(*parsed.command));
        default: break;
    }
    parsed.command->node.trainer_program = trainer_of(parsed.command->node);
    switch (parsed.command->verb) {
        case Verb::doctor: return static_cast<int>(run_doctor(*parsed.command));
        case Verb::pack:
            parsed.command->pack.trainer_program = parsed.command->node.trainer_program;
            return static_cast<int>(run_pack(parsed.command->pack));
        case Verb::page: return static_cast<int>(run_page(*parsed.command));
        case Verb::verify: return static_cast<int>(run_verify(*parsed.command));
        case Verb::receipt_export:
        case Verb::receipt_verify: return static_cast<int>(run_receipt(*parsed.command));
        case Verb::plan: return static_cast<int>(run_plan(*parsed.command));
        default: return static_cast<int>(ask_node(*parsed.command));
    }
}

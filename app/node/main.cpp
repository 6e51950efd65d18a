#include <csignal>
#include <cstdio>

#include "app/node/cli/verbs/command_line.h"
#include "app/node/trainer/trainer_limits.h"
#include "core/base/processor/isa.h"

int main(int argc, char** argv) {
    using namespace potluck::node;
#ifdef SIGPIPE
    std::signal(SIGPIPE, SIG_IGN);  // a reader may close its end at any time; the write then fails, and that is enough
#endif
    if (const std::string& problem = potluck::isa_choice().problem; !problem.empty()) {
        std::fprintf(stderr, "%s\n", problem.c_str());
        return static_cast<int>(ExitCode::usage);
    }
    CommandLine line;
    Verb* const verb = line.parse(argc, argv);
    if (verb == nullptr) return static_cast<int>(line.exit());
    // The demo's own trainers measure with what its nodes keep below this folder; each of its nodes confines its own.
    if (!verb->is_another_program()) confine_trainers(line.node().options.data_folder);
    return static_cast<int>(verb->run(line.node()));
}

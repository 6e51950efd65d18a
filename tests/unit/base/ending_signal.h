// Runs work that may end the process in a child, for tests of checks that abort. POSIX only.
#pragma once

#include <csignal>
#include <cstdio>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace potluck {

/// The signal that ended a child which ran `work`; 0 if it went through.
template <class Work>
int signal_that_ends(const Work& work) {
    const pid_t child = fork();
    if (child == 0) {
        const rlimit no_core{0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        (void)std::freopen("/dev/null", "w", stderr);
        (void)std::signal(SIGABRT, SIG_DFL);  // Qt Test reports crashes of its own
        work();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace potluck

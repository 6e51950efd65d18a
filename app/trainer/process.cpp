#include "app/trainer/process.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#ifdef _WIN32
#include <io.h>
#include <windows.h>
#else
#include <sys/resource.h>
#include <unistd.h>
#endif
#ifdef __linux__
#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <csignal>
#endif

namespace potluck::app {

void end_with_parent() {
#ifdef __linux__
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
}

void lower_priority() {
#ifdef _WIN32
    SetPriorityClass(GetCurrentProcess(), BELOW_NORMAL_PRIORITY_CLASS);
#else
    constexpr int niceness = 10;
    (void)setpriority(PRIO_PROCESS, 0, niceness);
#endif
#ifdef __linux__
    // Here it is of one thread and of those that it starts; LibTorch's have been started by what was measured.
    std::error_code unknown;
    std::filesystem::directory_iterator task("/proc/self/task", unknown);
    for (; !unknown && task != std::filesystem::directory_iterator(); task.increment(unknown)) {
        const std::string id = task->path().filename().string();
        (void)setpriority(PRIO_PROCESS, static_cast<id_t>(std::strtoul(id.c_str(), nullptr, 10)), niceness);
    }
#endif
}

void wait_without_spinning([[maybe_unused]] char** argv) {
#ifdef __linux__
    // Some ten microseconds: longer than the gap between two products, too short for anybody to miss the core.
    constexpr const char* turns = "GOMP_SPINCOUNT";
    if (std::getenv(turns) != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
    (void)setenv(turns, "20000", 1);
    std::error_code unknown;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", unknown);
    if (unknown) return;
    (void)execv(program.c_str(), argv);  // returns only if it fails: then the threads spin, which is slow but correct
#endif
}

void prepare_gpu() {
#ifdef __linux__
    namespace fs = std::filesystem;
    std::error_code unknown;
    const char* home = std::getenv("HOME");
    const auto make_cache = [&](const char* cache) {
        if (home != nullptr) fs::create_directories(fs::path(home) / cache, unknown);
    };
    if (fs::exists("/dev/kfd", unknown)) {
        make_cache(".cache/miopen");
        make_cache(".config/miopen");
    }
    if (!fs::exists("/proc/driver/nvidia/version", unknown)) return;
    make_cache(".nv/ComputeCache");
    if (fs::exists("/dev/nvidia-uvm", unknown)) return;
    // As libcuda does; the program has its rights from the file system, and a confined process starts none.
    const char* const words[] = {"nvidia-modprobe", "-c", "0", "-u", nullptr};
    posix_spawn_file_actions_t quietly;  // our own input and output are the protocol's
    posix_spawn_file_actions_init(&quietly);
    posix_spawn_file_actions_addopen(&quietly, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&quietly, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    if (posix_spawnp(&child, words[0], &quietly, nullptr, const_cast<char* const*>(words), environ) == 0)
        (void)waitpid(child, nullptr, 0);
    posix_spawn_file_actions_destroy(&quietly);
#endif
}

std::size_t read_input(char* buffer, std::size_t size) {
#ifdef _WIN32
    const int got = _read(0, buffer, static_cast<unsigned>(size));
#else
    ssize_t got = read(STDIN_FILENO, buffer, size);
    while (got < 0 && errno == EINTR) got = read(STDIN_FILENO, buffer, size);
#endif
    return got > 0 ? static_cast<std::size_t>(got) : 0;
}

void leave(int exit_code) { std::_Exit(exit_code); }

}  // namespace potluck::app

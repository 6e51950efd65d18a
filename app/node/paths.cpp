#include "app/node/paths.h"

#include <cstdlib>
#include <system_error>

#ifndef _WIN32
#include <unistd.h>
#endif
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif
#ifdef _WIN32
#include <windows.h>
#endif

#include "core/base/sha256.h"

namespace potluck::node {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t short_name_digits = 16;

std::string user_number() {
#ifdef _WIN32
    return "0";
#else
    return std::to_string(::getuid());
#endif
}

std::string program_file(const std::string& name) {
#ifdef _WIN32
    return name + ".exe";
#else
    return name;
#endif
}

}  // namespace

Environment process_environment() {
    return [](const char* name) -> std::optional<std::string> {
        const char* value = std::getenv(name);
        if (value == nullptr || *value == '\0') return std::nullopt;
        return value;
    };
}

Platform this_platform() {
#if defined(_WIN32)
    return Platform::windows;
#elif defined(__APPLE__)
    return Platform::mac;
#else
    return Platform::linux_like;
#endif
}

std::optional<fs::path> default_data_folder(const Environment& environment, Platform platform) {
    if (const auto home = environment("POTLUCK_HOME")) return fs::path(*home);
    if (platform == Platform::windows) {
        const auto local = environment("LOCALAPPDATA");
        return local ? std::optional(fs::path(*local) / "Potluck") : std::nullopt;
    }
    if (platform == Platform::linux_like) {
        if (const auto data = environment("XDG_DATA_HOME")) return fs::path(*data) / "potluck";
    }
    const auto home = environment("HOME");
    if (!home) return std::nullopt;
    if (platform == Platform::mac) return fs::path(*home) / "Library" / "Application Support" / "Potluck";
    return fs::path(*home) / ".local" / "share" / "potluck";
}

fs::path socket_path(const fs::path& data_folder, const Environment& environment) {
    const fs::path inside = data_folder / "node.sock";
    if (inside.native().size() < socket_path_max) return inside;
    const std::string name = sha256(as_bytes(data_folder.string())).hex().substr(0, short_name_digits) + ".sock";
    if (const auto runtime = environment("XDG_RUNTIME_DIR")) {
        const fs::path file = fs::path(*runtime) / "potluck" / name;
        if (file.native().size() < socket_path_max) return file;
    }
    return fs::path("/tmp") / ("potluck-" + user_number()) / name;
}

fs::path run_folder(const fs::path& data_folder, const RunId& run) { return data_folder / "runs" / run.hex(); }

fs::path own_program() {
#if defined(_WIN32)
    wchar_t name[MAX_PATH];
    return fs::path(name, name + GetModuleFileNameW(nullptr, name, MAX_PATH));
#elif defined(__APPLE__)
    char name[4096];
    std::uint32_t size = sizeof name;
    if (_NSGetExecutablePath(name, &size) == 0) return fs::weakly_canonical(name);
    return {};
#else
    std::error_code failed;
    const fs::path self = fs::read_symlink("/proc/self/exe", failed);
    return failed ? fs::path() : self;
#endif
}

fs::path program_beside(const std::string& name) { return own_program().parent_path() / program_file(name); }

std::string trainer_file() { return program_file("potluck-trainer"); }

fs::path installed_trainer(const fs::path& program_folder) {
    const std::string name = trainer_file();
    std::error_code failed;
    const fs::path beside = program_folder / name;
    return fs::exists(beside, failed) ? beside : program_folder.parent_path() / "lib" / "potluck" / name;
}

Status make_data_folder(const fs::path& folder) {
    std::error_code failed;
    const bool existed = fs::exists(folder, failed);
    fs::create_directories(folder, failed);
    if (!failed && !existed) fs::permissions(folder, fs::perms::owner_all, failed);
    if (!failed && fs::is_directory(folder)) return {};
    return Error{ErrorCode::permission,
                 "The data folder " + folder.string() + " cannot be made; choose another with --data-dir."};
}

}  // namespace potluck::node

// Where things lie: the data folder, the local socket, the programs beside this one.
// Pure except for reading the environment it is given.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/base/ids.h"
#include "core/base/result.h"

namespace potluck::node {

/// Value of an environment variable; nothing if unset or empty.
using Environment = std::function<std::optional<std::string>(const char* name)>;
[[nodiscard]] Environment process_environment();

enum class Platform { linux_like, mac, windows };
[[nodiscard]] Platform this_platform();

/// POTLUCK_HOME, else XDG_DATA_HOME/potluck or ~/.local/share/potluck, ~/Library/Application Support/Potluck,
/// %LOCALAPPDATA%\Potluck. Nothing if the system tells no home.
[[nodiscard]] std::optional<std::filesystem::path> default_data_folder(const Environment& environment,
                                                                       Platform platform);

/// Longest path of a local socket that every system takes, with its terminating zero.
inline constexpr std::size_t socket_path_max = 104;

/// node.sock in the data folder, or, where that path is too long, a name derived from it in XDG_RUNTIME_DIR or the
/// system's folder for temporary files, in a folder of this user's own.
[[nodiscard]] std::filesystem::path socket_path(const std::filesystem::path& data_folder,
                                                const Environment& environment);

[[nodiscard]] std::filesystem::path run_folder(const std::filesystem::path& data_folder, const RunId& run);

/// The program's own file.
[[nodiscard]] std::filesystem::path own_program();
/// `name` (without .exe) beside this program.
[[nodiscard]] std::filesystem::path program_beside(const std::string& name);

/// The trainer's file name.
[[nodiscard]] std::string trainer_file();
/// The trainer that belongs to this program: beside it, as a build leaves it, or in lib/potluck beside its folder,
/// where the package potluck-trainer and the bundle put it together with LibTorch. If neither is there, the place of a
/// package.
[[nodiscard]] std::filesystem::path installed_trainer(const std::filesystem::path& program_folder);

/// Makes the data folder, readable by its owner only.
[[nodiscard]] Status make_data_folder(const std::filesystem::path& folder);

}  // namespace potluck::node

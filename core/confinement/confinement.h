// What a process renounces before it reads what strangers wrote: it keeps what it has open, but from then on
//
//   files     it cannot read or write below one folder (a person's keys and settings) but for named parts of it, and
//   may
//             write nowhere but where it is allowed to
//   network   it opens no socket that leaves this computer and connects to none on it, such as the desktop's bus
//   programs  it starts none, traces none, signals none outside, and gains no rights from any
//
// On Linux, by Landlock (files), a seccomp filter (network) and no_new_privs; elsewhere nothing, and gap() says so. A
// graphics driver goes on working: devices, /proc, /sys and everything outside that one folder stay readable.
//
// Does not: protect a process from its owner, or the processor and memory from it.
// Threads: confine() before any other thread is started. Owns: nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace potluck::confinement {

struct Limits {
    std::filesystem::path hidden;          // need not exist yet; empty: no file is hidden
    std::vector<std::string> open_inside;  // folders below it that may be read all the same
    /// Besides devices, folders for temporary files and what the graphics driver keeps. Nothing: whatever is not
    /// hidden.
    std::optional<std::vector<std::filesystem::path>> writable;
};

/// For good, for this thread and those that it starts. An error tells what could not be given up; the rest is.
[[nodiscard]] Status confine(const Limits& limits);

/// What this system can do of it.
struct Support {
    bool system = false;  // Linux
    bool files = false, network = false;
};
[[nodiscard]] Support support();
/// What a trainer is not kept from here, as one or two sentences for its owner; empty if nothing.
[[nodiscard]] std::string gap(const Support& support);

/// How limits travel to a child: two variables of its environment, which an older child ignores. Without the first
/// it is not confined.
struct Variable {
    std::string name, value;
};
[[nodiscard]] Variable hidden_variable(const std::filesystem::path& hidden,
                                       const std::vector<std::string>& open_inside);
[[nodiscard]] Variable writable_variable(const std::vector<std::filesystem::path>& writable);
/// What the environment tells this process; nothing if it is not to be confined.
[[nodiscard]] std::optional<Limits> limits_from_environment();

}  // namespace potluck::confinement

// A child process that is spoken to in lines: its standard input and output are pipes, its standard error goes to a
// file or to ours. It inherits no other handle, and where the system can do that it dies with its parent.
// The program ignores SIGPIPE: a child may go while it is written to.
// Does not: know what the lines mean, restart anything.
// Threads: the loop's. Owns: the process; destroying it kills the child and waits for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "core/base/result.h"
#include "core/base/thread_owner.h"

namespace potluck::node {

/// `own`: kill() ends the child and everything it started (POSIX).
enum class ProcessGroup { ours, own };

/// Packages keep the trainer apart, because LibTorch is ten times as large as the rest.
[[nodiscard]] inline std::string no_trainer(const std::filesystem::path& program) {
    return "This computer cannot train, because " + program.string() +
           " is missing; download it with potluck-node trainer install, install the package potluck-trainer, or name "
           "the program with --trainer.";
}

struct LineProcessOptions {
    std::filesystem::path program;
    std::vector<std::string> arguments;
    std::filesystem::path error_file;  // appended to; empty: our standard error
    ProcessGroup group = ProcessGroup::ours;
    std::vector<std::pair<std::string, std::string>> environment = {};  // besides ours
    std::string if_missing = "";  // what is said if there is no such program; empty: install it again
};

struct LineProcessEvents {
    std::function<void(const std::string& line)> on_line;
    /// Once, after the last line: how it ended, for people: "exit code 3", "signal 9".
    std::function<void(const std::string& how)> on_exit;
};

class LineProcess {
public:
    static constexpr std::size_t unsent_bytes_max = 64 << 20;
    static constexpr std::chrono::seconds last_lines_patience{1};

    /// `unavailable` with a sentence if the program cannot be started.
    [[nodiscard]] static Result<std::unique_ptr<LineProcess>> start(boost::asio::io_context& loop,
                                                                    const LineProcessOptions& options,
                                                                    LineProcessEvents events);
    ~LineProcess();
    LineProcess(const LineProcess&) = delete;
    LineProcess& operator=(const LineProcess&) = delete;

    /// Queues bytes; a child that does not read is killed once unsent_bytes_max wait.
    void send(std::string lines);
    void close_input();
    void kill();
    [[nodiscard]] std::int64_t process() const;

private:
    struct Impl;
    explicit LineProcess(std::shared_ptr<Impl> impl);
    ThreadOwner m_owner;
    std::shared_ptr<Impl> m_impl;
};

}  // namespace potluck::node

// Between fork and exec the child makes only async-signal-safe calls: it leaves our process group if asked to, restores
// SIGPIPE and the signal mask, asks the kernel to be killed with its parent (Linux, with a check that the parent is
// still there), and marks every handle but the three standard ones close-on-exec. Without that a trainer would keep the
// node's sockets and lock files open beyond its death.
//
// The end is reported once, after the last line: on_exit waits until the pipe has ended too, but for one second at
// most, since a grandchild may hold it open. Destroying the object silences it first, then kills and reaps, so no
// callback reaches a dead owner. Written bytes are queued and bounded; a child that does not read is killed.
//
// Threads: the loop's; Boost's exit handler only posts to it.
#include "app/node/trainer/line_process.h"

#include <array>
#include <deque>
#include <optional>
#include <system_error>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/process.hpp>
#include <boost/process/extend.hpp>

#ifndef _WIN32
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#endif
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "core/base/log.h"
#include "core/control/rpc.h"

namespace potluck::node {

namespace {

namespace asio = boost::asio;
namespace process = boost::process;

constexpr std::size_t read_bytes = 64 * 1024;

#ifndef _WIN32
constexpr int handles_max = 65'536;

/// Runs in the child between fork and exec: only async-signal-safe calls.
void prepare_child(ProcessGroup group, pid_t parent) {
    if (group == ProcessGroup::own) ::setpgid(0, 0);
    ::signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    bool marked = false;
#ifdef __linux__
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // it died before we asked
#ifdef SYS_close_range
    constexpr unsigned close_on_exec = 4;  // CLOSE_RANGE_CLOEXEC
    marked = ::syscall(SYS_close_range, 3U, ~0U, close_on_exec) == 0;
#endif
#else
    static_cast<void>(parent);
#endif
    for (int handle = 3; !marked && handle < handles_max; ++handle) ::fcntl(handle, F_SETFD, FD_CLOEXEC);
}
#endif

std::string how_it_ended(int native) {
#ifndef _WIN32
    if (WIFSIGNALED(native)) return "signal " + std::to_string(WTERMSIG(native));
    return "exit code " + std::to_string(WEXITSTATUS(native));
#else
    return "exit code " + std::to_string(native);
#endif
}

}  // namespace

struct LineProcess::Impl : std::enable_shared_from_this<Impl> {
    Impl(asio::io_context& loop, ProcessGroup group_, LineProcessEvents events_)
        : input(loop), output(loop), patience(loop), group(group_), events(std::move(events_)) {}

    process::async_pipe input, output;
    asio::steady_timer patience;
    ProcessGroup group;
    LineProcessEvents events;
    process::child child;
    std::int64_t id = 0;
    std::array<char, read_bytes> buffer{};
    control::LineSplitter splitter;
    std::deque<std::string> unsent;
    std::size_t unsent_bytes = 0;
    bool input_closing = false;
    bool output_ended = false, reported = false, silenced = false;
    std::optional<std::string> ending;

    void read() {
        output.async_read_some(asio::buffer(buffer), [self = shared_from_this()](const auto& failed, std::size_t got) {
            if (self->silenced) return;
            for (const std::string& line : self->splitter.feed({self->buffer.data(), got})) {
                if (!self->silenced) self->events.on_line(line);
            }
            if (self->silenced) return;
            if (self->splitter.failed()) self->kill();
            if (!failed && !self->splitter.failed()) return self->read();
            self->output_ended = true;
            self->report();
        });
    }

    void write() {
        if (unsent.empty()) {
            if (input_closing) close_quietly(input);
            return;
        }
        asio::async_write(input, asio::buffer(unsent.front()),
                          [self = shared_from_this()](const auto& failed, std::size_t) {
                              if (failed) return;
                              self->unsent_bytes -= self->unsent.front().size();
                              self->unsent.pop_front();
                              self->write();
                          });
    }

    static void close_quietly(process::async_pipe& pipe) {
        boost::system::error_code ignored;
        pipe.close(ignored);
    }

    void exited() {
        ending = how_it_ended(child.native_exit_code());
        if (silenced) return;
        // A grandchild may hold the pipe open: what was said is waited for, but not for ever.
        patience.expires_after(last_lines_patience);
        patience.async_wait([self = shared_from_this()](const auto& cancelled) {
            if (cancelled) return;
            self->output_ended = true;
            self->report();
        });
        report();
    }

    void report() {
        if (!ending || !output_ended || reported || silenced) return;
        reported = true;
        patience.cancel();
        events.on_exit(*ending);
    }

    void kill() {
        if (ending || id <= 0) return;
#ifndef _WIN32
        ::kill(group == ProcessGroup::own ? -static_cast<pid_t>(id) : static_cast<pid_t>(id), SIGKILL);
#else
        std::error_code ignored;
        child.terminate(ignored);
#endif
    }
};

LineProcess::LineProcess(std::shared_ptr<Impl> impl) : m_impl(std::move(impl)) {}

LineProcess::~LineProcess() {
    m_impl->silenced = true;
    m_impl->kill();
    m_impl->patience.cancel();
    Impl::close_quietly(m_impl->input);
    Impl::close_quietly(m_impl->output);
    std::error_code ignored;
    if (!m_impl->ending && m_impl->child.valid()) m_impl->child.wait(ignored);
}

Result<std::unique_ptr<LineProcess>> LineProcess::start(asio::io_context& loop, const LineProcessOptions& options,
                                                        LineProcessEvents events) {
    auto impl = std::make_shared<Impl>(loop, options.group, std::move(events));
    const std::string program = options.program.string();
    std::error_code failed;
    process::environment environment = boost::this_process::environment();
    // Not environment[name]: Boost 1.74 then reads past the end of variables shorter than the name.
    for (const auto& [name, value] : options.environment) environment.set(name, value);
    const auto launch = [&](auto&&... more) {
        impl->child = process::child(loop, process::exe(program), process::args(options.arguments), environment,
                                     process::std_in<impl->input, process::std_out> impl->output, failed,
                                     process::on_exit([weak = std::weak_ptr(impl), &loop](int, const std::error_code&) {
                                         asio::post(loop, [weak] {
                                             if (const auto self = weak.lock()) self->exited();
                                         });
                                     }),
                                     std::forward<decltype(more)>(more)...);
    };
#ifndef _WIN32
    const auto prepare = process::extend::on_exec_setup(
        [group = options.group, parent = ::getpid()](auto&) { prepare_child(group, parent); });
    if (options.error_file.empty()) {
        launch(prepare);
    } else {
        FILE* errors = std::fopen(options.error_file.c_str(), "ae");
        if (errors == nullptr)
            return Error{ErrorCode::io, options.error_file.string() + " cannot be written; check the folder's owner."};
        launch(process::std_err > errors, prepare);
        std::fclose(errors);
    }
#else
    launch();
#endif
    if (failed == std::errc::no_such_file_or_directory && !options.if_missing.empty())
        return Error{ErrorCode::unavailable, options.if_missing};
    if (failed) {
        return Error{ErrorCode::unavailable,
                     "The program " + program + " cannot be started (" + failed.message() + "); install it again."};
    }
    impl->id = impl->child.id();
    impl->read();
    return std::unique_ptr<LineProcess>(new LineProcess(std::move(impl)));
}

void LineProcess::send(std::string lines) {
    m_owner.check();
    if (m_impl->input_closing) return;
    m_impl->unsent_bytes += lines.size();
    if (m_impl->unsent_bytes > unsent_bytes_max) {
        log::of("process").warn("process {} does not read what it is told and is ended", m_impl->id);
        return kill();
    }
    m_impl->unsent.push_back(std::move(lines));
    if (m_impl->unsent.size() == 1) m_impl->write();
}

void LineProcess::close_input() {
    m_owner.check();
    if (m_impl->input_closing) return;
    m_impl->input_closing = true;
    if (m_impl->unsent.empty()) m_impl->write();
}

void LineProcess::kill() {
    m_owner.check();
    m_impl->kill();
}

std::int64_t LineProcess::process() const {
    m_owner.check();
    return m_impl->id;
}

}  // namespace potluck::node

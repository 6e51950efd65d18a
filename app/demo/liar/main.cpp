// potluck-liar: a trainer to its node, a node to the trainer that it starts (spoiler.h). Which lie it tells and which
// trainer works for it stand in its environment:
//   POTLUCK_LIE=noise|flipped|copied|lazy    POTLUCK_LIAR_TRAINER=program
// It ends with its trainer, and its trainer with it.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "app/demo/liar/spoiler.h"
#include "app/node/trainer/line_process.h"

namespace {

using namespace potluck;
namespace asio = boost::asio;

constexpr int exit_usage = 2, exit_over = 5;

class Liar {
public:
    Liar(node::Lie lie, std::filesystem::path trainer)
        : m_spoiler(lie, static_cast<std::uint64_t>(::getpid())),
          m_trainer(std::move(trainer)),
          m_input(m_loop, ::dup(STDIN_FILENO)) {}

    int run() {
        auto child =
            node::LineProcess::start(m_loop, {m_trainer, {}, {}, node::ProcessGroup::ours},
                                     {[this](const std::string& line) { pass_to_node(line); },
                                      [this](const std::string& how) {
                                          std::fprintf(stderr, "the liar's trainer ended with %s\n", how.c_str());
                                          m_loop.stop();
                                      }});
        if (!child) {
            std::fprintf(stderr, "%s\n", child.error().message.c_str());
            return exit_usage;
        }
        m_child = *std::move(child);
        read_some();
        m_loop.run();
        return m_is_over ? 0 : exit_over;
    }

private:
    void read_some() {
        m_input.async_read_some(asio::buffer(m_buffer), [this](const auto& failed, std::size_t size) {
            if (failed) {
                m_is_over = true;
                return m_child->close_input();
            }
            for (const std::string& line : m_lines.feed({m_buffer, size})) pass_to_trainer(line);
            read_some();
        });
    }
    void pass_to_trainer(const std::string& line) {
        const auto decoded = control::decode(line);
        const auto* request = decoded ? std::get_if<control::Request>(&*decoded) : nullptr;
        if (request == nullptr) return m_child->send(line + "\n");
        if (request->method == control::StopRequest::name) m_is_over = true;
        for (const control::Request& passed : m_spoiler.on_request(*request)) m_child->send(control::encode(passed));
    }
    void pass_to_node(const std::string& line) {
        const auto decoded = control::decode(line);
        if (!decoded) return;
        const auto passed = m_spoiler.on_line(*decoded);
        if (!passed) return;
        const std::string text = control::encode(*passed);
        std::fwrite(text.data(), 1, text.size(), stdout);
        std::fflush(stdout);
    }

    asio::io_context m_loop;
    node::Spoiler m_spoiler;
    std::filesystem::path m_trainer;
    asio::posix::stream_descriptor m_input;
    std::unique_ptr<node::LineProcess> m_child;
    control::LineSplitter m_lines;
    char m_buffer[65536] = {};
    bool m_is_over = false;  // the node asked it to end
};

}  // namespace

int main() {
    std::signal(SIGPIPE, SIG_IGN);
    const char* lie = std::getenv("POTLUCK_LIE");
    const char* trainer = std::getenv("POTLUCK_LIAR_TRAINER");
    const auto told = lie != nullptr ? node::lie_named(lie) : std::nullopt;
    if (!told || trainer == nullptr) {
        std::fputs("potluck-liar: set POTLUCK_LIE to noise, flipped, copied or lazy, and POTLUCK_LIAR_TRAINER.\n",
                   stderr);
        return exit_usage;
    }
    return Liar(*told, trainer).run();
}

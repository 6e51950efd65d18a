// A log is followed by reading on from where the last look ended. It is moved aside when it is full: a file shorter
// than what was read is the next one, and the old one, which stays open until then, is read to its end before.
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/node/cli/complain.h"
#include "app/node/cli/verb.h"
#include "app/node/cli/verbs/take_part/verbs.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr std::streamoff log_bytes_max = 4 << 20;     // of which the last lines are printed
constexpr std::chrono::milliseconds look_every{250};  // for what was added to a log

/// Where the last lines of a file begin.
std::streamoff last_lines(std::ifstream& file, std::size_t wanted) {
    file.seekg(0, std::ios::end);
    const std::streamoff end = file.tellg(), size = std::min<std::streamoff>(end, log_bytes_max);
    file.seekg(end - size);
    std::string text(static_cast<std::size_t>(size), '\0');
    file.read(text.data(), size);
    text.resize(static_cast<std::size_t>(file.gcount()));
    std::size_t from = text.size();
    for (std::size_t lines = 0; from > 0 && lines <= wanted; --from) {
        if (text[from - 1] == '\n' && from != text.size() && ++lines == wanted) break;
    }
    return end - size + static_cast<std::streamoff>(from);
}

/// Prints the file from `begin` on, and returns where it ended.
std::streamoff print_from(std::ifstream& file, std::streamoff begin) {
    std::array<char, 4096> part{};
    file.clear();
    file.seekg(begin);
    do {
        file.read(part.data(), part.size());
        std::cout.write(part.data(), file.gcount());
        begin += file.gcount();
    } while (file);
    std::cout << std::flush;
    return begin;
}

/// Prints what is added until nobody reads it any more. A log that is shorter than it was is the next one: the old was
/// moved away.
void follow_log(const fs::path& path, std::ifstream& file, std::streamoff printed) {
    boost::asio::io_context loop;
    boost::asio::steady_timer timer(loop);
    while (std::cout) {
        timer.expires_after(look_every);
        timer.wait();
        // Asked first: what is moved away is complete, and read to its end below.
        std::error_code gone;
        const std::uintmax_t size = fs::file_size(path, gone);
        const bool moved_away = !gone && static_cast<std::streamoff>(size) < printed;
        printed = print_from(file, printed);
        if (!moved_away) continue;
        file.close();
        file.open(path, std::ios::binary);
        printed = 0;
    }
}

class LogVerb final : public Verb {
public:
    using Verb::Verb;

    void add(CLI::App& app) override {
        app.add_flag("-f,--follow", m_follows, "Then what is added, until it is interrupted");
        app.add_option("--lines", m_lines, "How many")->check(CLI::Range(1, 10'000));
    }

    ExitCode run(const ThisNode& node) override {
        const fs::path path = node.options.data_folder / "node.log";
        std::ifstream file(path, std::ios::binary);
        if (!file)
            return complain(Error{ErrorCode::not_found, "There is no log " + path.string() + "; check --data-dir."});
        const std::streamoff printed = print_from(file, last_lines(file, m_lines));
        if (m_follows) follow_log(path, file, printed);
        return ExitCode::ok;
    }

private:
    std::size_t m_lines = 40;
    bool m_follows = false;
};

}  // namespace

std::unique_ptr<Verb> log_verb() { return std::make_unique<LogVerb>("log", "The last lines of node.log"); }

}  // namespace potluck::node

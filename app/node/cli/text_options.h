// Options whose text becomes something else once the whole line is parsed: a wrong text is answered with the sentence
// of its reader, not with CLI11's.
//
// Does not: check what CLI11 can check by itself (numbers, ranges, lists of words).
// Threads: the caller's. Owns: the texts, which must outlive the parsing.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace potluck::node {

class TextOptions {
public:
    using Read = std::function<Status(const std::string& text)>;

    /// An option that may be given once; `read` sees its text unless that is empty.
    CLI::Option* add(CLI::App& app, const std::string& name, const std::string& help, Read read);
    /// One that may be repeated; `read` sees each text.
    CLI::Option* add_list(CLI::App& app, const std::string& name, const std::string& help, Read read);
    /// Reads all of them in the order in which they were added; ends with the first error.
    [[nodiscard]] Status read() const;

private:
    struct Texts {
        std::string one;
        std::vector<std::string> many;
        Read read;
    };
    Texts& keep(Read read);

    std::deque<Texts> m_texts;  // whose addresses CLI11 holds
};

/// `read`'s value into `out`, or its error.
template <class T, class Out>
[[nodiscard]] Status take(Result<T> read, Out& out) {
    if (!read) return read.error();
    out = *std::move(read);
    return {};
}

}  // namespace potluck::node

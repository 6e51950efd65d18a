// Result<T> carries either a value or an Error: a code for the program and one sentence for the person, which says
// what to do. It is for the world's failures (disk, memory, time-outs, files that are not what they should be).
// A peer that lies is a Verdict, a bug of ours is a POTLUCK_CHECK.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "core/base/check.h"

namespace potluck {

enum class ErrorCode {
    invalid_argument,  // the caller's input cannot be meant as it stands
    malformed,         // bytes that do not parse, or break a stated limit
    not_found,
    already_exists,  // a folder in use, a port that is taken
    permission,
    no_space,
    io,           // any other failure of disk or network
    unavailable,  // something needed is missing: LibTorch, a child process, a running node
    timed_out,
    no_run,     // what was asked for needs a run, and the node is in none
    untrusted,  // a signature or a hash that does not match
    out_of_memory,
    cancelled,
};

/// Name of `code` as it appears in logs and JSON, for example "not_found".
[[nodiscard]] const char* name_of(ErrorCode code);

struct Error {
    ErrorCode code = ErrorCode::io;
    std::string message;  // one sentence for the person, without a trailing newline
};

template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : m_outcome(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : m_outcome(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool ok() const { return m_outcome.index() == 0; }
    explicit operator bool() const { return ok(); }

    [[nodiscard]] T& value() & {
        POTLUCK_CHECK(ok());
        return *std::get_if<0>(&m_outcome);
    }
    [[nodiscard]] const T& value() const& {
        POTLUCK_CHECK(ok());
        return *std::get_if<0>(&m_outcome);
    }
    [[nodiscard]] T&& value() && {
        POTLUCK_CHECK(ok());
        return std::move(*std::get_if<0>(&m_outcome));
    }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    [[nodiscard]] const Error& error() const {
        POTLUCK_CHECK(!ok());
        return *std::get_if<1>(&m_outcome);
    }

private:
    std::variant<T, Error> m_outcome;
};

template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : m_error(std::move(error)), m_ok(false) {}

    [[nodiscard]] bool ok() const { return m_ok; }
    explicit operator bool() const { return m_ok; }
    [[nodiscard]] const Error& error() const {
        POTLUCK_CHECK(!m_ok);
        return m_error;
    }

private:
    Error m_error;
    bool m_ok = true;
};

using Status = Result<void>;

}  // namespace potluck

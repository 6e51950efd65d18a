// A command line's way to the node that runs for a data folder: connects to its local socket, asks, waits.
// Threads: any one. Owns: the connection.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "core/base/result.h"
#include "core/base/thread_owner.h"
#include "core/control/node_methods.h"

namespace potluck::node {

class ControlClient {
public:
    static constexpr std::chrono::seconds patience{10};

    /// `not_found` with a sentence if no node runs for that folder.
    [[nodiscard]] static Result<ControlClient> connect(const std::filesystem::path& data_folder);
    ControlClient(ControlClient&&) noexcept;
    ControlClient& operator=(ControlClient&&) noexcept;
    ~ControlClient();

    /// Waits for the answer; an error of the node's is returned as it is.
    template <control::MethodCall Call>
    [[nodiscard]] Result<typename Call::Reply> call(const Call& call, std::chrono::seconds limit = patience) {
        const std::uint64_t id = next_id();
        const Result<nlohmann::json> answer = exchange(id, control::encode_call(id, call), limit);
        if (!answer) return answer.error();
        return control::read_as<typename Call::Reply>(*answer);
    }
    /// Carries bytes between standard input and output and the node until either end closes.
    [[nodiscard]] Status bridge();

private:
    [[nodiscard]] std::uint64_t next_id();
    [[nodiscard]] Result<nlohmann::json> exchange(std::uint64_t id, const std::string& line,
                                                  std::chrono::seconds limit);

    struct Impl;
    explicit ControlClient(std::unique_ptr<Impl> impl);
    ThreadOwner m_owner;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace potluck::node

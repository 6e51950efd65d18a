// What there is to train on, which a trainer of its own finds. Looking takes seconds and may end in a driver, so it is
// done for those who ask and in a process of its own; what was found is kept until another trainer counts.
//
// Does not: choose a device, or know which one trains now.
// Threads: the loop's. Owns: what was found, and the questions that wait for it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "core/base/result.h"
#include "core/base/thread_owner.h"
#include "core/control/trainer_protocol.h"

namespace potluck::node {

class DeviceSearch {
public:
    static constexpr std::size_t askers_max = 16;  // windows and command lines that wait for one look

    /// What trainers that look write about themselves goes to `error_file`.
    DeviceSearch(boost::asio::io_context& loop, std::filesystem::path error_file)
        : m_loop(loop), m_error_file(std::move(error_file)) {}
    ~DeviceSearch() { *m_alive = false; }
    DeviceSearch(const DeviceSearch&) = delete;
    DeviceSearch& operator=(const DeviceSearch&) = delete;

    using Done = std::function<void(const Result<control::DetectReply>&)>;
    /// Which answer will do: one that was found earlier, or only a new one.
    enum class Freshness { found_earlier, found_now };
    /// Has `trainer` look, or joins a look that is under way. `done` is called once, now or later; `unavailable` at
    /// once where too many wait.
    void find(const std::filesystem::path& trainer, Freshness freshness, Done done);
    /// Another trainer may see more of them.
    void forget();

private:
    void answer(const Result<control::DetectReply>& found);

    ThreadOwner m_owner;
    boost::asio::io_context& m_loop;
    std::filesystem::path m_error_file;
    std::shared_ptr<bool> m_alive = std::make_shared<bool>(true);  // false once an answer must not reach us
    std::optional<control::DetectReply> m_found;
    std::vector<Done> m_askers;
};

}  // namespace potluck::node

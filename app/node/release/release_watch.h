// Releases as a node uses them: when to look for a newer version, which trainer counts, and which version a run of a
// later protocol needs. What is believed and how it is fetched is releases.h's.
//
//   the pack that is installed, if there is one  >  the trainer of this program
//   a trainer that the start named counts before both
//
// Threads: the loop's. Owns: the Releases of the network that is open.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "app/node/release/releases.h"
#include "core/base/thread_owner.h"
#include "core/control/release_protocol.h"

namespace potluck::node {

enum class TrainerFrom { installation, named };

class ReleaseWatch {
public:
    static constexpr std::int64_t look_every = 86'400;      // seconds between two looks for a newer version
    static constexpr Duration look_again_after{3'600'000};  // one that failed

    struct Plan {
        std::filesystem::path data_folder;
        ReleaseSource source;
        std::filesystem::path own_trainer;
        TrainerFrom trainer_from = TrainerFrom::installation;
    };
    struct Listener {
        std::function<void()> on_trainer;    // another one counts, or the same one anew
        std::function<void()> on_installed;  // after that, where a pack was installed
    };
    ReleaseWatch(boost::asio::io_context& loop, Plan plan, Listener listener);

    /// `network` stays open until close(). Web servers are asked through `proxy`.
    void open(net::Session& network, const net::Proxy& proxy);
    /// Ends what is under way; this program's own trainer counts again.
    void close();
    /// At each tick, where the owner wants that: looks once a day, and an hour after an attempt that failed.
    void look(TimePoint now, std::int64_t unix_time);

    // What a person may ask. What follows is told by view().
    [[nodiscard]] Status check();
    [[nodiscard]] Status install(const control::InstallTrainer& call);
    [[nodiscard]] Status remove();
    void pass_on(bool wanted);

    /// The trainer that counts.
    [[nodiscard]] const std::filesystem::path& trainer() const;
    /// " Potluck 0.4.0 can.", for a run whose protocol is later than ours; else nothing.
    [[nodiscard]] std::string newer_protocol(ByteSpan manifest_file) const;
    /// All but what the node's settings say.
    [[nodiscard]] control::ReleaseState view() const;

private:
    void use_installed_trainer();

    ThreadOwner m_owner;
    boost::asio::io_context& m_loop;
    Plan m_plan;
    Listener m_listener;
    std::unique_ptr<Releases> m_releases;
    std::filesystem::path m_trainer;
    std::optional<TimePoint> m_looked_at;
};

}  // namespace potluck::node

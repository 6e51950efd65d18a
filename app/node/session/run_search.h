// Finds the description of a run: of the one that is to be joined, for as long as it takes, and of one that is only
// looked at, once. It lies in the run's folder, or a member in the swarm has it.
//
//   begin --in the folder, or fetched--> join() says whether it can be joined; why not stays as error()
//     ^  '--nobody in time--.
//     '---------------------'
//
// Does not: judge a description; join() does.
// Threads: the loop's. Owns: what is looked for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/node/session/node_status.h"
#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/base/thread_owner.h"
#include "core/run/invite.h"
#include "net/session.h"

namespace potluck::node {

class RunSearch {
public:
    static constexpr Duration look_patience{30'000};  // for the description of a run that is only looked at

    /// The network, and what becomes of a description.
    struct World {
        std::function<void(const run::Invite&, Duration patience, std::function<void(Result<Bytes>)>)> fetch;
        std::function<void(const RunId&)> cancel;
        std::function<std::optional<net::ManifestSearch>(const RunId&)> progress;
        /// Whether the run is still to be joined, and is not yet.
        std::function<bool(const RunId&)> is_wanted;
        std::function<Status(const run::Invite&, const Bytes& manifest_file)> join;
    };
    /// `patience`: after which a search says that nobody was reached, and goes on.
    RunSearch(std::filesystem::path data_folder, Duration patience, World world)
        : m_folder(std::move(data_folder)), m_patience(patience), m_world(std::move(world)) {}
    ~RunSearch() { *m_alive = false; }
    RunSearch(const RunSearch&) = delete;
    RunSearch& operator=(const RunSearch&) = delete;

    /// Searches for the run that is to be joined. A look ends.
    void begin(const run::Invite& invite);
    /// Ends the search; what it has found out stays.
    void cancel();
    /// Another run is searched for next: neither its time nor its error is known.
    void begin_anew();
    void clear_error();
    [[nodiscard]] bool is_searching() const;
    /// Why the run that was found could not be joined; empty if it could.
    [[nodiscard]] const std::string& error() const;
    /// How the search for the run `name` goes; nothing while none is searched for.
    [[nodiscard]] std::optional<SearchConditions> conditions(std::string name) const;

    struct Looked {
        Bytes manifest_file;
        std::uint64_t peers = 0;  // that answered
    };
    using LookDone = std::function<void(Result<Looked>)>;
    /// Fetches the description of a run that is not joined by this. `done` is called once, now or later; `cancelled`
    /// once a later look or a search takes its place.
    void look_at(const run::Invite& invite, LookDone done);
    void end_look();
    /// At each tick: counts who answers a look.
    void tick();

private:
    struct Look {
        RunId run;
        std::uint64_t peers = 0;
        LookDone done;
    };
    [[nodiscard]] Result<Bytes> stored(const RunId& run) const;
    void found(const run::Invite& invite, const Result<Bytes>& file);

    ThreadOwner m_owner;
    std::filesystem::path m_folder;
    Duration m_patience;
    World m_world;
    std::shared_ptr<bool> m_alive = std::make_shared<bool>(true);  // false once an answer must not reach us
    std::optional<RunId> m_searching;
    std::int64_t m_since = 0;       // unix seconds; 0: nothing was searched for since the last session
    bool m_nobody_in_time = false;  // while searching: for as long as a search lasts
    std::string m_error;
    std::optional<Look> m_look;
};

}  // namespace potluck::node

// Gets the lists of runs that the person follows, and newer versions of them: from where they came, over the web or
// from a file, on a thread of its own, or as a torrent. A newer version has a higher serial and is signed by the same
// key; whatever else comes changes nothing and is told as the list's problem.
//
//   tick() --a list is due--> fetch text and signature --> renew_list() --> forgotten until due again
//   follow(link) -----------> fetch both -----------------> follow_list() --> done
//   tick() --the build's list was never followed-> follow(its link), every hour until it is
//   follow(magnet) ---------> fetch the torrent ----------> follow_list() --> done, and the file is passed on
//                             not in time, or too old: the web seed is asked, where there is one
//
// A torrent is one version for good; newer ones lie at its web seed, where tick() asks for them.
//
// Does not: say what a list vouches for (followed_lists.h).
// Threads: the loop's. Owns: the worker.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "app/node/find/followed_lists.h"
#include "core/base/thread_owner.h"
#include "core/base/worker.h"
#include "core/control/find_methods.h"
#include "core/find/list_torrent.h"
#include "net/session.h"

namespace potluck::node {

class ListKeeper {
public:
    /// Newer versions are asked for so often; sooner once the list is about to expire, or has.
    static constexpr Duration renew_every{12 * 3'600'000LL}, renew_soon_every{3'600'000};
    static constexpr std::int64_t expires_soon = 2 * 86'400;  // seconds
    /// A node that only answers a question and ends asks nobody.
    static constexpr Duration first_renewal_after{30'000};
    /// A torrent that nobody was found to have by then is given up.
    static constexpr Duration torrent_patience{60'000};
    static constexpr std::size_t description_bytes_max = 64 * 1024;  // of a .torrent

    /// Called on the worker's thread.
    using Fetch = std::function<Result<Bytes>(const std::string& place, std::size_t bytes_max, const std::stop_token&)>;
    struct World {
        Worker::Post post;
        std::function<Fetch()> fetch;  // as of now: through the proxy that is set
        std::function<void(net::PublicFile, net::FileDone)> fetch_file;
        std::function<void(const BlobId&)> forget_file;
        std::function<void()> share_files;  // those that are here are passed on
        /// Followed from the first start on, until the person leaves it.
        std::optional<find::ListLink> built_in = std::nullopt;
    };
    ListKeeper(std::filesystem::path data_folder, World world)
        : m_folder(std::move(data_folder)), m_world(std::move(world)) {}

    void tick(TimePoint now, std::int64_t unix_now);
    using Done = std::function<void(const Result<control::FollowedRow>&)>;
    /// `done` is called once, later. Errors are those of the fetch and of follow_list(). A second call for the same
    /// torrent is `already_exists`.
    void follow(const find::ListLink& link, Done done);
    [[nodiscard]] Status unfollow(const std::string& key);
    /// At `unix_now`, seconds since 1970.
    [[nodiscard]] std::vector<control::FollowedRow> rows(std::int64_t unix_now) const;

    /// How long after the last try the next is due.
    [[nodiscard]] static Duration pause_of(const find::RunList& list, std::int64_t unix_now);

private:
    struct Fetched {
        Result<Bytes> text, signature;
    };
    struct Try {
        TimePoint at;
        bool under_way = false;
        std::string problem;
    };
    struct Torrent {  // that is being fetched
        find::ListTorrent torrent;
        std::function<void(const Fetched&)> done;
        std::optional<TimePoint> since;  // the first tick that saw it
    };
    [[nodiscard]] static Fetched opened(const Result<Bytes>& file);
    /// Over the web, or from a file; of a torrent, from its web seed.
    void fetch(const std::string& source, std::function<void(const Fetched&)> done);
    void fetch_torrent(const find::ListTorrent& torrent, std::function<void(const Fetched&)> done);
    void end_torrent(const BlobId& root, const Result<Bytes>& file);
    void give_torrents_up(TimePoint now);
    void follow_built_in(TimePoint now);
    void renew(const FollowedList& list, TimePoint now);
    [[nodiscard]] Result<control::FollowedRow> take(const find::ListLink& link, const Fetched& fetched);
    void forget_torrent(const std::string& source);

    ThreadOwner m_owner;
    std::filesystem::path m_folder;
    World m_world;
    std::optional<TimePoint> m_begun, m_looked;
    std::map<std::string, Try> m_tries;  // by key
    std::map<BlobId, Torrent> m_torrents;
    std::optional<TimePoint> m_built_in_tried;
    std::unique_ptr<Worker> m_worker;
};

}  // namespace potluck::node

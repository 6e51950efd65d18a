// Gets the lists of runs that the person follows, and newer versions of them: from where they came, over the web or
// from a file, on a thread of its own. A newer version has a higher serial and is signed by the same key; whatever else
// comes changes nothing and is told as the list's problem.
//
//   tick() --a list is due--> fetch text and signature --> renew_list() --> forgotten until due again
//   follow(link) -----------> fetch both -----------------> follow_list() --> done
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

namespace potluck::node {

class ListKeeper {
public:
    /// Newer versions are asked for so often; sooner once the list is about to expire, or has.
    static constexpr Duration renew_every{12 * 3'600'000LL}, renew_soon_every{3'600'000};
    static constexpr std::int64_t expires_soon = 2 * 86'400;  // seconds
    /// A node that only answers a question and ends asks nobody.
    static constexpr Duration first_renewal_after{30'000};

    /// Called on the worker's thread.
    using Fetch = std::function<Result<Bytes>(const std::string& place, std::size_t bytes_max, const std::stop_token&)>;
    struct World {
        Worker::Post post;
        std::function<Fetch()> fetch;  // as of now: through the proxy that is set
    };
    ListKeeper(std::filesystem::path data_folder, World world)
        : m_folder(std::move(data_folder)), m_world(std::move(world)) {}

    void tick(TimePoint now, std::int64_t unix_now);
    using Done = std::function<void(const Result<control::FollowedRow>&)>;
    /// `done` is called once, later. Errors are those of the fetch and of follow_list().
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
    void fetch(const std::string& source, std::function<void(const Fetched&)> done);
    void renew(const FollowedList& list, TimePoint now);

    ThreadOwner m_owner;
    std::filesystem::path m_folder;
    World m_world;
    std::optional<TimePoint> m_begun, m_looked;
    std::map<std::string, Try> m_tries;  // by key
    std::unique_ptr<Worker> m_worker;
};

}  // namespace potluck::node

// What a node does about runs to find: looks on the board, tells what it hosts or carries there, and follows lists that
// vouch for runs.
//
// Does not: join anything. Threads: the loop's. Owns: the finder and the keeper of lists.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "app/node/find/finder.h"
#include "app/node/find/list_keeper.h"
#include "app/node/member/own_keys.h"
#include "core/base/thread_owner.h"
#include "core/control/find_methods.h"
#include "core/ledger/ledger.h"

namespace potluck::node {

class RunFinding {
public:
    /// All outlive it. `network`: the session that is open.
    struct Parts {
        const std::filesystem::path& data_folder;
        const ledger::Ledger& ledger;
        const OwnKeys& keys;
        std::function<net::Session&()> network;
        ListKeeper::World world;
    };
    explicit RunFinding(Parts parts) : m_parts(std::move(parts)), m_lists(m_parts.data_folder, m_parts.world) {}

    void tick(const Finder::Duties& duties, TimePoint now);
    /// Leaves the board; the next tick or look comes back to it.
    void close() { m_finder.close(); }

    /// The runs that were heard of on the board; ask again, for it takes seconds to hear of them.
    [[nodiscard]] Result<control::FoundRuns> look();
    /// What the host of a run said last of it on the board.
    [[nodiscard]] std::optional<find::Announcement> said_of(const find::HostedRun& run) const;
    /// `done` is called once, later.
    void follow(const control::FollowList& call, const ListKeeper::Done& done);
    [[nodiscard]] Status unfollow(const control::UnfollowList& call);

private:
    ThreadOwner m_owner;
    Parts m_parts;
    ListKeeper m_lists;
    Finder m_finder;
};

}  // namespace potluck::node

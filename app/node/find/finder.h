// When this node is on the board, and what it finds there. It goes there while its person looks for a run, for
// some minutes after each look, and for as long as a run is hosted here that is to be announced, or carried as one of
// its backbones.
//
//   look(), announces or carries --> on the board --none of it for open_after_look--> away
//
// Does not: show anything; app/node/cli and windows do.
// Threads: the node's. Owns: the board; closed before the network session goes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "app/node/find/board.h"
#include "app/node/member/run_session.h"
#include "core/base/thread_owner.h"
#include "core/control/find_methods.h"
#include "core/find/run_board.h"
#include "core/ledger/ledger.h"

namespace potluck::node {

class Finder {
public:
    static constexpr Duration open_after_look{300'000};
    /// A run's announcement is made anew so often, and sooner if the addresses of this computer change.
    static constexpr Duration announce_every{900'000}, announce_again_min{10'000};
    /// Lists and known hosts are read from the disk so often at most, while a window asks every second.
    static constexpr Duration trust_again_after{10'000};

    /// For tests: addresses of computers on the board.
    void set_hints(std::vector<run::PeerHint> hints) { m_hints = std::move(hints); }
    void set_trust(find::Trust trust, std::vector<control::FollowedRow> lists = {});
    /// Whether set_trust() should be called: it is the first look, or the last call was trust_again_after ago.
    [[nodiscard]] bool wants_trust(TimePoint now);
    /// Lists were changed: the next look reads them again.
    void forget_trust() { m_trusted.reset(); }
    /// What the host of a run said last of it, as far as it was heard here; nothing off the board.
    [[nodiscard]] std::optional<find::Announcement> said_of(const find::HostedRun& run, std::int64_t unix_now) const;

    /// The run that this node hosts and announces.
    struct Hosted {
        const RunSession& session;
        const ledger::Ledger& ledger;
        const identity::Identity& person;
        std::string language, page;
    };
    /// What this node has to do with the board of its own accord.
    struct Duties {
        std::optional<Hosted> hosted;
        std::optional<find::HostedRun> carried;  // as one of its backbones
    };
    void tick(net::Session& network, const Duties& duties, TimePoint now, std::int64_t unix_now);
    /// What is known now; what neighbours tell comes within seconds.
    [[nodiscard]] Result<control::FoundRuns> look(net::Session& network, TimePoint now, std::int64_t unix_now);
    /// Leaves the board. Before the network session ends.
    void close();

private:
    [[nodiscard]] Status open(net::Session& network);
    void announce(const net::Session& network, const Hosted& hosted, TimePoint now, std::int64_t unix_now);

    ThreadOwner m_owner;
    std::unique_ptr<Board> m_board;
    find::Trust m_trust;
    std::vector<control::FollowedRow> m_lists;
    std::optional<TimePoint> m_trusted;
    std::vector<run::PeerHint> m_hints;
    std::optional<TimePoint> m_looked, m_announced;  // when it was asked whether to announce
};

}  // namespace potluck::node

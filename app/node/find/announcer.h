// What is announced of a run that this node hosts: from its manifest, what its member sees, and the newest list with
// its certificate.
// Threads: the ledger's. Functions of values.
#pragma once

#include <cstdint>
#include <vector>

#include "app/node/member/run_session.h"
#include "core/find/announcement.h"
#include "core/ledger/ledger.h"

namespace potluck::node {

/// Whether it may be announced: its host is `person`, and anybody may join.
[[nodiscard]] bool may_announce(const run::Manifest& manifest, const PeerId& person);

/// Progress is told so often at most. A full board then brings two announcements a second.
inline constexpr Duration announce_progress_every{300'000};

/// Whether `fresh` is worth telling after `last`, which is null at first: it has other addresses, it is the first that
/// proves a round, it is further and some time has passed, or `every` has.
[[nodiscard]] bool is_worth_telling(const find::Announcement* last, const find::Announcement& fresh, Duration every);

/// The run of `session` at `now`, milliseconds since 1970. Its round is the newest that the ledger can prove. `hints`
/// are where this computer is reached.
[[nodiscard]] find::Announcement announcement_of(const RunSession& session, const ledger::Ledger& ledger,
                                                 const std::vector<run::PeerHint>& hints, std::int64_t now);

}  // namespace potluck::node

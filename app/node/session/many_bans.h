// Whom a host bans at once: newcomers of an hour, or computers of a range of addresses.
// Does not: sign anything. Threads: any.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/control/node_methods.h"
#include "core/ledger/ledger.h"
#include "core/run/run_rules.h"
#include "net/session.h"

namespace potluck::node {

/// A member that is here.
struct MemberHere {
    PeerId key, person;
    bool is_accepted = false;  // some list names the person
};

struct BanFacts {
    const run::RunRules& rules;
    std::vector<MemberHere> here;
    std::vector<PeerId> accepted_since;  // persons whom no list named before the time that is asked about
    std::vector<net::MemberFlow> flows;  // of sessions with this computer
};

/// Whether it is about many: it names a time or a range of addresses.
[[nodiscard]] bool bans_many(const control::Moderate& wanted);
/// Persons that fit all that `wanted` says, sorted: those who appeared at or after `since`, and those with a session
/// from `addresses`. Nobody whom the host trusts or has banned. `invalid_argument` if the range is none.
[[nodiscard]] Result<std::vector<PeerId>> persons_to_ban(const control::Moderate& wanted, const BanFacts& facts);

}  // namespace potluck::node

// What is asked about the run that a node is in, and what its host wants changed of it. Outside a run the answer is
// empty, or `no_run`.
//
// Does not: change anything here; what the host wants is the peer's to carry out.
// Threads: the loop's. Owns: nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/node/member/membership.h"
#include "app/node/session/settings.h"
#include "core/base/thread_owner.h"
#include "core/control/node_methods.h"

namespace potluck::node {

class RunAnswers {
public:
    /// All of them outlive it.
    RunAnswers(const Membership& run, const ledger::Ledger& ledger, const OwnKeys& keys, const NodeSettings& settings)
        : m_run(run), m_ledger(ledger), m_keys(keys), m_settings(settings) {}

    [[nodiscard]] control::Leaderboard leaderboard(const control::ReadLeaderboard& call) const;
    [[nodiscard]] std::vector<control::CurvePoint> curve(std::size_t rows_max) const;
    [[nodiscard]] std::vector<control::CheckpointRow> checkpoints() const;
    [[nodiscard]] Result<control::Committee> committee() const;
    [[nodiscard]] Result<std::string> invite() const;
    /// What the host of the run wants changed; its number.
    [[nodiscard]] Result<control::ModerationNumber> moderate(const control::Moderate& wanted) const;
    [[nodiscard]] Result<std::uint32_t> replace_committee(const control::ReplaceCommittee& wanted) const;

private:
    [[nodiscard]] Result<control::ModerationNumber> ban_many(const control::Moderate& wanted) const;
    [[nodiscard]] Result<PeerId> known_key(const std::string& text) const;

    ThreadOwner m_owner;
    const Membership& m_run;
    const ledger::Ledger& m_ledger;
    const OwnKeys& m_keys;
    const NodeSettings& m_settings;
};

}  // namespace potluck::node

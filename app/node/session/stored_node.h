// What a data folder says about its node while the node does not run: the run it is in, credit, checkpoints. Takes the
// node's lock as long as it lives, so that what it reads stays as it is; opens no network. It writes nothing
// but what SQLite needs to finish a transaction that a killed node left in its log.
// Threads: one. Owns: the lock and the ledger.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/node/member/state_files.h"
#include "app/node/session/settings.h"
#include "core/base/files.h"
#include "core/base/thread_owner.h"
#include "core/control/node_methods.h"
#include "core/ledger/ledger.h"
#include "core/run/manifest.h"

namespace potluck::node {

class StoredNode {
public:
    struct Run {
        RunId id;
        std::filesystem::path folder;
        run::Manifest manifest;
        std::vector<peer::StateStore::Held> states;  // oldest first
    };

    /// `not_found` if no node ever used the folder, `already_exists` if one runs there now.
    [[nodiscard]] static Result<StoredNode> open(const std::filesystem::path& data_folder);

    /// Activity::not_running, and the last known run.
    [[nodiscard]] control::NodeSnapshot snapshot() const;
    /// Empty outside a run.
    [[nodiscard]] control::Leaderboard leaderboard(const control::ReadLeaderboard& call) const;
    /// Losses of the run's rounds, training and validation; empty outside a run.
    [[nodiscard]] std::vector<control::CurvePoint> curve(std::size_t rows_max) const;
    /// Without magnet links: nobody seeds them while the node does not run.
    [[nodiscard]] std::vector<control::CheckpointRow> checkpoints() const;

    [[nodiscard]] const std::filesystem::path& data_folder() const {
        m_owner.check();
        return m_folder;
    }
    /// The person; nothing before the node's first start.
    [[nodiscard]] const std::optional<PeerId>& self() const {
        m_owner.check();
        return m_self;
    }
    [[nodiscard]] const std::string& name() const {
        m_owner.check();
        return m_settings.name;
    }
    /// Null if the node was in no run yet.
    [[nodiscard]] const ledger::Ledger* ledger() const {
        m_owner.check();
        return m_ledger ? &*m_ledger : nullptr;
    }
    /// Nothing outside a run, or while its description was not fetched yet.
    [[nodiscard]] const std::optional<Run>& run() const {
        m_owner.check();
        return m_run;
    }

private:
    StoredNode(std::filesystem::path folder, FileLock lock, NodeSettings settings)
        : m_folder(std::move(folder)), m_lock(std::move(lock)), m_settings(std::move(settings)) {}
    [[nodiscard]] Status read_run();

    ThreadOwner m_owner;
    std::filesystem::path m_folder;
    FileLock m_lock;
    NodeSettings m_settings;
    std::optional<PeerId> m_self, m_device;
    std::optional<ledger::Ledger> m_ledger;
    std::optional<Run> m_run;
};

}  // namespace potluck::node

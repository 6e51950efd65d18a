#include "app/node/session/stored_node.h"

#include "app/node/member/own_keys.h"
#include "app/node/member/view.h"
#include "app/node/paths.h"
#include "core/status/sentence.h"

namespace potluck::node {

namespace fs = std::filesystem;

Result<StoredNode> StoredNode::open(const fs::path& data_folder) {
    std::error_code unknown;
    if (!fs::exists(data_folder / "node.lock", unknown)) {
        return Error{ErrorCode::not_found, "No node runs for " + data_folder.string() +
                                               ", and none ever did; start one with potluck-node join <invite>."};
    }
    auto lock = FileLock::acquire(data_folder / "node.lock");
    if (!lock) return lock.error();
    auto settings = NodeSettings::load(data_folder);
    if (!settings) return settings.error();
    StoredNode node(data_folder, std::move(*lock), std::move(*settings));
    if (fs::exists(data_folder / "identity.key", unknown)) {
        const auto keys = OwnKeys::open(data_folder);
        if (!keys) return keys.error();
        node.m_self = keys->person.id();
        node.m_device = keys->device_key().id();
    }
    if (fs::exists(data_folder / "ledger.db", unknown)) {
        auto ledger = ledger::Ledger::open(data_folder / "ledger.db");
        if (!ledger) return ledger.error();
        node.m_ledger.emplace(std::move(*ledger));
    }
    if (const Status read = node.read_run(); !read) return read.error();
    return node;
}

Status StoredNode::read_run() {
    if (!m_settings.run) return {};
    const RunId id = m_settings.run->invite.run;
    const fs::path folder = run_folder(m_folder, id);
    std::error_code unknown;
    if (!fs::exists(folder / "manifest", unknown)) return {};
    const auto file = read_file(folder / "manifest", manifest_file_bytes_max);
    if (!file) return file.error();
    auto manifest = check_manifest(*file);
    if (!manifest) return manifest.error();
    m_run = Run{id, folder, std::move(manifest->manifest), {}};
    auto states = stored_states(folder, model::state_layout(m_run->manifest.model));
    if (!states) return states.error();
    m_run->states = *std::move(states);
    return {};
}

control::NodeSnapshot StoredNode::snapshot() const {
    m_owner.check();
    control::NodeSnapshot snapshot;
    snapshot.activity = control::Activity::not_running;
    snapshot.why = {{status::Reason::not_running}};
    snapshot.reason = status::sentence(snapshot.why);
    snapshot.name = m_settings.name;
    snapshot.team = m_settings.team;
    snapshot.data_folder = m_folder.string();
    snapshot.device = control::DeviceChoice{.chosen = m_settings.budget.device};
    if (m_device) snapshot.peer_id = m_device->hex();
    if (m_self) snapshot.person_id = m_self->hex();
    if (!m_run) return snapshot;
    peer::PeerView view;
    view.phase = m_settings.paused ? run::Phase::paused : run::Phase::joining;
    if (!m_run->states.empty()) {
        view.round = m_run->states.back().round;
        view.digest = m_run->states.back().digest;
    }
    snapshot.run = run_snapshot(m_run->id, m_run->manifest, view);
    snapshot.run->magnet = m_settings.run->invite.to_magnet();
    if (m_ledger && m_self) add_credit(*m_ledger, m_run->id, *m_self, *snapshot.run);
    if (m_ledger) add_loss(m_ledger->losses(m_run->id), *snapshot.run);
    return snapshot;
}

control::Leaderboard StoredNode::leaderboard(const control::ReadLeaderboard& call) const {
    m_owner.check();
    if (!m_run || !m_ledger || !m_self) return {};
    return leaderboard_of(*m_ledger, m_run->id, {*m_self, m_settings.name, m_settings.team}, call);
}

std::vector<control::CurvePoint> StoredNode::curve(std::size_t rows_max) const {
    m_owner.check();
    if (!m_run || !m_ledger) return {};
    return curve_points(*m_ledger, m_run->id, m_ledger->losses(m_run->id), rows_max);
}

std::vector<control::CheckpointRow> StoredNode::checkpoints() const {
    m_owner.check();
    std::vector<control::CheckpointRow> rows;
    if (!m_run) return rows;
    const std::uint64_t bytes = model::state_layout(m_run->manifest.model).file_size();
    for (const peer::StateStore::Held& held : m_run->states) {
        const bool checkpoint = held.round.value > 0 && held.round.value % m_run->manifest.recipe.checkpoint_every == 0;
        if (!checkpoint) continue;
        rows.push_back(
            {held.round.value, "", state_file_in(m_run->folder, held.round).string(), held.digest.hex(), bytes});
    }
    return rows;
}

}  // namespace potluck::node

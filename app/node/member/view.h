// From what the parts of a node know to what people see. Pure functions of values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/control/node_methods.h"
#include "core/ledger/ledger.h"
#include "core/peer/peer.h"
#include "core/peer/states/seeder.h"
#include "core/proof/false_step.h"
#include "core/run/agreement/evidence.h"
#include "core/run/manifest.h"
#include "net/session.h"

namespace potluck::node {

/// "GPT-2 shape, 4 layers, width 128: 0.8 M parameters"; the family is the model's.
[[nodiscard]] std::string describe(const model::ModelSpec& model);
/// Mean training loss of the members' last windows, weighted by their speed; 0 if nobody has one.
[[nodiscard]] double swarm_loss(const peer::PeerView& view);
/// The same of those members whose last window was that of `ended`: a member that catches up passes rounds of which
/// nobody tells anything any more, and has no loss of them.
[[nodiscard]] double loss_of_round(const peer::PeerView& view, RoundId ended);

/// The part of a snapshot that describes the run; totals and credit are added by add_credit().
[[nodiscard]] control::RunSnapshot run_snapshot(const RunId& run, const run::Manifest& manifest,
                                                const peer::PeerView& view);

/// States of a run that a volunteer keeps: the newest, and those that are seeded as checkpoints.
inline constexpr std::uint64_t states_on_disk = peer::states_kept + peer::checkpoints_kept;

/// What a member of the run downloads before it trains, in bytes: the model, and at most so much of the data.
struct Beginning {
    std::uint64_t state = 0, shard = 0;
    [[nodiscard]] std::uint64_t bytes() const { return state + shard; }
};
[[nodiscard]] Beginning beginning_of(const run::Manifest& manifest);

/// By what the run's first rounds send. A round is taken to be its window and the tenth of it that exchanging may take.
/// Who adds up all contributions moves each of them once; who takes the sum its own and as much as one whole step.
[[nodiscard]] control::DayOfTraffic traffic_of_a_day(const run::Manifest& manifest);

/// The part of a look at a run that follows from its description. `person` is the key that asks.
[[nodiscard]] control::OfferedRun offered_run(const RunId& run, const run::Manifest& manifest, const PeerId& person);

/// What the run's members and connections were refused, by kind and reason.
[[nodiscard]] std::vector<control::RefusalRow> refusal_rows(const std::vector<peer::Refusal>& refusals,
                                                            const net::SwarmCounters& connections);

/// How others get to this computer, by what was seen since the start; too early to tell in the first minute.
[[nodiscard]] control::Inbound inbound_of(const net::SessionCounters& counters);
[[nodiscard]] control::NetworkSnapshot network_snapshot(const net::SessionCounters& counters);

/// What goes to and from each member.
void add_flows(const std::vector<net::MemberFlow>& flows, control::RunSnapshot& snapshot);

/// What a trainer found to train on. The memory that our own trainer has taken of `training` is not lacking there.
[[nodiscard]] control::DetectReply device_rows(control::DetectReply found, const std::vector<std::string>& training);

/// What the ledger says of the run and of this identity's part in it, the last round's loss too if no member tells one.
void add_credit(const ledger::Ledger& ledger, const RunId& run, const PeerId& self, control::RunSnapshot& snapshot);
/// What the person says of itself now; of others the ledger has what they said last.
struct OwnWords {
    PeerId person;
    std::string name, team;
};

/// Names, rows, teams and this identity's own place.
[[nodiscard]] control::Leaderboard leaderboard_of(const ledger::Ledger& ledger, const RunId& run, const OwnWords& own,
                                                  const control::ReadLeaderboard& call);

/// Up to `rows_max` training losses of rounds, and the run's validation losses, by rising round.
[[nodiscard]] std::vector<control::CurvePoint> curve_points(const ledger::Ledger& ledger, const RunId& run,
                                                            const run::LossCurve& losses, std::size_t rows_max);
/// The newest of them.
void add_loss(const run::LossCurve& losses, control::RunSnapshot& snapshot);

/// What becomes of a run without its host, with the names of those who are here.
[[nodiscard]] control::Succession succession_rows(const peer::Succession& succession, const peer::PeerView& view);

/// The committee of a run, with the names of those who are here, and where proofs of lies lie.
[[nodiscard]] control::Committee committee_rows(const peer::CommitteeView& committee, const peer::PeerView& view,
                                                const std::filesystem::path& run_folder);

inline constexpr std::size_t manifest_file_bytes_max = run::manifest_bytes_max + 1024;  // with its signature
/// Parses a manifest file and checks its host's signature.
[[nodiscard]] Result<run::SignedManifest> check_manifest(ByteSpan file);

/// The longest file that it reads.
inline constexpr std::uint64_t evidence_file_bytes_max =
    std::max<std::uint64_t>(run::evidence_bytes_max, proof::false_step_bytes_max);
/// What a file of evidence proves, in three lines or a few more: who lied, in which run, and how. `malformed` or
/// `untrusted` if it proves nothing.
[[nodiscard]] Result<std::string> evidence_text(ByteSpan file);

}  // namespace potluck::node

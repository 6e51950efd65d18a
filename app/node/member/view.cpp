// The swarm's loss weights members by their speed, so that a slow computer's noisy mean does not count as much as a
// fast one's. "Today" begins at local midnight by this computer's time zone, with mktime deciding about daylight
// saving.
//
// Pure, but for the clock and the time zone.
#include "app/node/member/view.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>

#include "app/node/member/state_files.h"
#include "app/node/owner/usage.h"
#include "core/base/text.h"
#include "core/model/state_layout.h"
#include "core/run/agreement/evidence.h"
#include "core/run/density.h"
#include "net/blob_torrent.h"

namespace potluck::node {

std::string describe(const model::ModelSpec& model) {
    const auto parameters = static_cast<double>(model.parameters());
    const bool is_small = parameters < 100'000;  // 0.0 million would say nothing
    return formatted("%s shape, %u %s, width %u: %.1f %s parameters", family_title(model), model.layers,
                     model.layers == 1 ? "layer" : "layers", model.width, parameters / (is_small ? 1e3 : 1e6),
                     is_small ? "k" : "M");
}

namespace {

constexpr Duration inbound_patience{60'000};  // in which routers answer and others come

/// Empty for a computer whose key is its person's.
std::string person_text(const peer::MemberView& member) {
    const run::DeviceCertificate& certificate = member.status.certificate;
    return certificate.is_own() ? std::string() : certificate.person.hex();
}

std::optional<std::string> hex_of(const std::optional<PeerId>& key) {
    return key ? std::optional(key->hex()) : std::nullopt;
}

}  // namespace

namespace {

/// Mean of what members said last, by their speed, of those that `counts` is true for.
double mean_loss(const peer::PeerView& view, const std::function<bool(const run::StatusMessage&)>& counts) {
    double sum = 0, weight = 0;
    for (const peer::MemberView& member : view.members) {
        if (member.status.loss <= 0 || !counts(member.status)) continue;
        const double tokens = std::max(1.0, static_cast<double>(member.status.tokens_per_second));
        sum += tokens * static_cast<double>(member.status.loss);
        weight += tokens;
    }
    return weight > 0 ? sum / weight : 0;
}

}  // namespace

double swarm_loss(const peer::PeerView& view) {
    return mean_loss(view, [](const run::StatusMessage&) { return true; });
}

double loss_of_round(const peer::PeerView& view, RoundId ended) {
    return mean_loss(view, [ended](const run::StatusMessage& said) {
        return said.round == ended || said.round.value == ended.value + 1;
    });
}

void add_flows(const std::vector<net::MemberFlow>& flows, control::RunSnapshot& snapshot) {
    std::map<std::string, const net::MemberFlow*> by_key;
    for (const net::MemberFlow& flow : flows) by_key[flow.peer.hex()] = &flow;
    for (control::MemberRow& member : snapshot.members) {
        const auto found = by_key.find(member.id);
        if (found == by_key.end() || !member.connected) continue;
        member.sent_per_second = found->second->sent_per_second;
        member.received_per_second = found->second->received_per_second;
    }
}

namespace {

control::JudgedFigures figures_of(const run::JurorVerdict& verdict) {
    const auto nats = [](std::int32_t millionths) { return millionths / 1e6; };
    return {nats(verdict.own), nats(verdict.other), nats(verdict.median), verdict.judged};
}

control::Jury jury_rows(const peer::JuryView& view) {
    control::Jury jury;
    for (const peer::JuryView::Seat& seat : view.seats)
        jury.jurors.push_back({seat.id.hex(), seat.verdicts, seat.unshared});
    for (const peer::JuryView::Shut& shut : view.suspended) {
        if (jury.suspended.size() == control::judged_rows_max) break;
        control::JudgedRow row{.id = shut.person.hex(), .times = shut.state.times, .since = shut.since.value};
        if (shut.state.until != run::until_lifted) row.until = shut.state.until.value;
        if (shut.figures) row.figures = figures_of(*shut.figures);
        jury.suspended.push_back(std::move(row));
    }
    for (const peer::JuryView::Accused& one : view.accused) {
        if (jury.accused.size() == control::judged_rows_max) break;
        jury.accused.push_back({.id = one.person.hex(), .verdicts = one.verdicts, .figures = figures_of(one.figures)});
    }
    jury.measured = view.measured;
    jury.seconds = std::chrono::duration<double>(view.time_taken).count();
    if (view.own) {
        jury.own = control::JudgedFigures{view.own->own, 0, view.own->median, view.own->measured};
        jury.helps = view.own->helps;
    }
    jury.against = view.against_own;
    return jury;
}

}  // namespace

control::RunSnapshot run_snapshot(const RunId& run, const run::Manifest& manifest, const peer::PeerView& view) {
    control::RunSnapshot snapshot;
    snapshot.id = run.hex();
    snapshot.name = manifest.name;
    snapshot.purpose = manifest.purpose;
    snapshot.licence = manifest.licence;
    snapshot.host = manifest.host.hex();
    snapshot.model = describe(manifest.model);
    snapshot.parameters = model::state_layout(manifest.model).parameters;
    snapshot.round = view.round.value;
    snapshot.total_rounds = manifest.recipe.total_rounds;
    snapshot.phase = view.phase;
    if (view.proposer) snapshot.proposer = view.proposer->hex();
    snapshot.window_seconds = std::chrono::duration<double>(manifest.recipe.window).count();
    snapshot.loss = swarm_loss(view);
    snapshot.bigram_loss = manifest.bigram_loss;
    snapshot.baseline = model::baseline_of(manifest.model.family);
    snapshot.rounds_lost = view.rounds_lost;
    snapshot.digests_compared = view.digests_compared;
    snapshot.digests_equal = view.digests_equal;
    snapshot.repairs = view.repairs;
    snapshot.last_round_overhead_seconds = std::chrono::duration<double>(view.last_round_overhead).count();
    snapshot.findings.calculates_differently = view.calculates_differently;
    if (view.jury) snapshot.findings.jury = jury_rows(*view.jury);
    snapshot.exchange.density = view.k;
    snapshot.exchange.density_allowed = view.k_allowed;
    snapshot.exchange.sum_signers = view.step_signers;
    snapshot.exchange.offers = view.offers;
    snapshot.exchange.offers_in_time = view.offers_in_time;
    if (view.join_to_first_step)
        snapshot.join_seconds = std::chrono::duration<double>(*view.join_to_first_step).count();
    snapshot.digest = view.digest.hex();
    snapshot.closed = view.closed;
    snapshot.findings.members_beyond = view.beyond.members;
    snapshot.swarm_tokens_per_second = static_cast<std::uint64_t>(view.beyond.tokens_per_second);
    for (const peer::MemberView& member : view.members) {
        const run::StatusMessage& status = member.status;
        snapshot.swarm_tokens_per_second += status.tokens_per_second;
        snapshot.members.push_back({member.id.hex(), status.name, status.role, status.phase, status.round.value,
                                    status.window_tokens.value, status.tokens_per_second,
                                    static_cast<double>(status.loss), member.is_self, member.is_connected,
                                    person_text(member), member.is_seated, hex_of(member.through)});
    }
    return snapshot;
}

Beginning beginning_of(const run::Manifest& manifest) {
    Beginning beginning{.state = model::state_layout(manifest.model).file_size()};
    for (const run::Shard& shard : manifest.shards) beginning.shard = std::max(beginning.shard, shard.blob.size);
    return beginning;
}

control::DayOfTraffic traffic_of_a_day(const run::Manifest& manifest) {
    constexpr double bits_of_a_byte = 8, seconds_of_a_day = 86'400;
    const run::Recipe& recipe = manifest.recipe;
    const double window = std::chrono::duration<double>(recipe.window).count();
    const double round = window + window / run::exchange_divisor;
    if (round <= 0) return {};
    const auto parameters = static_cast<double>(model::state_layout(manifest.model).parameters);
    const auto day_of = [&](double bits) {
        const double bytes = parameters * bits / bits_of_a_byte * seconds_of_a_day / round;
        return static_cast<std::uint64_t>(std::min(bytes, static_cast<double>(control::integer_max)));
    };
    const double contribution = run::bits_per_parameter(recipe.k);
    const double step = run::bits_of_step(recipe.k);
    const bool is_coded = recipe.outer.form == numerics::StepForm::coded;
    return {.for_each_other = day_of(contribution), .with_the_sum = is_coded ? day_of(contribution + step) : 0};
}

control::OfferedRun offered_run(const RunId& run, const run::Manifest& manifest, const PeerId& person) {
    control::OfferedRun offered;
    offered.id = run.hex();
    offered.name = manifest.name;
    offered.purpose = manifest.purpose;
    offered.licence = manifest.licence;
    offered.host = manifest.host.hex();
    offered.model = describe(manifest.model);
    const model::StateLayout layout = model::state_layout(manifest.model);
    offered.parameters = layout.parameters;
    offered.total_rounds = manifest.recipe.total_rounds;
    offered.window_seconds = std::chrono::duration<double>(manifest.recipe.window).count();
    offered.listed = !manifest.allowed.empty();
    offered.admitted = !offered.listed || manifest.host == person ||
                       std::ranges::find(manifest.allowed, person) != manifest.allowed.end();
    std::uint64_t text = 0;
    for (const run::Shard& shard : manifest.shards) text += shard.blob.size;
    offered.download = beginning_of(manifest).bytes();
    offered.disk = states_on_disk * layout.file_size() + text;
    offered.traffic = traffic_of_a_day(manifest);
    return offered;
}

std::vector<control::RefusalRow> refusal_rows(const std::vector<peer::Refusal>& refusals,
                                              const net::SwarmCounters& connections) {
    std::vector<control::RefusalRow> rows;
    for (const peer::Refusal& refusal : refusals) {
        // "potluck/history-request/1" is how the kind is known everywhere else.
        const std::string_view domain = run::domain_of(refusal.kind);
        const std::size_t begin = domain.find('/') + 1;
        rows.push_back({std::string(domain.substr(begin, domain.rfind('/') - begin)), run::name_of(refusal.verdict),
                        refusal.count});
    }
    const auto add = [&](const char* reason, std::uint64_t count) {
        if (count > 0) rows.push_back({"connection", reason, count});
    };
    add("malformed", connections.frames_malformed);
    add("flood", connections.floods);
    add("reads_too_slowly", connections.overflows);
    add("refused", connections.refused);
    add("same_key", connections.copies);
    add("crowded_address", connections.crowded);
    add("queues_full", connections.queues_full);
    return rows;
}

void add_credit(const ledger::Ledger& ledger, const RunId& run, const PeerId& self, control::RunSnapshot& snapshot) {
    snapshot.accepted_tokens = ledger.totals(run).tokens.value;
    if (snapshot.loss <= 0) {  // nobody trains now
        for (const ledger::RoundRecord& last : ledger.curve(run, 1)) snapshot.loss = last.loss;
    }
    const ledger::Credit credit = ledger.credit_of(run, self);
    snapshot.my_tokens = credit.tokens.value;
    snapshot.my_rounds = credit.rounds;
    snapshot.my_tokens_today = ledger.tokens_since(self, midnight_before(unix_seconds())).value;
}

namespace {

control::SeatRow seat_row(const PeerId& seat, const peer::PeerView& view) {
    control::SeatRow row{.id = seat.hex(), .name = {}, .person = {}};
    for (const peer::MemberView& member : view.members) {
        if (member.id != seat) continue;
        row.name = member.status.name;
        row.here = true;
        row.self = member.is_self;
        row.person = person_text(member);
    }
    return row;
}

}  // namespace

control::Succession succession_rows(const peer::Succession& succession, const peer::PeerView& view) {
    control::Succession rows{.seats = {},
                             .needed = succession.needed,
                             .shard_copies = succession.shard_copies,
                             .checkpoint_holders = succession.checkpoint_holders};
    for (const PeerId& seat : succession.seats) rows.seats.push_back(seat_row(seat, view));
    return rows;
}

control::Committee committee_rows(const peer::CommitteeView& committee, const peer::PeerView& view,
                                  const std::filesystem::path& run_folder) {
    control::Committee rows;
    rows.needed = committee.quorum;
    for (const PeerId& seat : committee.seats) rows.seats.push_back(seat_row(seat, view));
    for (const run::SignedAction& one : committee.waiting) rows.waiting.push_back(run::describe(one.action));
    for (const run::Evidence& one : committee.evidence) {
        rows.evidence.push_back({one.author().hex(), run::describe(one),
                                 evidence_file_in(run_folder, one.author()).string(), one.instance().round.value});
    }
    for (const auto& [seat, lie] : committee.lies) {
        rows.evidence.push_back({seat.hex(), proof::describe_false_step(lie.round),
                                 lie.on_disk ? false_step_file_in(run_folder, lie.list).string() : std::string(),
                                 lie.round.value});
    }
    for (const PeerId& key : committee.rules.banned) {
        if (key != run::unvouched_keys) rows.banned.push_back(key.hex());
    }
    rows.closed = committee.rules.closed();
    if (view.jury) rows.jury = jury_rows(*view.jury);
    for (const PeerId& key : committee.rules.vouched) rows.vouched.push_back(key.hex());
    return rows;
}

control::Inbound inbound_of(const net::SessionCounters& counters) {
    if (counters.reached) return control::Inbound::reached;
    if (counters.mapped_port != 0) return control::Inbound::mapped;
    const bool early = !counters.on_internet || counters.open_for < inbound_patience;
    return early ? control::Inbound::unknown : control::Inbound::shut;
}

control::DetectReply device_rows(control::DetectReply found, const std::vector<std::string>& training) {
    for (control::DeviceRow& row : found.devices) {
        if (row.usable || std::ranges::find(training, row.id) == training.end()) continue;
        row.usable = true;
        row.reason = "It trains.";
    }
    return found;
}

control::NetworkSnapshot network_snapshot(const net::SessionCounters& counters) {
    control::NetworkSnapshot shown{.port = counters.port,
                                   .bytes_up = counters.bytes_up,
                                   .bytes_down = counters.bytes_down,
                                   .dht_nodes = counters.dht_nodes,
                                   .inbound = inbound_of(counters),
                                   .router = {},
                                   .traffic = {}};
    if (counters.mapped_by == net::PortMapper::upnp) shown.router = "UPnP";
    if (counters.mapped_by == net::PortMapper::nat_pmp) shown.router = "NAT-PMP";
    return shown;
}

namespace {

/// Upper and lower case of ASCII letters are the same, as in the ledger.
bool holds(std::string_view text, std::string_view part) {
    return std::search(text.begin(), text.end(), part.begin(), part.end(), same_letter) != text.end();
}

/// `total`: tokens of all people.
void add_teams(const ledger::Ledger& ledger, const RunId& run, const OwnWords& words,
               const control::ReadLeaderboard& call, double total, control::Leaderboard& board) {
    const auto row_of = [&](const ledger::TeamStanding& one) {
        return control::TeamRow{static_cast<std::uint32_t>(one.rank),
                                one.team,
                                one.tokens.value,
                                one.members,
                                total > 0 ? std::min(1.0, static_cast<double>(one.tokens.value) / total) : 0,
                                one.team == words.team};
    };
    const ledger::OwnClaim own{words.person, words.team};
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(call.rows, control::team_rows_max));
    for (const ledger::TeamStanding& one : ledger.teams(run, own, call.find, most)) board.teams.push_back(row_of(one));
    const auto listed = std::ranges::find_if(board.teams, &control::TeamRow::own);
    if (listed != board.teams.end()) {
        board.own_team = *listed;
    } else if (const ledger::TeamStanding one = ledger.team_of(run, own); one.rank > 0) {
        board.own_team = row_of(one);
    }
}

}  // namespace

control::Leaderboard leaderboard_of(const ledger::Ledger& ledger, const RunId& run, const OwnWords& words,
                                    const control::ReadLeaderboard& call) {
    const auto total = static_cast<double>(ledger.totals(run).tokens.value);
    const auto row_of = [&](const ledger::Credit& credit, std::uint64_t rank) {
        const bool is_self = credit.peer == words.person;
        return control::LeaderboardRow{static_cast<std::uint32_t>(rank),
                                       credit.peer.hex(),
                                       is_self ? words.name : credit.name,
                                       credit.tokens.value,
                                       credit.rounds,
                                       total > 0 ? static_cast<double>(credit.tokens.value) / total : 0,
                                       is_self,
                                       is_self ? words.team : credit.team};
    };
    control::Leaderboard board;
    add_teams(ledger, run, words, call, total, board);
    board.people = ledger.people(run);
    const auto most = static_cast<std::size_t>(call.rows);
    if (call.find.empty()) {
        for (const ledger::Credit& credit : ledger.leaderboard(run, most))
            board.rows.push_back(row_of(credit, board.rows.size() + 1));
    } else {
        for (const ledger::Standing& one : ledger.find_people(run, call.find, most))
            board.rows.push_back(row_of(one.credit, one.rank));
    }
    const auto listed = std::ranges::find_if(board.rows, &control::LeaderboardRow::self);
    if (listed != board.rows.end()) {
        board.own = *listed;
    } else if (const ledger::Standing own = ledger.standing_of(run, words.person); own.rank > 0) {
        board.own = row_of(own.credit, own.rank);
        // The ledger has what others told; one's own words are looked for as they are now.
        const bool is_found = holds(words.name, call.find) || holds(words.team, call.find);
        if (!call.find.empty() && board.rows.size() < most && is_found) {
            const auto behind =
                std::ranges::upper_bound(board.rows, board.own->rank, {}, &control::LeaderboardRow::rank);
            board.rows.insert(behind, *board.own);
        }
    }
    return board;
}

std::vector<control::CurvePoint> curve_points(const ledger::Ledger& ledger, const RunId& run,
                                              const run::LossCurve& losses, std::size_t rows_max) {
    std::vector<control::CurvePoint> points;
    for (const ledger::RoundRecord& record : ledger.curve(run, rows_max)) {
        if (record.loss > 0)
            points.push_back({record.round.value, record.loss, record.at, 0, record.tokens_until.value});
    }
    for (const run::LossPoint& point : losses.points)
        points.push_back({point.round.value, 0, 0, run::nats_of(point.loss)});
    std::ranges::stable_sort(points, {}, &control::CurvePoint::round);
    return points;
}

void add_loss(const run::LossCurve& losses, control::RunSnapshot& snapshot) {
    if (losses.points.empty()) return;
    snapshot.validation_loss = run::nats_of(losses.points.back().loss);
    snapshot.validation_round = losses.points.back().round.value;
}

Result<run::SignedManifest> check_manifest(ByteSpan file) {
    auto parsed = run::parse_manifest_file(file);
    if (!parsed) return parsed.error();
    if (!identity::verify(parsed->manifest.host, run::manifest_domain, parsed->json, parsed->signature)) {
        return Error{ErrorCode::untrusted, "The run's description is not signed by its host; ask for a new invite."};
    }
    return parsed;
}

namespace {

std::string text_of(const RunId& run, const std::vector<PeerId>& keys, const std::string& what) {
    std::string text;
    for (const PeerId& key : keys) text += "key: " + key.hex() + "\n";
    return text + "run: " + run.hex() + "\nsigned " + what;
}

Result<std::string> false_step_text(ByteSpan file) {
    const auto evidence = proof::FalseStep::parse(file);
    if (!evidence) return evidence.error();
    const ByteSpan manifest = evidence->manifest_file;
    const RunId run = net::run_of_manifest(manifest);
    const auto proven = proof::check_false_step(file, run, run::Ed25519Verifier(), 1);
    if (!proven) return proven.error();
    return text_of(run, proven->seats, proof::describe_false_step(proven->round));
}

}  // namespace

Result<std::string> evidence_text(ByteSpan file) {
    if (proof::is_false_step(file)) return false_step_text(file);
    const auto evidence = run::check_evidence(file, run::Ed25519Verifier());
    if (!evidence) return evidence.error();
    return text_of(evidence->instance().run, {evidence->author()}, run::describe(*evidence));
}

}  // namespace potluck::node

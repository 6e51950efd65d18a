#include "tests/sim/world.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "core/base/merkle.h"
#include "core/base/sha256.h"
#include "core/model/initial_state.h"
#include "core/run/agreement/keyring.h"
#include "core/status/sentence.h"
#include "tests/sim/checks.h"

namespace potluck::sim {

namespace {

constexpr std::int64_t unix_start = 1'750'000'000'000;  // milliseconds, when every world begins

model::ModelSpec tiny_model(std::uint32_t width) {
    model::ModelSpec model;
    model.vocabulary = 32;
    model.context = 8;
    model.layers = 1;
    model.heads = 1;
    model.width = width;
    return model;
}

Bytes initial_file(const model::StateLayout& layout, const model::ModelSpec& model) {
    Bytes file = layout.header;
    file.resize(layout.file_size());
    model::fill_initial_state(model, 1,
                              {reinterpret_cast<float*>(file.data() + layout.header.size()), layout.parameters});
    return file;
}

}  // namespace

identity::Identity world_key(std::size_t member) {
    std::array<std::byte, 32> seed{};
    seed[0] = std::byte{static_cast<unsigned char>(member)};
    seed[1] = std::byte{0x77};
    seed[2] = std::byte{static_cast<unsigned char>(member >> 8U)};
    return identity::Identity::from_seed(seed);
}

World::World(std::uint64_t seed, WorldPlan plan)
    : m_seed(seed), m_plan(plan), m_rng(seed), m_network(m_events, m_rng, plan.links) {
    m_run.bytes.fill(std::byte{0x42});
    const model::StateLayout layout = model::state_layout(tiny_model(plan.width));
    for (std::size_t i = 0; i < plan.backbones + plan.volunteers; ++i) {
        m_homes.push_back(std::make_unique<Home>(world_key(i), Disk("member" + std::to_string(i), layout),
                                                 std::move(ledger::Ledger::open(":memory:")).value()));
        Home& home = *m_homes.back();
        home.backbone = i < plan.backbones;
        if (const auto owner = plan.owners.find(i); owner != plan.owners.end()) {
            home.person = world_key(owner->second);
            home.certificate = run::certify(*home.person, home.id());
        }
        watch_announcements(*m_homes.back(), m_run);
    }
    make_manifest();
}

World::~World() {
    if (const char* file = std::getenv("POTLUCK_SIM_DIGESTS")) {
        std::ofstream(file, std::ios::app) << "seed " << m_seed << ", " << size() << " members, " << m_plan.rounds
                                           << " rounds: " << fingerprint().hex() << "\n";
    }
}

Digest World::fingerprint() {
    Sha256 hash;
    const auto number = [&](std::uint64_t value) { hash.update(as_bytes(std::to_string(value) + " ")); };
    for (const auto& home : m_homes) {
        const std::uint64_t rounds = home->ledger.totals(m_run).rounds.value;
        for (RoundId round{0}; round.value < rounds; round = round.next()) {
            // What a jump has left out is in nobody's fingerprint.
            if (const auto list = home->ledger.list(m_run, round)) hash.update(list->list);
            if (const auto digest = home->ledger.digest_after(m_run, round)) hash.update(digest->bytes);
        }
        for (const peer::StateStore::Held& held : home->disk.held()) {
            number(held.round.value);
            hash.update(held.digest.bytes);
            hash.update(merkle_root(home->disk.state(held.round).file).bytes);
        }
        if (const auto record = home->disk.load_record()) hash.update(*record);
        hash.update(std::as_bytes(home->disk.scratch(peer::Scratch::error)->values));
        number(home->disk.saves());
        if (!home->alive()) continue;
        const peer::PeerView view = home->process->peer->view();
        for (const std::uint64_t count : {view.digests_compared, view.digests_equal, view.repairs, view.rounds_lost}) {
            number(count);
        }
        for (const auto& [verdict, count] : home->process->peer->verdicts()) number(count);
        hash.update(as_bytes(status::sentence(view.why)));
    }
    number(static_cast<std::uint64_t>(now().since_epoch.count()));
    number(m_rng.next());
    return hash.finish();
}

void World::make_manifest() {
    m_manifest.name = "sim";
    m_manifest.licence = "CC0-1.0";
    m_manifest.host = home(0).person_id();
    if (home(0).person) m_manifest.host_device = run::Device{home(0).id(), home(0).certificate};
    const auto add = [](std::vector<PeerId>& persons, const PeerId& person) {
        if (std::find(persons.begin(), persons.end(), person) == persons.end()) persons.push_back(person);
    };
    for (std::size_t i = 0; i < m_plan.backbones; ++i) add(m_manifest.backbones, home(i).person_id());
    if (m_plan.friends) {
        for (std::size_t i = 0; i + m_plan.left_out < size(); ++i) add(m_manifest.allowed, home(i).person_id());
    }
    m_manifest.model = tiny_model(m_plan.width);
    run::Recipe& recipe = m_manifest.recipe;
    recipe.total_rounds = m_plan.rounds;
    recipe.checkpoint_every = m_plan.checkpoint_every;
    recipe.error_decay = m_plan.error_decay;
    recipe.fit_rounds = m_plan.fit_rounds;
    recipe.probation_rounds = m_plan.probation_rounds;
    recipe.strangers.newcomer_rms = m_plan.newcomer_rms;
    recipe.strangers.unvouched_share = m_plan.unvouched_share;
    recipe.rounds_late_max = m_plan.rounds_late_max;
    recipe.table_every = m_plan.table_every;
    recipe.k = m_plan.k;
    recipe.k_max = m_plan.k_max;
    recipe.outer.form = m_plan.step;
    recipe.outer.robust = m_plan.robust;
    recipe.measuring.jury = m_plan.jury;
    recipe.measuring.every = m_plan.measure_every;
    m_manifest.validation.records = m_plan.records;
    recipe.window = m_plan.window;
    recipe.collect = m_plan.collect;
    recipe.grace = m_plan.grace;
    const model::StateLayout layout = model::state_layout(m_manifest.model);
    m_initial.resize(layout.parameters);
    model::fill_initial_state(m_manifest.model, 1, m_initial);
    const auto seed_blob = [&](Bytes bytes, run::BlobKind kind, const std::filesystem::path& path = {}) {
        run::BlobRef ref{merkle_root(bytes), bytes.size(), kind, {}};
        if (kind == run::BlobKind::open) ref.info_hash = sha256(ref.root.bytes);
        home(0).folder.blobs[ref.root] = std::make_shared<MemoryBlob>(std::move(bytes), path);
        return ref;
    };
    m_manifest.initial_state = seed_blob(initial_file(layout, m_manifest.model), run::BlobKind::open);
    for (std::uint8_t i = 0; i < m_plan.shards; ++i) {
        m_manifest.shards.push_back(
            {seed_blob(Bytes(shard_bytes, std::byte{i}), run::BlobKind::open, "shard" + std::to_string(i)),
             m_plan.records});
    }
    run::Manifest told = m_manifest;
    told.validation = told.shards.front();  // a manifest without one is none
    told.tokenizer.kind = run::TokenizerKind::none;
    const Bytes file = run::manifest_file(as_bytes(told.to_json_text()), {});
    for (const auto& one : m_homes) one->disk.manifest = file;
}

bool World::remembered_verify(const PeerId& signer, std::string_view domain, ByteSpan bytes,
                              const identity::Signature& signature) {
    ++m_verifications;
    Sha256 hash;
    hash.update(signer.bytes);
    hash.update(as_bytes(domain));
    hash.update(signature);
    hash.update(bytes);
    const auto [found, added] = m_verified.try_emplace(hash.finish(), false);
    if (added) found->second = identity::verify(signer, domain, bytes, signature);
    return found->second;
}

/// A job takes a while and is done at the end of it, beside whatever the member does meanwhile; its answer comes later
/// still. Both keep the order of submission and neither happens if the process has died by then.
peer::Offload World::offload_of(Home& home) {
    return [this, &home](std::function<void()> work, std::function<void()> done) {
        Process& process = *home.process;
        const auto takes = [&](Duration most) { return home.slowness * m_network.between(Duration{0}, most); };
        process.work_due = std::max(process.work_due, now()) + takes(m_plan.work_max);
        process.job_due = std::max(process.job_due, process.work_due + takes(m_plan.answer_max));
        process.port->later(process.work_due - now(), std::move(work));
        process.port->later(process.job_due - now(), std::move(done));
    };
}

void World::start(std::size_t member) {
    Home& home = *m_homes[member];
    POTLUCK_CHECK(!home.alive());
    home.process = std::make_unique<Process>();
    Process& process = *home.process;
    process.port = std::make_unique<Port>(m_network, home.id(), home.disk, home.folder);
    if (!home.backbone) process.trainer = std::make_unique<FakeTrainer>(*process.port, home.disk, m_rng);
    peer::PeerSettings settings;
    settings.role = home.backbone ? run::Role::backbone : run::Role::volunteer;
    settings.name = home.name.value_or("member " + std::to_string(member));
    if (const auto cap = m_plan.shard_bytes_max.find(member); cap != m_plan.shard_bytes_max.end()) {
        settings.shard_bytes_max = cap->second;
    }
    process.peer = std::make_unique<peer::Peer>(
        m_run, m_manifest, settings,
        peer::Peer::World{
            .swarm = *process.port,
            .trainer = process.trainer.get(),
            .store = home.disk,
            .ledger = home.ledger,
            .identity = home.identity,
            .offload = offload_of(home),
            .verify =
                [this](const PeerId& signer, std::string_view domain, ByteSpan bytes,
                       const identity::Signature& signature) {
                    return remembered_verify(signer, domain, bytes, signature);
                },
            .unix_clock = [this, error = clock_error] { return unix_start + (now().since_epoch + error).count(); },
            .certificate = home.certificate,
            .person = home.person ? &*home.person : nullptr});
    process.port->connect(*process.peer);
    process.port->after_event = [this, member, &home, chains = std::uint64_t{0}]() mutable {
        home.process->peer->check_invariants();
        // Whenever its chain has grown a member asks for its votes.
        if (std::exchange(chains, home.disk.votes_loaded()) != home.disk.votes_loaded()) compare_chain(member);
    };
    if (process.trainer) {
        process.trainer->connect(*process.peer);
        process.trainer->on_judge = [this, member](const PeerId& contributor, const auto& subject) {
            return on_judge ? on_judge(member, contributor, subject) : std::nullopt;
        };
    }
    home.saved = 0;
    home.disk.on_save = [&home] { home.saved = home.process->trainer ? home.process->trainer->answered() : 0; };
    m_network.attach(home.id(), process.port.get());
    process.peer->start(now());
    for (const PeerId& id : m_network.sessions_of(home.id())) {
        Port& port = *m_network.port(id);
        if (port.receiver() == nullptr) continue;
        port.receiver()->on_neighbour(home.id());
        process.peer->on_neighbour(id);
    }
    process.port->later(Duration{static_cast<int>(m_rng.below(100))}, [this, member] { tick(member); });
}

void World::measure(std::size_t member) {
    const std::optional<RoundId> due = peer(member).loss_due();
    const std::optional<double> nats = due ? on_measure(member, *due) : std::nullopt;
    if (nats) peer(member).on_loss(*due, *nats);
}

void World::tick(std::size_t member) {
    Home& home = *m_homes[member];
    home.process->peer->tick(now());
    if (on_measure && home.process->trainer && home.process->trainer->running()) measure(member);
    compare_chain(member);
    home.process->port->later(Duration{100}, [this, member] { tick(member); });
}

run::Owners World::owners() const {
    run::Owners owners;
    for (const auto& home : m_homes) {
        if (home->person) owners.emplace(home->id(), home->certificate);
    }
    return owners;
}

std::vector<PeerId> World::committee_of(std::size_t member) { return home(member).ledger.head(m_run)->committee; }

run::RunRules World::rules() const { return run::rules_of(m_run, m_manifest); }

void World::use(const Topology& topology) {
    for (const Topology::Link& link : topology.links) {
        m_network.link(home(link.a).id(), home(link.b).id(), link.speed);
    }
}

void World::split(const std::vector<int>& groups) {
    std::map<PeerId, int> group_of;
    for (std::size_t i = 0; i < groups.size(); ++i) group_of[home(i).id()] = groups[i];
    m_network.split(std::move(group_of));
    m_committed_at_split = groups.empty() ? std::nullopt : std::optional(rounds_committed());
}

void World::compare_chain(std::size_t member) {
    Home& home = *m_homes[member];
    const std::uint64_t rounds = home.ledger.totals(m_run).rounds.value;
    home.rounds_compared = std::min(home.rounds_compared, rounds);  // the host has replaced the committee further back
    for (; home.rounds_compared < rounds; ++home.rounds_compared) {
        const RoundId round{home.rounds_compared};
        const auto held = home.ledger.list(m_run, round);
        if (!held) continue;  // it has jumped
        const Bytes bytes = held->list;
        const run::AcceptList list = run::AcceptList::decode(bytes).value();
        const Digest hash = sha256(bytes);
        const auto [known, added] = m_committed.try_emplace({list.term, round}, Committed{hash, list.committee});
        if (added) {
            if (!has_quorum(home, list.term, round)) {
                m_divided = "a minority has committed round " + std::to_string(round.value);
            }
            if (!run::are_different_persons(list.committee, owners())) {
                m_divided = "a person has two seats after round " + std::to_string(round.value);
            }
            m_rounds_committed = std::max(m_rounds_committed, round.value + 1);
        } else if (known->second.list != hash) {
            m_divided = "round " + std::to_string(round.value) + " has two lists";
        }
        if (on_list) on_list(member, round);
    }
}

/// Whether the committee of `round` can have decided it where `home` is. The round that was under way when the network
/// split may be finished anywhere, by votes that were heard before.
bool World::has_quorum(const Home& home, std::uint32_t term, RoundId round) const {
    if (!m_committed_at_split || round.value <= *m_committed_at_split) return true;
    const auto before = m_committed.find({term, RoundId{round.value - 1}});
    if (before == m_committed.end()) return true;  // the host has named this committee (a term's first round)
    const std::vector<PeerId>& committee = before->second.committee;
    const auto here = std::count_if(committee.begin(), committee.end(),
                                    [&](const PeerId& seat) { return m_network.reachable(seat, home.id()); });
    return static_cast<std::size_t>(here) > 2 * committee.size() / 3;
}

void World::start_all() {
    for (std::size_t i = 0; i < size(); ++i) {
        if (!home(i).alive()) start(i);
    }
}

void World::kill(std::size_t member, Death death) {
    Home& home = *m_homes[member];
    if (!home.alive()) return;
    home.trained_before += home.saved;
    home.rounds_lost_before += peer(member).view().rounds_lost;
    home.disk.on_save = nullptr;
    m_network.detach(home.id());
    home.process.reset();
    home.disk.killed();
    if (death == Death::silent) return;
    for (const PeerId& id : m_network.sessions_of(home.id())) {
        Port& port = *m_network.port(id);
        if (port.receiver() != nullptr) port.receiver()->on_neighbour_lost(home.id());
    }
}

void World::quit(std::size_t member, Duration patience) {
    peer(member).begin_leaving(now());
    (void)run_until([&] { return !home(member).alive() || peer(member).may_leave(); }, patience);
    if (!home(member).alive()) return;
    peer(member).leave();
    run_for(Duration{100});  // the goodbye travels
    kill(member, Death::closes_sessions);
}

bool World::put_to_sleep(std::size_t member, Duration time) {
    peer(member).begin_sleep(now());
    // As long as a node keeps the system waiting.
    const bool in_time = run_until([&] { return peer(member).may_sleep(); }, Duration{3'000});
    Port& port = *home(member).process->port;
    port.sleep(time);
    port.later(Duration{0}, [this, member] { peer(member).end_sleep(now()); });
    return in_time;
}

std::uint32_t World::newest_k() const {
    std::optional<run::AcceptList> newest;
    for (const auto& home : m_homes) {
        if (!home->alive()) continue;
        const std::optional<run::AcceptList> head = home->ledger.head(m_run);
        if (head && (!newest || newest->round < head->round)) newest = head;
    }
    return newest ? newest->k : m_manifest.recipe.k;
}

bool World::run_until(const std::function<bool()>& done, Duration limit, Duration pause) {
    const TimePoint end = now() + limit;
    TimePoint asked = now();
    while (now() < end) {
        if (!m_events.step()) return done();
        if (now() < asked + pause) continue;
        asked = now();
        if (done()) return true;
    }
    return done();
}

std::uint64_t World::round_of(std::size_t member) { return home(member).alive() ? peer(member).view().round.value : 0; }

bool World::all_at(std::uint64_t round) {
    for (std::size_t i = 0; i < size(); ++i) {
        if (home(i).alive() && round_of(i) < round) return false;
    }
    return true;
}

}  // namespace potluck::sim

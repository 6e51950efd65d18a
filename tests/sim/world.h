// A run with all its members: what each keeps over its deaths (key, disk, ledger, blobs) and the process that lives
// now.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/peer/peer.h"
#include "core/peer/record.h"
#include "tests/sim/fake_trainer.h"
#include "tests/sim/network.h"

namespace potluck::sim {

struct WorldPlan {
    std::size_t backbones = 1;  // members 0..backbones-1; member 0 is the host
    std::size_t volunteers = 2;
    std::uint64_t rounds = 5;
    std::uint64_t checkpoint_every = 3;
    LinkQuality links{};
    Duration work_max{80};     // that a job takes
    Duration answer_max{120};  // between the end of a job and its answer
    Duration window{6'000}, collect{3'000}, grace{5'000};
    float error_decay = 0.95F;
    bool friends = false;          // all members are on the run's allow list, so that they may have seats
    std::size_t left_out = 0;      // of them, the last ones are not
    std::uint32_t fit_rounds = 3;  // until they may
    std::uint8_t shards = 3;
    std::map<std::size_t, std::uint64_t> shard_bytes_max = {};  // by member; no cap for the others
    std::uint32_t probation_rounds = 2;
    double newcomer_rms = 0, unvouched_share = 1;
    std::uint32_t rounds_late_max = 0;
    std::uint64_t table_every = 1'000;
    std::map<std::size_t, std::size_t> owners = {};  // members that are computers of world_key(the second)
    std::uint32_t k = 1024, k_max = 4096;            // few rounds: much of the movement in each
    std::uint32_t width = 16;                        // of the model
    numerics::StepForm step = numerics::StepForm::exact;
    numerics::RobustRule robust = numerics::RobustRule::mean;
    double jury = 0;  // share of a juror's time
    std::uint64_t measure_every = 0;
    std::uint64_t records = 10;  // of a shard, as the manifest says
    /// States are damaged under running members. One that most hold then counts as the right one, so members are
    /// compared with each other and no longer with F.
    bool damage_may_spread = false;
};

inline constexpr std::uint64_t shard_bytes = 180;  // each of a world's shards

/// Key of `member` in every world.
[[nodiscard]] identity::Identity world_key(std::size_t member);

enum class Death { closes_sessions, silent };

/// What lives and dies at once. Destroyed in reverse order.
struct Process {
    std::unique_ptr<Port> port;
    std::unique_ptr<FakeTrainer> trainer;
    TimePoint work_due, job_due;  // of the newest job: its end and its answer
    std::unique_ptr<peer::Peer> peer;
};

/// What a member keeps.
struct Home {
    Home(identity::Identity key, Disk store, ledger::Ledger chain)
        : identity(std::move(key)), disk(std::move(store)), ledger(std::move(chain)) {}
    [[nodiscard]] const PeerId& id() const { return identity.id(); }
    [[nodiscard]] const PeerId& person_id() const { return person ? person->id() : id(); }
    [[nodiscard]] bool alive() const { return process != nullptr; }

    identity::Identity identity;
    std::optional<identity::Identity> person;  // whose computer it is, if another's
    run::DeviceCertificate certificate;
    Disk disk;
    ledger::Ledger ledger;
    BlobFolder folder;
    std::optional<std::string> name;  // that it goes by; its number if nothing
    bool backbone = false;
    std::uint64_t trained_before = 0;      // tokens of snapshots of earlier lives that were saved
    std::uint64_t saved = 0;               // of this life, at the last save of the record
    std::uint64_t rounds_lost_before = 0;  // counted by earlier lives
    std::uint64_t rounds_compared = 0;     // with what others hold
    std::string announced_early;           // what was announced before it was on disk (checks.h)
    int slowness = 1;                      // its jobs take so many times longer than another's
    std::unique_ptr<Process> process;
};

class World {
public:
    World(std::uint64_t seed, WorldPlan plan);
    /// Appends fingerprint() to the file that POTLUCK_SIM_DIGESTS names, if it names one.
    ~World();

    /// Hash of all that the members ended with: lists, digests, records, error feedback, verdicts, time and randomness
    /// drawn. A change of the peer's inside that changes no decision leaves it equal for every seed.
    [[nodiscard]] Digest fingerprint();
    [[nodiscard]] std::size_t size() const { return m_homes.size(); }
    [[nodiscard]] Home& home(std::size_t member) { return *m_homes[member]; }
    [[nodiscard]] peer::Peer& peer(std::size_t member) { return *m_homes[member]->process->peer; }
    [[nodiscard]] const WorldPlan& plan() const { return m_plan; }
    [[nodiscard]] const run::Manifest& manifest() const { return m_manifest; }
    /// What the newest list lets contributions send.
    [[nodiscard]] std::uint32_t newest_k() const;
    [[nodiscard]] std::span<const float> initial_state() const { return m_initial; }
    [[nodiscard]] const RunId& run() const { return m_run; }
    [[nodiscard]] Rng& rng() { return m_rng; }
    [[nodiscard]] Events& events() { return m_events; }
    [[nodiscard]] Network& network() { return m_network; }
    [[nodiscard]] TimePoint now() const { return m_events.now(); }

    /// Who decides the first list.
    [[nodiscard]] std::vector<PeerId> first_committee() const { return rules().first_committee(); }
    /// As the manifest has them.
    [[nodiscard]] run::RunRules rules() const;
    /// Certificates of the members that are another's computers.
    [[nodiscard]] run::Owners owners() const;
    /// Who decides the next list, as `member` has it.
    [[nodiscard]] std::vector<PeerId> committee_of(std::size_t member);
    /// Sessions are where `topology` has links.
    void use(const Topology& topology);
    /// From now on members of different groups, one for each member, cannot reach each other, and a group without a
    /// quorum may finish the round under way and nothing more.
    void split(const std::vector<int>& groups);
    void heal() { split({}); }
    /// What was wrong with the lists that members held at any moment: two of them for one round, one that a minority
    /// has committed, or one that seats two computers of a person. Empty if nothing. Looked at after every event.
    [[nodiscard]] const std::string& divided() const { return m_divided; }
    /// How many signatures members have looked at so far.
    [[nodiscard]] std::uint64_t verifications() const { return m_verifications; }
    /// Rounds whose list some member holds.
    [[nodiscard]] std::uint64_t rounds_committed() const { return m_rounds_committed; }
    /// Called when a list has entered the ledger of `member`.
    std::function<void(std::size_t member, RoundId round)> on_list;
    /// What the trainer of `juror` measures of a contributor; nothing while unset.
    std::function<std::optional<peer::Judged>(std::size_t juror, const PeerId& contributor,
                                              const peer::JudgePlan::Subject& subject)>
        on_judge;
    /// What the trainer of `member` measures of theta[round], in nats; nothing: it cannot now. Unset: nobody measures.
    std::function<std::optional<double>(std::size_t member, RoundId round)> on_measure;
    void start(std::size_t member);
    void start_all();
    void kill(std::size_t member, Death death);
    /// The orderly way: the member says that it leaves, has `patience` for what it must hand over, and goes.
    void quit(std::size_t member, Duration patience = Duration{3'000});
    /// The system says that it puts the computer to sleep, waits for two seconds at most, does so, and says when it is
    /// awake again. Returns once it sleeps; whether all was handed over by then.
    bool put_to_sleep(std::size_t member, Duration time);
    Duration clock_error{0};  // of the clocks of those who start from now on

    /// Lets time pass until `done` holds (asked after each `pause`) or `limit` is over; whether it held.
    bool run_until(const std::function<bool()>& done, Duration limit, Duration pause = Duration{100});
    void run_for(Duration time) {
        (void)run_until([] { return false; }, time);
    }
    /// Round of the state of `member`; 0 if dead.
    [[nodiscard]] std::uint64_t round_of(std::size_t member);
    /// Every living member has reached `round`.
    [[nodiscard]] bool all_at(std::uint64_t round);

private:
    void make_manifest();
    void tick(std::size_t member);
    void measure(std::size_t member);
    void compare_chain(std::size_t member);
    [[nodiscard]] bool has_quorum(const Home& home, std::uint32_t term, RoundId round) const;
    peer::Offload offload_of(Home& home);
    bool remembered_verify(const PeerId& signer, std::string_view domain, ByteSpan bytes,
                           const identity::Signature& signature);

    std::uint64_t m_seed;
    WorldPlan m_plan;
    Rng m_rng;
    Events m_events;
    Network m_network;
    run::Manifest m_manifest;
    RunId m_run;
    std::vector<float> m_initial;
    std::unordered_map<Digest, bool> m_verified;
    std::uint64_t m_verifications = 0;
    struct Committed {
        Digest list;
        std::vector<PeerId> committee;  // of the next round
    };
    std::map<std::pair<std::uint32_t, RoundId>, Committed> m_committed;  // first list of a term and round that was held
    std::uint64_t m_rounds_committed = 0;
    std::optional<std::uint64_t> m_committed_at_split;
    std::string m_divided;
    std::vector<std::unique_ptr<Home>> m_homes;
};

}  // namespace potluck::sim

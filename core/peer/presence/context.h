// What all parts of a peer share and none of them changes: the run, its rules and layout, who we are, the way messages
// leave, and the time of the event that is being worked. Only `Peer` sets the time; parts hold a const reference.
// Does not: hold anything that a part decides.
// Threads: the peer's; `manifest`, `settings` and `layout` never change and may be read by anybody.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/identity/identity.h"
#include "core/model/state_layout.h"
#include "core/peer/seams/swarm.h"
#include "core/run/manifest.h"
#include "core/run/message.h"
#include "core/run/run_rules.h"
#include "core/run/shard_holders.h"

namespace potluck::peer {

/// How this computer takes part.
struct PeerSettings {
    run::Role role = run::Role::volunteer;
    std::string name;           // what the person calls this computer; others hear of it in every status
    std::string team;           // that the person claims to be in, empty for none; likewise
    unsigned threads = 1;       // for codec, F and hashing
    Duration heartbeat{1'000};  // between status messages
    std::uint64_t shard_bytes_max = run::no_shard_cap;  // that shards may take on its disk
};

class Context {
public:
    /// `identity` is this computer's key; `person` the key that `certificate` says it belongs to, or null if they are
    /// one.
    Context(const RunId& run, run::Manifest manifest, PeerSettings settings, Swarm& swarm,
            const identity::Identity& identity, run::DeviceCertificate certificate = {},
            const identity::Identity* person = nullptr);

    const RunId run;
    const run::Manifest manifest;
    const PeerSettings settings;  // as at the start; name and team may have changed since
    const run::RunRules rules;
    const model::StateLayout layout;
    Swarm& swarm;
    const identity::Identity& identity;
    const run::DeviceCertificate certificate;

    [[nodiscard]] const PeerId& self() const { return identity.id(); }
    [[nodiscard]] const PeerId& self_person() const { return certificate.person_of(self()); }
    [[nodiscard]] bool is_host() const { return self_person() == manifest.host; }
    [[nodiscard]] TimePoint now() const { return m_now; }
    void set_now(TimePoint now) { m_now = now; }
    /// Whether this computer is one of `seats`.
    [[nodiscard]] bool seated_in(const std::vector<PeerId>& seats) const { return run::has_seat(seats, self()); }
    /// Whether theta[round] ends the run.
    [[nodiscard]] bool is_last(RoundId round) const { return round.value >= manifest.recipe.total_rounds; }

    void send(const PeerId& to, const run::Message& message) const;
    /// To all neighbours but `from`, of whom this came.
    void pass_on(const run::Message& message, const PeerId& from) const;
    /// What a contribution or action of ours is signed with, in its message and in lists: a host's action with its
    /// person's key, all else with this computer's.
    [[nodiscard]] identity::Signature signature_of(const run::Message& own) const;
    void broadcast(const run::Message& message) const;
    /// With the payload that it names, if that is short enough.
    [[nodiscard]] run::Envelope envelope_of(const run::ContributionMessage& own, ByteSpan payload) const;
    /// What `author` has signed, to be sent on by this member.
    [[nodiscard]] run::Envelope envelope_signed_by(const PeerId& author, const run::Message& message,
                                                   const identity::Signature& signature) const;

private:
    [[nodiscard]] run::Envelope envelope_of(const run::Message& message) const;
    const identity::Identity& m_person;
    TimePoint m_now;
};

/// What a person can change about this member that puts a failure right at once.
enum class Remedy { none, disk_limit };

/// The newest failure, for the log (once in a row) and for the sentence that the person reads.
class ErrorReport {
public:
    explicit ErrorReport(const Context& context) : m_context(context) {}
    void report(const std::string& sentence, Remedy remedy = Remedy::none);
    /// The remedy was applied: a failure that waited for it is no news any more. What still fails is reported again.
    void withdraw(Remedy applied);
    [[nodiscard]] const std::string& last() const { return m_last; }
    /// What would end the newest failure.
    [[nodiscard]] Remedy remedy() const { return m_remedy; }
    /// Whether it is fresh enough to tell the person.
    [[nodiscard]] bool recent() const { return !m_last.empty() && m_context.now() - m_at < Duration{30'000}; }

private:
    const Context& m_context;
    std::string m_last;
    Remedy m_remedy = Remedy::none;
    TimePoint m_at;
};

}  // namespace potluck::peer

// Contributions of others and their payloads on their way: taken from the message that brings them, asked of the
// neighbour that passes the contribution on, handed to those who have asked, and fetched as blobs where nobody brings
// them (payloads/). Contributions are passed on where they are of use (presence/routes.h).
//
//   contribution --with its payload--> on the swarm's disk --checked--> held, and sent to those who have asked
//        '-- without: its deliverer is asked; nobody brings it: fetched as a blob --^
//
// Does not: check signatures; who delivered a contribution does not matter once it is held.
// Threads: the peer's. Owns: the questions that are open, what this round says of the lines (run::Exchange).
#pragma once

#include "core/peer/chain/chain_log.h"
#include "core/peer/payloads/flood_watch.h"
#include "core/peer/payloads/payload_questions.h"
#include "core/peer/payloads/payloads.h"
#include "core/peer/presence/members.h"
#include "core/peer/presence/routes.h"
#include "core/peer/states/steps.h"
#include "core/run/density.h"
#include "core/run/round_machine.h"

namespace potluck::peer {

class PayloadPost {
public:
    struct Parts {
        const Context& context;
        const ChainLog& chain;
        run::RoundMachine& machine;
        Members& members;
        const Gossip& gossip;
        Payloads& payloads;
        const Steps& steps;
    };
    explicit PayloadPost(Parts parts) : m(parts), m_routes(m.context, m.members, m.gossip) {}

    /// Questions whose turn has come are asked.
    void tick();
    /// A session has ended: nothing that it was asked is answered.
    void lost(const PeerId& neighbour);
    /// A status came over the session of its author.
    void heard(const PeerId& neighbour, const run::StatusMessage& status);

    /// Before the signature of a contribution is checked, which costs more: of fresh keys by the thousand a few draw a
    /// place. A refusal is counted against `from`.
    [[nodiscard]] bool has_place_for(const PeerId& from, const PeerId& author, const run::ContributionMessage& message);
    /// A contribution whose signature was checked. `accepted` if it is news, and is to be passed on.
    [[nodiscard]] run::Verdict on_contribution(const PeerId& from, const run::Envelope& envelope,
                                               const run::ContributionMessage& message);
    /// Others hear of a contribution that was accepted, whose `message` it is.
    void pass_on(const run::Envelope& envelope, const run::ContributionMessage& message, const PeerId& from) const {
        m_routes.pass_on(envelope, message.round, m.chain.committee(), from);
    }
    /// Takes the payload that a contribution brings, if it is lacking here. `malformed` if it brings another one.
    [[nodiscard]] run::Verdict take(const run::Envelope& envelope, const run::ContributionMessage& message);
    [[nodiscard]] run::Verdict on_request(const PeerId& from, const run::PayloadRequest& request);
    /// The payload is held, or was found before: it counts, and is sent to those who have asked.
    void here(const BlobId& payload);
    /// It came and cannot count.
    void useless(const BlobId& payload);

    [[nodiscard]] const Routes& routes() const { return m_routes; }
    /// How long the contributions of this round were on their way, and the sum that it begins with.
    [[nodiscard]] const run::Exchange& exchange() const { return m_exchange; }
    void round_begins();
    void window_closed() { m_exchange.closed(m.context.now()); }
    /// This member offers `payload` for the round that is played.
    void offered(const BlobId& payload) { m_exchange.announced(m.context.self_person(), payload); }

private:
    void ask(const PeerId& from, const PeerId& author, const run::BlobRef& payload);
    void answer_askers(const BlobId& payload);
    void forget_displaced();
    void note_late(const PeerId& author, const run::ContributionMessage& message);
    [[nodiscard]] run::OfferOrigin origin_of(const PeerId& from, const run::ContributionMessage& message,
                                             const PeerId& author) const;
    [[nodiscard]] run::Retention rank_of(const PeerId& person) const;
    [[nodiscard]] bool tells_density(const PeerId& person) const;

    const Parts m;
    Routes m_routes;
    PayloadQuestions m_questions;
    FloodWatch m_flood_watch;
    run::Exchange m_exchange;
};

}  // namespace potluck::peer

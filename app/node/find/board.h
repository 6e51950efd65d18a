// This computer on the board: the swarm in which runs are announced. Its torrent is a file of fixed text, so that
// everybody knows its info-hash; DHT, local discovery and peer exchange find who is there, and what is said goes over
// sealed sessions as between members of a run.
//
// A newcomer asks three neighbours for what they hold, and again now and then; what is new is passed on to some others.
// The key of the sessions is made anew each time, because who looks for runs is nobody's business.
// Does not: decide when to be there, or what to announce (finder.h).
// Threads: the node's. Owns: the swarm; the network session outlives it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "core/base/thread_owner.h"
#include "core/find/board_message.h"
#include "core/find/run_board.h"
#include "core/identity/identity.h"
#include "net/session.h"

namespace potluck::node {

/// The file whose torrent is the board's. Another text is another board.
inline constexpr std::string_view board_text =
    "Potluck's board, number 1: runs that want company are announced in the swarm of this file.\n";

class Board final : public peer::SwarmEvents {
public:
    static constexpr std::size_t connections_max = 24;
    static constexpr std::size_t passed_on_to = 8;  // neighbours that are told of what is new
    /// After so long other neighbours are asked, who may have heard of other runs.
    static constexpr Duration ask_again_after{660'000};

    /// `hints`: addresses of computers on the board, for tests; the internet needs none.
    [[nodiscard]] static Result<std::unique_ptr<Board>> open(net::Session& network,
                                                             const std::vector<run::PeerHint>& hints);

    /// `unix_now`: milliseconds since 1970.
    void tick(TimePoint now, std::int64_t unix_now);
    /// Holds it and tells all neighbours, those who come later, too. Made by find::sign().
    void announce(const Bytes& announcement);

    /// Carries a run for its host: what the host signed last of it is told as one's own is, for as long as it holds.
    void carry(const std::optional<find::HostedRun>& run);

    [[nodiscard]] find::RunBoard& runs() { return m_runs; }
    [[nodiscard]] const find::RunBoard& runs() const { return m_runs; }
    [[nodiscard]] std::size_t neighbours() const { return m_sessions.size(); }
    /// Neighbours that have told of a run since they were asked.
    [[nodiscard]] std::size_t answers() const;

    void on_neighbour(const PeerId& peer) override;
    void on_neighbour_lost(const PeerId& peer) override;
    void on_envelope(const PeerId&, run::Envelope) override {}
    void on_blob(const run::BlobRef&, peer::BlobPointer) override {}
    void on_blob_failed(const BlobId&, Error) override {}
    void on_published(const std::filesystem::path&, Result<run::BlobRef>) override {}

private:
    struct Session {
        find::Budget budget;
        bool asked = false, answered = false;
    };

    Board() = default;
    void ask();
    void hear(const net::BoardSource& source, const Bytes& message);
    void answer(const PeerId& neighbour);
    void pass_on(const PeerId& from, const Bytes& announcement);
    /// What is announced here, or carried; empty if nothing is.
    [[nodiscard]] Bytes own() const;

    ThreadOwner m_owner;
    const identity::Identity m_identity = identity::Identity::generate();
    const run::Ed25519Verifier m_verifier{};
    find::RunBoard m_runs{m_verifier};
    find::AnswerBudget m_answers;
    std::map<PeerId, Session> m_sessions;
    std::unique_ptr<net::RunSwarm> m_swarm;
    Bytes m_own;
    TimePoint m_now, m_asked_at;
    std::int64_t m_unix_now = 0;
};

}  // namespace potluck::node

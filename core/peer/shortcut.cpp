// What is a link of the way is for run::ChainWalk to say. Two lists at its end are neighbours, the second names the
// hash of the first and a table. The first becomes the head of the chain; the second comes again with the history that
// is asked for next, and passes the checks of every list then.
//
// A quorum of some earlier committee could sign another history after it has left, all of whose links would be proved:
// so it is with the whole history as well, and only the run's host can say which one holds (docs/threat-model.md).
#include "core/peer/shortcut.h"

#include <algorithm>
#include <utility>

#include "core/base/log.h"

namespace potluck::peer {

using run::Verdict;

namespace {

constexpr int heartbeats_for_page = 3;

}  // namespace

std::vector<PeerId> Shortcut::far_ahead() const {
    const std::uint64_t height = m.chain.height().value;
    std::vector<PeerId> ahead;
    for (const auto& [peer, member] : m.members.all()) {
        const bool is_far = member.status.round.value > height + m.context.manifest.recipe.table_every;
        if (is_far && m.members.is_neighbour(peer)) ahead.push_back(peer);
    }
    return ahead;
}

void Shortcut::tick() {
    const TimePoint now = m.context.now();
    if (m_way && m_way->goal) {
        const double progress = m.context.swarm.progress(m_way->goal->table.root);
        if (progress != m_way->progress) m_way->moved_at = now;
        m_way->progress = progress;
        if (now >= m_way->moved_at + table_stalled_after) give_up();
        return;
    }
    if (m_way) {
        if (now >= m_way->moved_at + heartbeats_for_page * m.context.settings.heartbeat) give_up();
        return;
    }
    if (now < m_again_at || !m.mediator.may_jump()) return;
    std::vector<PeerId> ahead = far_ahead();
    if (ahead.empty()) return;
    std::erase_if(ahead, [&](const PeerId& peer) { return m_in_vain.contains(peer); });
    if (ahead.empty() || m_tries >= shortcut_tries_max) {
        m_in_vain.clear();
        m_tries = 0;
        m_again_at = now + shortcut_pause;
        return;
    }
    begin(m.mediator.history_source(ahead));
}

void Shortcut::begin(const PeerId& peer) {
    m_way = Way{.peer = peer,
                .moved_at = {},
                .walk = run::ChainWalk(m.context.rules, m.verifier),
                .lists = {},
                .goal = std::nullopt};
    ++m_tries;
    if (m.chain.head() != nullptr) m_way->walk.go_on_behind(*m.chain.head());
    ask();
}

void Shortcut::ask() {
    m_way->moved_at = m.context.now();
    m.context.send(m_way->peer, run::CommitteeRequest{m_way->walk.length()});
}

void Shortcut::give_up() {
    m_in_vain.insert(m_way->peer);
    if (m_way->goal) m.context.swarm.forget(m_way->goal->table.root);
    m_way.reset();
}

Verdict Shortcut::on_request(const PeerId& from, const run::CommitteeRequest& request) const {
    // The answer before has not left yet: a second one would only fill memory.
    if (m.context.swarm.unsent(from) >= history_unsent_max) return Verdict::repeated;
    run::CommitteeMessage answer;
    const std::optional<RoundId> goal = m.chain.newest_table(m.mediator.checkpoint_offered());
    if (goal && request.first < *goal) {
        const RoundId before{goal->value - 1};
        answer.lists = m.chain.committee_changes(request.first, before, run::lists_per_history_max);
        const bool has_room = answer.lists.size() + 2 <= run::lists_per_history_max;
        for (const RoundId round : {before, *goal}) {
            auto list = has_room && round >= request.first ? m.chain.committed_at(round) : std::nullopt;
            if (list) answer.lists.push_back(std::move(*list));
        }
        keep_what_fits(answer.lists);
    }
    m.context.send(from, answer);
    return Verdict::accepted;
}

Verdict Shortcut::on_answer(const PeerId& from, const run::CommitteeMessage& answer) {
    if (!m_way || m_way->peer != from || m_way->goal) return Verdict::stale;
    if (answer.lists.empty()) {
        give_up();
        return Verdict::accepted;
    }
    for (const run::CommittedList& one : answer.lists) {
        const Verdict verdict = take(one);
        if (verdict == Verdict::accepted) continue;
        give_up();
        return verdict;
    }
    m_way->goal ? fetch_table() : ask();
    return Verdict::accepted;
}

Verdict Shortcut::take(const run::CommittedList& one) {
    if (m_way->goal) return Verdict::malformed;
    const Digest last = m_way->walk.hash();
    if (!m_way->walk.take(one, run::Gap::allowed).empty()) return Verdict::bad_signature;
    m_way->bytes += one.list.size() + one.certificate.size();
    if (m_way->bytes > shortcut_bytes_max) return Verdict::too_large;
    const run::AcceptList& list = *m_way->walk.head();
    const bool follows = !m_way->lists.empty() && list.previous == last;
    if (follows && list.table && m.context.manifest.recipe.has_table(list.round)) {
        if (list.table->size > run::table_bytes_max) return Verdict::too_large;
        m_way->goal = Goal{list.round, *list.table, list.base};
    } else {
        m_way->lists.push_back(one);
    }
    return Verdict::accepted;
}

void Shortcut::fetch_table() {
    m_way->moved_at = m.context.now();
    m.context.swarm.fetch(m_way->goal->table,
                          {.sources = {m_way->peer}, .deadline = m.context.now(), .damaged_copy = {}, .layer = {}});
}

/// How many contributions were accepted in lists that were never seen: the table counts so many more than the chain. It
/// counts persons: what another of this one's computers did passes for this one's, so that nothing counts twice.
std::uint64_t Shortcut::accepted_since(const run::CreditTable& table) const {
    const auto own = std::find_if(table.credits.begin(), table.credits.end(),
                                  [&](const run::TableCredit& one) { return one.peer == m.context.self_person(); });
    const std::uint64_t there = own == table.credits.end() ? 0 : own->rounds;
    const std::uint64_t here = m.chain.rounds_accepted(m.context.self_person());
    return there - std::min(there, here);
}

void Shortcut::blob_here(const BlobId& id, const BlobPointer& content) {
    if (!m_way || !m_way->goal || m_way->goal->table.root != id) return;
    const Result<run::CreditTable> table = run::CreditTable::decode(content->bytes());
    const bool is_sound = table.ok() && table->run == m.context.run && table->round == m_way->goal->round;
    // A job or a repair that began meanwhile reads the chain.
    if (!is_sound || !m.mediator.may_jump()) return give_up();
    const std::uint64_t accepted = accepted_since(*table);
    ledger::Beginning beginning;
    beginning.table.assign(content->bytes().begin(), content->bytes().end());
    beginning.before = std::move(m_way->lists.back());
    m_way->lists.pop_back();
    beginning.changes = std::move(m_way->lists);
    beginning.result = m_way->goal->base;
    const Status begun = m.chain.begin_at(beginning);
    if (!begun.ok()) {
        m.errors.report(begun.error().message);
        return give_up();
    }
    log::of("peer").info("the chain goes on with round {}, whose list says what all before it came to",
                         m_way->goal->round.value);
    m_way.reset();
    m_in_vain.clear();
    m_tries = 0;
    publish_tables();
    m.mediator.jumped(accepted);
}

void Shortcut::blob_failed(const BlobId& id) {
    if (m_way && m_way->goal && m_way->goal->table.root == id) give_up();
}

void Shortcut::publish_tables() {
    std::map<RoundId, BlobId> kept;
    for (const ledger::KeptTable& table : m.chain.tables()) {
        const Result<run::BlobRef> published = m.context.swarm.publish(table.content);
        if (!published.ok()) {
            m.errors.report(published.error().message);
            continue;
        }
        kept.emplace(table.round, published->root);
    }
    for (const auto& [round, root] : m_published) {
        if (!kept.contains(round)) m.context.swarm.forget(root);
    }
    m_published = std::move(kept);
}

}  // namespace potluck::peer

// Bounded by jurors, not by persons: only computers of persons that the host trusts are heard, each about a few persons
// at a time. Threads: the peer's.
#include "core/peer/jury/verdicts.h"

#include <algorithm>
#include <utility>

namespace potluck::peer {

using run::Verdict;

bool Verdicts::holds(const PeerId& juror, const run::JurorVerdict& verdict) const {
    const auto person = m_verdicts.find(verdict.person);
    if (person == m_verdicts.end()) return false;
    const auto found = person->second.find(juror);
    return found != person->second.end() && found->second.verdict == verdict;
}

/// Who has a seat, or may have one soon.
bool Verdicts::may_judge(const PeerId& juror) const {
    return run::has_seat(m.chain.committee(), juror) || m.chain.rules().trusts(m.members.person_of(juror));
}

Verdict Verdicts::receive(const run::Envelope& envelope, const run::JurorVerdict& verdict) {
    if (!m.chain.rules().has_jury) return Verdict::not_allowed;
    if (!may_judge(envelope.sender)) return Verdict::wrong_author;
    const RoundId soon{m.chain.height().value + verdict_rounds_ahead};
    if (!run::is_fresh(verdict, soon, m.chain.rules())) return Verdict::stale;
    const auto person = m_verdicts.find(verdict.person);
    const bool is_known = person != m_verdicts.end() && person->second.contains(envelope.sender);
    if (is_known && person->second.at(envelope.sender).verdict.last >= verdict.last) return Verdict::repeated;
    const bool has_room = word_of(envelope.sender).verdicts < verdicts_of_juror_max &&
                          (person == m_verdicts.end() || person->second.size() < jurors_of_person_max);
    if (!is_known && !has_room) return Verdict::no_room;
    keep(envelope.sender, verdict, envelope.signature);
    return Verdict::accepted;
}

void Verdicts::keep(const PeerId& juror, const run::JurorVerdict& verdict, const identity::Signature& signature) {
    m_verdicts[verdict.person].insert_or_assign(juror, run::SignedVerdict{juror, verdict, signature});
    m_since.try_emplace({juror, verdict.person}, m.chain.height());
}

void Verdicts::sign(const run::JurorVerdict& verdict) {
    keep(m.context.self(), verdict, m.context.signature_of(verdict));
    m.context.broadcast(verdict);
}

const run::JurorVerdict* Verdicts::own(const PeerId& person) const {
    const auto found = m_verdicts.find(person);
    if (found == m_verdicts.end()) return nullptr;
    const auto verdict = found->second.find(m.context.self());
    return verdict == found->second.end() ? nullptr : &verdict->second.verdict;
}

void Verdicts::settle() {
    const RoundId soon{m.chain.height().value + verdict_rounds_ahead};
    for (auto& [person, of_person] : m_verdicts) {
        std::erase_if(of_person,
                      [&](const auto& one) { return !run::is_fresh(one.second.verdict, soon, m.chain.rules()); });
    }
    std::erase_if(m_verdicts, [](const auto& one) { return one.second.empty(); });
    std::erase_if(m_since, [&](const auto& one) {
        const auto& [juror, person] = one.first;
        const auto found = m_verdicts.find(person);
        return found == m_verdicts.end() || !found->second.contains(juror);
    });
}

void Verdicts::repeat() const {
    for (const auto& [person, of_person] : m_verdicts) {
        if (const run::JurorVerdict* verdict = own(person)) m.context.broadcast(*verdict);
    }
}

void Verdicts::tell(const std::vector<PeerId>& to) const {
    for (const auto& [person, of_person] : m_verdicts) {
        for (const auto& [juror, one] : of_person) {
            const run::Envelope envelope = m.context.envelope_signed_by(juror, one.verdict, one.signature);
            for (const PeerId& peer : to) m.context.swarm.send(peer, envelope);
        }
    }
}

std::vector<run::Suspension> Verdicts::due() const {
    std::vector<run::Suspension> due;
    const run::RunRules& rules = m.chain.rules();
    const RoundId height = m.chain.height();
    const std::vector<PeerId> seats = m.chain.committee();
    for (const auto& [person, of_person] : m_verdicts) {
        run::Suspension suspension{person, {}};
        for (const auto& [juror, one] : of_person) {
            if (suspension.verdicts.size() == run::faults_of(seats.size()) + 1) break;
            const bool counts = run::has_seat(seats, juror) && run::is_fresh(one.verdict, height, rules);
            if (counts) suspension.verdicts.push_back(one);
        }
        if (run::may_suspend(suspension, seats, height, rules)) due.push_back(std::move(suspension));
        if (due.size() == run::suspensions_per_list_max) break;
    }
    return due;
}

Verdicts::Word Verdicts::word_of(const PeerId& juror) const {
    Word word;
    for (const auto& [person, of_person] : m_verdicts) {
        if (!of_person.contains(juror)) continue;
        ++word.verdicts;
        const auto since = m_since.find({juror, person});
        const bool is_old =
            since != m_since.end() && m.chain.height().value - since->second.value >= verdict_shared_within;
        if (of_person.size() == 1 && is_old) ++word.unshared;
    }
    return word;
}

}  // namespace potluck::peer

// A key is named whole or by its first digits, of which no other known key has the same. The host's changes are signed
// here and handed to the peer, which keeps them on disk and tells them to others; they are in force with the next list.
// What is refused is said in one sentence with what to do.
//
// Answers about people and checkpoints come from the peer and the ledger, so a run that is over is answered for as well
// as one that goes on.
#include "app/node/session/run_answers.h"

#include <set>
#include <utility>

#include "app/node/member/view.h"
#include "app/node/session/many_bans.h"

namespace potluck::node {

namespace {

constexpr std::size_t key_digits_min = 8;  // of a key that is named by its beginning

run::ActionKind action_kind(control::ModerationKind kind) {
    switch (kind) {
        case control::ModerationKind::ban: return run::ActionKind::ban;
        case control::ModerationKind::readmit: return run::ActionKind::readmit;
        case control::ModerationKind::allow: return run::ActionKind::allow;
        case control::ModerationKind::rollback: return run::ActionKind::roll_back;
        case control::ModerationKind::close: return run::ActionKind::ban;
        case control::ModerationKind::open: return run::ActionKind::readmit;
        case control::ModerationKind::lift: return run::ActionKind::lift;
    }
    return run::ActionKind::ban;
}

/// Whether it is about one person.
bool names_key(control::ModerationKind kind) {
    using control::ModerationKind;
    return kind == ModerationKind::ban || kind == ModerationKind::readmit || kind == ModerationKind::allow ||
           kind == ModerationKind::lift;
}

}  // namespace

control::Leaderboard RunAnswers::leaderboard(const control::ReadLeaderboard& call) const {
    m_owner.check();
    const RunSession* session = m_run.session();
    if (session == nullptr) return {};
    return leaderboard_of(m_ledger, session->run(), {m_keys.person.id(), m_settings.name, m_settings.team}, call);
}

std::vector<control::CurvePoint> RunAnswers::curve(std::size_t rows_max) const {
    m_owner.check();
    const RunSession* session = m_run.session();
    if (session == nullptr) return {};
    return curve_points(m_ledger, session->run(), session->peer().curve(), rows_max);
}

std::vector<control::CheckpointRow> RunAnswers::checkpoints() const {
    m_owner.check();
    std::vector<control::CheckpointRow> rows;
    const RunSession* session = m_run.session();
    if (session == nullptr) return rows;
    const std::string& name = session->peer().manifest().name;
    for (const peer::PeerView::Checkpoint& checkpoint : session->peer().view().checkpoints) {
        const std::string title = name + " round " + std::to_string(checkpoint.round.value) + ".safetensors";
        rows.push_back({checkpoint.round.value, session->network().magnet(checkpoint.blob, title),
                        checkpoint.file.string(), checkpoint.blob.root.hex(), checkpoint.blob.size});
    }
    return rows;
}

Result<control::Committee> RunAnswers::committee() const {
    m_owner.check();
    const RunSession* session = m_run.session();
    if (session == nullptr) return not_in_a_run();
    return committee_rows(session->peer().committee(), session->peer().view(), session->plan().folder);
}

Result<std::string> RunAnswers::invite() const {
    m_owner.check();
    const RunSession* session = m_run.session();
    if (session == nullptr) return not_in_a_run();
    const std::string page = m_settings.run ? m_settings.run->announcing.page : std::string();
    return session->network().invite(session->run(), session->peer().manifest().name).to_link(page);
}

/// As many as may wait for the committee; the host asks again for the rest.
Result<control::ModerationNumber> RunAnswers::ban_many(const control::Moderate& wanted) const {
    const RunSession& session = *m_run.session();
    const run::RunRules rules = session.peer().committee().rules;
    BanFacts facts{rules, {}, {}, session.swarm().flows()};
    for (const peer::MemberView& member : session.peer().view().members) {
        const PeerId person = member.status.certificate.person_of(member.id);
        facts.here.push_back({member.id, person, m_ledger.credit_of(session.run(), person).rounds > 0});
    }
    if (wanted.since > 0)
        facts.accepted_since = m_ledger.accepted_since(session.run(), static_cast<std::int64_t>(wanted.since));
    const auto persons = persons_to_ban(wanted, facts);
    if (!persons) return persons.error();
    if (persons->empty()) return Error{ErrorCode::not_found, "Nobody fits whom you do not vouch for."};
    control::ModerationNumber signed_last{0, 0};
    for (const PeerId& person : *persons) {
        const auto number = m_run.session()->peer().moderate(run::ActionKind::ban, person, {});
        if (!number && signed_last.count == 0) return number.error();
        if (!number) break;
        signed_last = {*number, signed_last.count + 1};
    }
    return signed_last;
}

Result<control::ModerationNumber> RunAnswers::moderate(const control::Moderate& wanted) const {
    m_owner.check();
    if (m_run.session() == nullptr) return not_in_a_run();
    if (wanted.kind == control::ModerationKind::ban && bans_many(wanted)) return ban_many(wanted);
    PeerId key = run::unvouched_keys;
    if (names_key(wanted.kind)) {
        const auto known = known_key(wanted.key);
        if (!known) return known.error();
        key = *known;
    }
    const auto number = m_run.session()->peer().moderate(action_kind(wanted.kind), key, RoundId{wanted.round});
    if (!number) return number.error();
    return control::ModerationNumber{*number};
}

Result<std::uint32_t> RunAnswers::replace_committee(const control::ReplaceCommittee& wanted) const {
    m_owner.check();
    if (m_run.session() == nullptr) return not_in_a_run();
    std::vector<PeerId> keys;
    for (const std::string& text : wanted.keys) {
        const auto known = known_key(text);
        if (!known) return known.error();
        keys.push_back(*known);
    }
    const auto after = wanted.after ? std::optional(RoundId{*wanted.after}) : std::nullopt;
    return m_run.session()->peer().replace_committee(std::move(keys), after);
}

/// The key that `text` is, or the only one of a member or contributor that begins so.
Result<PeerId> RunAnswers::known_key(const std::string& text) const {
    if (const auto whole = PeerId::parse(text); whole && *whole != run::unvouched_keys) return *whole;
    const RunSession& session = *m_run.session();
    std::set<PeerId> found;
    const auto look_at = [&](const PeerId& id) {
        if (text.size() >= key_digits_min && id.hex().starts_with(text)) found.insert(id);
    };
    for (const auto& member : session.peer().view().members) look_at(member.id);
    for (const ledger::Credit& credit : m_ledger.leaderboard(session.run(), control::rows_max)) look_at(credit.peer);
    if (found.size() == 1) return *found.begin();
    return Error{ErrorCode::not_found,
                 found.empty()
                     ? "No member or contributor has the key \"" + text +
                           "\": give all of its 64 digits, or the first 8 or more as the leaderboard shows them."
                     : "Several keys begin with " + text + ": give more digits."};
}

}  // namespace potluck::node

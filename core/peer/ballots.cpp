// One Agreement for each height, made as soon as the height is known, also while this member has no state yet: it then
// learns what is decided and votes for nothing. Lists are kept only if a proposal whose turn has come or a quorum names
// them, one a view: nobody without a seat can fill memory, and no proposer can drive out the lists of others.
//
// The file of votes (votes_bytes_max) holds the newest vote record and the lists that it binds its author to:
//   u32 size | record | u8 count | (u32 size | list) ...
// The record ends with a hash of itself and lists are known by theirs, so a damaged file binds to nothing: a member
// whose record cannot be read stays out of the round, because it does not know what it has said.
#include "core/peer/ballots.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/log.h"
#include "core/base/sha256.h"
#include "core/peer/states/weighted_list.h"

namespace potluck::peer {

using run::Validity;
using run::Verdict;

namespace {

Verdict verdict_of(run::VoteVerdict verdict) {
    switch (verdict) {
        case run::VoteVerdict::accepted: return Verdict::accepted;
        case run::VoteVerdict::contradicting: return Verdict::contradicting;
        case run::VoteVerdict::repeated: return Verdict::repeated;
        case run::VoteVerdict::other_run: return Verdict::wrong_run;
        case run::VoteVerdict::stale:
        case run::VoteVerdict::ahead: return Verdict::stale;
        case run::VoteVerdict::not_member:
        case run::VoteVerdict::wrong_proposer: return Verdict::wrong_author;
        case run::VoteVerdict::bad_signature:
        case run::VoteVerdict::bad_proof: return Verdict::bad_signature;
    }
    return Verdict::malformed;
}

/// The list that a message speaks for; none for nil.
std::optional<Digest> list_named_by(const run::AgreementMessage& message) {
    if (const auto* proposal = std::get_if<run::SignedProposal>(&message)) return proposal->statement.list;
    if (const auto* vote = std::get_if<run::SignedVote>(&message)) return vote->statement.list;
    return std::get<run::Certificate>(message).list;
}

/// Null for certificates, which are nobody's.
const PeerId* author_of(const run::AgreementMessage& message) {
    if (const auto* proposal = std::get_if<run::SignedProposal>(&message)) return &proposal->author;
    const auto* vote = std::get_if<run::SignedVote>(&message);
    return vote == nullptr ? nullptr : &vote->author;
}

/// Lists are long and votes are many: a list travels with what may be the first that others hear of it.
bool carries_list(const run::AgreementMessage& message) { return !std::holds_alternative<run::SignedVote>(message); }

std::vector<Digest> lists_bound_by(const run::VoteRecord& record) {
    std::vector<Digest> lists;
    const auto add = [&](const Digest& list) {
        if (std::find(lists.begin(), lists.end(), list) == lists.end()) lists.push_back(list);
    };
    if (record.proposal) add(record.proposal->statement.list);
    if (record.locked) add(record.locked->list);
    if (record.valid) add(record.valid->list);
    if (record.prevote && record.prevote->statement.list && lists.size() < voted_lists_max) {
        add(*record.prevote->statement.list);
    }
    return lists;
}

}  // namespace

run::BallotMessage ballot_with(Bytes statement, const Bytes& list) {
    return {std::move(statement), list.size() <= run::list_in_ballot_max ? list : Bytes()};
}

void Ballots::enter() {
    m_agreement.reset();
    m_lists.clear();
    m_awaited.clear();
    m_bound.clear();
    m_unsaved.reset();
    m_certificate.reset();
    m_decision.reset();
    m_may_propose = m_is_early = false;
    const Result<run::Committee> committee = run::Committee::from_keys(m.chain.committee());
    POTLUCK_CHECK(committee.ok());
    const run::Recipe& recipe = m.context.manifest.recipe;
    const Duration heartbeat = m.context.settings.heartbeat;
    m_settings = run::AgreementSettings{{m.context.run, m.chain.term(), m.chain.height()},
                                        *committee,
                                        m.chain.hash_before(m.chain.height()),
                                        {.propose = recipe.grace,
                                         .prevote = heartbeat,
                                         .precommit = heartbeat,
                                         .growth = heartbeat / 2,
                                         .repeat = run::heartbeats_to_repeat * heartbeat}};
    m_agreement.emplace(*m_settings, m.keyring, static_cast<run::ListSource&>(*this), load_votes());
    carry_out(m_agreement->reconsider(m.context.now()));
}

void Ballots::decide() {
    if (!m_agreement || m_decision) return;
    m_may_propose = true;
    carry_out(m_agreement->start(m.context.now()));
}

void Ballots::decide_early() {
    if (!m_agreement || m_decision || m_is_early || !m.machine.playing()) return;
    const bool lets_in = lets_in_without_entries(m.moderation.due());
    if (!m.seats.hand_over_due() && !m.moderation.roll_back_due() && !lets_in) return;
    m_is_early = true;
    carry_out(m_agreement->start(m.context.now()));
}

/// A whole window has passed, and nobody contributed.
bool Ballots::lets_in_without_entries(const std::vector<run::SignedAction>& actions) const {
    return m.machine.reopened() && lets_somebody_in(actions);
}

void Ballots::tick() {
    if (!m_agreement) return;
    if (m_unsaved && m.context.now() >= m_save_again) save();
    for (const AwaitedLists::Question& question : m_awaited.due(m.context.now()))
        m.context.send(question.of, run::ListRequest{question.list});
    carry_out(m_agreement->tick(m.context.now()));
}

void Ballots::reconsider() {
    if (m_agreement && !m_decision) carry_out(m_agreement->reconsider(m.context.now()));
}

PeerId Ballots::proposer() const { return m_agreement ? m_agreement->proposer(m_agreement->view()) : PeerId{}; }

bool Ballots::proposes() const { return m_agreement && proposer() == m.context.self(); }

Verdict Ballots::receive(const PeerId& from, const run::BallotMessage& message) {
    const Result<run::AgreementMessage> statement = run::decode_agreement_message(message.statement);
    if (!statement.ok()) return Verdict::malformed;
    if (!m_agreement) return Verdict::stale;
    const std::optional<Digest> named = list_named_by(*statement);
    const bool has_list = !message.list.empty();
    if (has_list && (!carries_list(*statement) || sha256(message.list) != *named)) return Verdict::malformed;
    run::Actions actions = m_agreement->receive(*statement, m.context.now());
    const bool lacks_list = named && carries_list(*statement) && !m_lists.contains(*named);
    // A certificate that says nothing new was not looked at.
    const auto* certificate = std::get_if<run::Certificate>(&*statement);
    const bool is_sound = certificate == nullptr || actions.verdict != run::VoteVerdict::repeated ||
                          run::certifies(*certificate, m_settings->committee, m.keyring);
    if (lacks_list && !is_sound) actions.verdict = run::VoteVerdict::bad_proof;
    const bool is_held = actions.verdict == run::VoteVerdict::accepted || actions.verdict == run::VoteVerdict::repeated;
    if (const PeerId* author = author_of(*statement); author != nullptr && is_held) m.seats.heard(*author);
    const bool keeps_list = has_list && is_held && !is_far_ahead(*statement);
    if (keeps_list) remember(*named, message.list);
    const bool asks = lacks_list && !has_list && is_held && !is_far_ahead(*statement);
    if (asks && m_awaited.named(*named, from, m.context.now())) m.context.send(from, run::ListRequest{*named});
    carry_out(actions);
    if (keeps_list) reconsider();
    const Verdict verdict = verdict_of(actions.verdict);
    // A second message in a slot is evidence, once, and never traffic.
    const bool is_new = verdict == Verdict::accepted || !actions.evidence.empty();
    const bool is_said_again = verdict == Verdict::repeated && is_sound;
    if ((is_new || is_said_again) && may_pass_on(message.statement)) m.context.pass_on(message, from);
    return verdict;
}

Bytes Ballots::list_here(const Digest& hash) const {
    if (const auto found = m_lists.find(hash); found != m_lists.end()) return found->second.checked.committed.list;
    if (m.chain.height().value == 0 || m.chain.hash_before(m.chain.height()) != hash) return {};
    const auto last = m.chain.committed_at(RoundId{m.chain.height().value - 1});
    return last ? last->list : Bytes();
}

Verdict Ballots::on_list_request(const PeerId& from, const run::ListRequest& request) {
    // Payloads may wait for their turn as well, but a list's worth that has not left is enough.
    if (m.context.swarm.unsent(from) >= run::message_bytes_max) return Verdict::repeated;
    if (Bytes list = list_here(request.list); !list.empty()) {
        m.context.send(from, run::ListMessage{std::move(list)});
        return Verdict::accepted;
    }
    return m_awaited.asked(request.list, from) ? Verdict::accepted : Verdict::stale;
}

/// The hash says whether it is one that was asked for, from any neighbour.
Verdict Ballots::on_list(const run::ListMessage& message) {
    if (m_awaited.empty()) return Verdict::stale;
    const Digest hash = sha256(message.list);
    if (!m_awaited.awaits(hash)) return Verdict::stale;
    remember(hash, message.list);
    reconsider();
    return Verdict::accepted;
}

/// Authors repeat what may have been lost, and it may have been lost behind this member: what is said again is passed
/// on again, each message once between two repetitions.
bool Ballots::may_pass_on(ByteSpan statement) {
    if (m.context.now() >= m_passed_on_since + m_settings->times.repeat) {
        m_passed_on.clear();
        m_passed_on_since = m.context.now();
    }
    return m_passed_on.insert(sha256(statement)).second;
}

/// A proposer may send a proposal for any of its turns; its list comes again when that turn does.
bool Ballots::is_far_ahead(const run::AgreementMessage& message) const {
    const auto* proposal = std::get_if<run::SignedProposal>(&message);
    return proposal != nullptr && proposal->statement.view > m_agreement->view() + 1;
}

/// A round may have more views than lists fit here: the one that was named longest ago and binds nobody here goes.
void Ballots::make_room() {
    if (m_lists.size() < ballot_lists_max) return;
    const auto is_needed = [&](const Digest& list) {
        const bool is_bound = std::find(m_bound.begin(), m_bound.end(), list) != m_bound.end();
        return is_bound || (m_certificate && m_certificate->list == list);
    };
    auto oldest = m_lists.end();
    for (auto it = m_lists.begin(); it != m_lists.end(); ++it) {
        if (is_needed(it->first)) continue;
        if (oldest == m_lists.end() || it->second.named < oldest->second.named) oldest = it;
    }
    m_lists.erase(oldest);
}

void Ballots::remember(const Digest& hash, ByteSpan bytes) {
    ++m_lists_named;
    if (const auto found = m_lists.find(hash); found != m_lists.end()) {
        found->second.named = m_lists_named;
        return;
    }
    make_room();
    KnownList known;
    known.named = m_lists_named;
    const Verdict verdict = m.chain.read(bytes, m.chain.head(), m.chain.rules(), known.checked);
    // Who fetches nothing of it, and does not vote, leaves its entries to those who do.
    const bool is_judged = !m.steps.light() || m.context.seated_in(m.chain.committee());
    known.invalid = verdict != Verdict::accepted || (is_judged && !is_worth_fetching(known.checked.list));
    if (!known.invalid && !m.steps.light()) {
        for (const run::Accepted& entry : known.checked.list.entries) {
            m.payloads.want(entry.payload, m.chain.height(), {entry.peer});
        }
    }
    m_lists.emplace(hash, std::move(known));
    if (const auto askers = m_awaited.arrived(hash); !askers.empty()) {
        const run::ListMessage answer{list_here(hash)};
        for (const PeerId& asker : askers) {
            if (!answer.list.empty()) m.context.send(asker, answer);
        }
    }
    conclude();
}

void Ballots::learn(CheckedList committed) {
    if (!m_decision && committed.list.round == m.chain.height()) m_decision = std::move(committed);
}

/// A certificate and its list make L[height].
void Ballots::conclude() {
    if (m_decision || !m_certificate) return;
    const auto found = m_lists.find(m_certificate->list);
    // A quorum of which none is honest could commit a list that cannot follow; the run waits for its host then.
    if (found == m_lists.end() || found->second.checked.hash != m_certificate->list) return;
    m_decision = found->second.checked;
    m_decision->committed.certificate = run::encode(*m_certificate);
}

// What this member thinks of a list.

Validity Ballots::validity(const Digest& list) {
    const auto found = m_lists.find(list);
    if (found == m_lists.end()) return Validity::unknown;
    KnownList& known = found->second;
    if (known.invalid) return Validity::invalid;
    if (known.valid) return Validity::valid;
    // What speaks against a list now may not do so later: a state is repaired, a member comes back.
    const Validity judged = judge(known.checked.list);
    if (judged != Validity::valid) return judged;
    known.valid = m.chain.is_signed_by_contributors(known.checked.list);
    known.invalid = !known.valid;
    return known.valid ? Validity::valid : Validity::invalid;
}

Validity Ballots::judge(const run::AcceptList& list) {
    if (!m.mediator.may_judge()) return Validity::unknown;
    if (list.base != m.keeper.digest() || list.term != m_settings->instance.term) return Validity::invalid;
    if (list.table != m.chain.table()) return Validity::invalid;
    if (list.entries.empty()) return judge_empty(list);
    if (m.context.is_last(list.round)) return Validity::invalid;
    if (!m.machine.playing()) return Validity::unknown;
    if (!m.seats.accepts(list.committee)) return Validity::invalid;
    if (!m.losses.are_established(list)) return Validity::invalid;
    std::vector<PayloadPointer> payloads;
    bool all_here = true;
    for (const run::Accepted& entry : list.entries) {
        if (entry.newcomer != m.chain.is_newcomer(entry.person())) return Validity::invalid;
        const PayloadPointer payload = m.payloads.find(entry.payload.root);
        if (m.payloads.bad(entry.payload.root)) return Validity::invalid;
        if (payload && payload->author != entry.peer) return Validity::invalid;
        const std::uint32_t k = entry.late ? m.chain.k_late() : m.chain.k();
        if (payload && payload->view.k() > k) return Validity::invalid;
        all_here = all_here && payload != nullptr;
        payloads.push_back(payload);
    }
    if (!all_here) return Validity::unknown;
    // Only now: what is on its way here counts as never arrived, and would speak against more being sent.
    if (!bears_out_density(list.k) || list.bounds != bounds_of(list, payloads)) return Validity::invalid;
    return m.machine.open_long_enough(m.context.now()) ? Validity::valid : Validity::unknown;
}

/// The closing list certifies the run's last state, holds its losses, and changes nothing. Any other without
/// contributions is there to hand a seat over, where it may still have to reach this member that its holder is about to
/// go, to take the model back, which the host has signed, or to let in whom the round waits for, which the host has
/// signed as well.
Validity Ballots::judge_empty(const run::AcceptList& list) const {
    const bool is_closing = m.context.is_last(list.round);
    const bool changes_seats = list.committee != m.chain.committee();
    if (is_closing || list.roll_back() != nullptr) {
        const bool is_alone = !changes_seats && (!is_closing || list.actions.empty());
        return is_alone && m.losses.are_established(list) ? Validity::valid : Validity::invalid;
    }
    if (!changes_seats && !lets_somebody_in(list.actions)) return Validity::invalid;
    const bool has_reason = lets_in_without_entries(list.actions) || m.seats.hands_over(list.committee);
    const bool is_due = m.machine.playing() && has_reason && (!changes_seats || m.seats.accepts(list.committee));
    return is_due ? Validity::valid : Validity::unknown;
}

std::vector<run::Accepted> Ballots::entries_to_propose() const {
    std::vector<run::Accepted> entries = m.machine.held_entries();
    std::map<PeerId, std::size_t> devices;  // of each person
    std::erase_if(entries, [&](const run::Accepted& entry) {
        const bool may_contribute = m.chain.rules().may_contribute(entry.person(), m.chain.height());
        return !may_contribute || ++devices[entry.person()] > run::devices_per_person_max;
    });
    for (run::Accepted& entry : entries) {
        entry.newcomer = m.chain.is_newcomer(entry.person());
        entry.vouched = m.context.manifest.recipe.bounds_rule() && m.chain.is_vouched(entry.person());
    }
    // Those that are in time before those that are late.
    std::size_t newcomers = 0;
    for (const bool late : {false, true}) {
        std::erase_if(entries, [&](const run::Accepted& entry) {
            return entry.newcomer && entry.late == late && ++newcomers > run::newcomers_max;
        });
    }
    return entries;
}

/// Everybody fetches what a proposal names. So a seat can name neither the payloads of any number of fresh keys, nor
/// any that their authors have not signed; the signatures of those that came with their offers were checked then.
bool Ballots::is_worth_fetching(const run::AcceptList& list) const {
    std::size_t newcomers = 0;
    return std::all_of(list.entries.begin(), list.entries.end(), [&](const run::Accepted& entry) {
        if (m.chain.is_newcomer(entry.person()) && ++newcomers > run::newcomers_max) return false;
        return m.machine.holds(entry.peer, m.chain.contribution_of(list, entry), entry.signature) ||
               m.chain.is_signed_by_contributor(list, entry);
    });
}

/// What a list of this round names as its bounds. `payloads` are its entries', all here.
std::optional<run::Bounds> Ballots::bounds_of(const run::AcceptList& list,
                                              const std::vector<PayloadPointer>& payloads) const {
    std::optional<run::Bounds> bounds = m.chain.bounds_after(list, 0);
    if (!bounds || list.entries.empty()) return bounds;
    // Who has a say, and with what weight, does not depend on the norm.
    run::AcceptList weighed = list;
    weighed.bounds = bounds;
    return m.chain.bounds_after(list, numerics::median_norm(weighted_list(weighed, payloads)));
}

std::uint32_t Ballots::next_k() const {
    const run::Recipe& recipe = m.context.manifest.recipe;
    const bool may_rise = m.chain.k() < recipe.k_max;  // else nobody needs to read the lists before
    return run::next_k(recipe, m.chain.k(), m.exchange, may_rise ? m.chain.rounds_since_k_fell() : 0);
}

bool Ballots::bears_out_density(std::uint32_t next) const {
    const std::uint64_t since_fall = next > m.chain.k() ? m.chain.rounds_since_k_fell() : run::rounds_after_fall;
    return run::bears_out(m.context.manifest.recipe, m.chain.k(), next, m.exchange, since_fall);
}

void Ballots::add_contributions(run::AcceptList& list) const {
    // What the others do not want must not keep the round from ending.
    if (m_agreement->view() < views_to_change_seats) list.committee = m.seats.committee_to_propose();
    if (m_may_propose) list.entries = entries_to_propose();
    add_suspensions(list);
    add_losses(list);
    // Where a view was lost, windows ended at different times, and members have seen different things of the links.
    if (!list.entries.empty() && m_agreement->view() == 0) list.k = next_k();
}

/// With the entries of those it suspends left out. A list of nobody else's waits for a round with others.
void Ballots::add_suspensions(run::AcceptList& list) const {
    std::vector<run::Suspension> due = m.verdicts.due();
    const auto is_due = [&](const run::Accepted& entry) {
        return std::any_of(due.begin(), due.end(), [&](const auto& one) { return one.person == entry.person(); });
    };
    std::vector<run::Accepted> others = list.entries;
    std::erase_if(others, is_due);
    if (others.empty() || due.empty()) return;
    list.entries = std::move(others);
    list.suspensions = std::move(due);
}

void Ballots::add_losses(run::AcceptList& list) const {
    if (list.entries.empty() && !m.context.is_last(list.round)) return;
    list.measured = m.losses.to_propose();
}

std::optional<Digest> Ballots::list_to_propose() {
    if ((!m_may_propose && !m_is_early) || !m.mediator.may_judge()) return std::nullopt;
    KnownList own;
    run::AcceptList& list = own.checked.list;
    list.run = m.context.run;
    list.term = m_settings->instance.term;
    list.round = m.chain.height();
    list.previous = m_settings->previous;
    list.base = m.keeper.digest();
    list.k = m.chain.k();
    list.committee = m.chain.committee();
    list.actions_before = m.chain.rules().actions;
    list.table = m.chain.table();
    if (m.context.is_last(list.round)) {
        add_losses(list);
    } else {
        list.actions = m.moderation.due();
        if (list.roll_back() == nullptr) add_contributions(list);
        const bool has_reason = list.roll_back() != nullptr || lets_in_without_entries(list.actions);
        if (list.entries.empty() && !has_reason && !m.seats.hands_over(list.committee)) return std::nullopt;
    }
    std::vector<PayloadPointer> payloads;
    for (const run::Accepted& entry : list.entries) payloads.push_back(m.payloads.find(entry.payload.root));
    const bool all_here = std::find(payloads.begin(), payloads.end(), nullptr) == payloads.end();
    if (m.context.manifest.recipe.bounds_rule() && !all_here) return std::nullopt;
    list.bounds = bounds_of(list, payloads);
    list.committee_owners = m.seats.owners_of(list.committee);
    own.checked.committed.list = list.encode();
    own.checked.hash = list.hash();
    own.valid = true;
    own.named = ++m_lists_named;
    const Digest hash = own.checked.hash;
    if (!m_lists.contains(hash)) make_room();
    m_lists.insert_or_assign(hash, std::move(own));
    return hash;
}

// What the agreement asks for.

/// A line for each step that this member takes: enough to see afterwards why a round took long.
void Ballots::log_transition(const run::VoteRecord& next) {
    const bool same_round = m_logged && m_logged->instance == next.instance;
    const bool same_view = same_round && m_logged->view == next.view;
    const auto line = [&](const char* step, const std::string& of) {
        log::of("agreement").debug("round {}, view {}: {} {}", next.instance.round.value, next.view, step, of);
    };
    const auto name = [](const std::optional<Digest>& list) { return list ? "list " + list->brief() : "nil"; };
    if (!same_view && next.view > 0) line("begins after", std::to_string(next.view) + " without a decision");
    if (next.proposal && !(same_view && m_logged->proposal)) line("proposes", name(next.proposal->statement.list));
    if (next.prevote && !(same_view && m_logged->prevote)) line("prevotes", name(next.prevote->statement.list));
    if (next.locked && !(same_round && m_logged->locked == next.locked)) line("locks", name(next.locked->list));
    if (next.precommit && !(same_view && m_logged->precommit)) line("precommits", name(next.precommit->statement.list));
    m_logged = next;
}

void Ballots::log_decision(const run::Certificate& decided) const {
    log::of("agreement")
        .debug("round {}, view {}: decided, list {} by {} of {} seats", decided.instance.round.value, decided.view,
               decided.list.brief(), decided.signatures.size(), m_settings->committee.size());
}

void Ballots::carry_out(const run::Actions& actions) {
    for (const run::Evidence& evidence : actions.evidence) keep(evidence);
    if (actions.persist) {
        log_transition(actions.persist->record);
        m_unsaved = actions.persist;
        m_bound = lists_bound_by(actions.persist->record);
    }
    if (actions.decided) {
        log_decision(*actions.decided);
        m_certificate = actions.decided;
        m_views_lost += actions.decided->view;
        conclude();
    }
    for (const run::AgreementMessage& message : actions.send) say(message);
    if (actions.persist) save();
}

/// The first proof that a key lied is as good as all others. It is on disk before anybody hears of it from here; if it
/// cannot be written the key is convicted for this life only.
void Ballots::keep(const run::Evidence& evidence) {
    const PeerId& author = evidence.author();
    m.seats.convict(author, m.seats.person_of(author));
    if (m_evidence.contains(author) || m_evidence.size() >= run::evidence_kept_max) return;
    if (const Status kept = m.store.save_evidence(author, evidence.encode()); !kept.ok()) {
        return m.errors.report(kept.error().message);
    }
    m_evidence.emplace(author, evidence);
    log::of("peer").error("{} has signed {}: its seat goes to the next trusted member that can take it", author.hex(),
                          describe(evidence));
}

/// Whose computer `key` was when it had a seat in this round: the last list before that changed the committee says so.
PeerId Ballots::owner_at(const PeerId& key, RoundId round) const {
    for (const run::CommittedList& change : m.chain.committee_changes(RoundId{0}, round, run::lists_per_history_max)) {
        const auto list = run::AcceptList::decode(change.list);
        const PeerId person = list.ok() ? run::person_in(list->committee_owners, key) : key;
        if (person != key) return person;
    }
    return run::person_in(m.context.rules.first_owners(), key);
}

void Ballots::load_evidence() {
    for (const Bytes& file : m.store.load_evidence()) {
        const Result<run::Evidence> read = run::check_evidence(file, m.keyring);
        if (!read.ok() || read->instance().run != m.context.run) {
            log::of("peer").warn("a file of evidence is damaged or of another run, and is left aside");
            continue;
        }
        m.seats.convict(read->author(), owner_at(read->author(), read->instance().round));
        m_evidence.emplace(read->author(), *read);
    }
}

/// Votes leave only once they are on disk; a disk that fails is tried again, and this member is silent until then.
void Ballots::save() {
    const run::Actions::Persist waiting = *m_unsaved;
    const Status saved = m.store.save_votes(encode_votes(waiting.record));
    if (!saved.ok()) {
        m.errors.report(saved.error().message);
        m_save_again = m.context.now() + save_votes_again_after;
        return;
    }
    m_unsaved.reset();
    carry_out(m_agreement->persisted(waiting.number, m.context.now()));
}

run::BallotMessage Ballots::ballot_of(const run::AgreementMessage& message) const {
    const std::optional<Digest> named = list_named_by(message);
    const auto found = named && carries_list(message) ? m_lists.find(*named) : m_lists.end();
    return ballot_with(run::encode(message), found == m_lists.end() ? Bytes() : found->second.checked.committed.list);
}

void Ballots::say(const run::AgreementMessage& message) const { m.context.broadcast(ballot_of(message)); }

Bytes Ballots::encode_votes(const run::VoteRecord& record) const {
    ByteWriter out;
    const Bytes bytes = record.encode();
    out.u32(static_cast<std::uint32_t>(bytes.size()));
    out.raw(bytes);
    std::vector<const Bytes*> lists;
    for (const Digest& bound : lists_bound_by(record)) {
        const auto found = m_lists.find(bound);
        if (found != m_lists.end()) lists.push_back(&found->second.checked.committed.list);
    }
    out.u8(static_cast<std::uint8_t>(lists.size()));
    for (const Bytes* list : lists) {
        out.u32(static_cast<std::uint32_t>(list->size()));
        out.raw(*list);
    }
    return out.take();
}

/// What this member has voted, and the lists that it is bound to, into m_lists.
std::optional<run::VoteRecord> Ballots::load_votes() {
    const std::optional<Bytes> bytes = m.store.load_votes();
    if (!bytes) return std::nullopt;
    // Unreadable: a record of a later round, which makes the agreement abstain.
    run::VoteRecord unknown;
    unknown.author = m.context.self();
    unknown.instance = {m.context.run, m.chain.term(), m.chain.height().next()};
    ByteReader in(*bytes);
    const std::size_t size = bytes->size() <= votes_bytes_max ? in.u32() : 0;
    const Result<run::VoteRecord> record = run::VoteRecord::decode(in.raw(std::min(size, in.remaining())));
    if (!record.ok()) {
        if (!m_unreadable_at) m_unreadable_at = m.chain.height();
        if (m.chain.height() > *m_unreadable_at) return std::nullopt;
        m.errors.report("What this computer has voted cannot be read; it stays out of this round's committee.");
        return unknown;
    }
    if (record->instance != m_settings->instance) return *record;
    const std::size_t count = in.u8();
    for (std::size_t i = 0; i < std::min(count, voted_lists_max) && !in.failed(); ++i) {
        const ByteSpan list = in.raw(std::min<std::size_t>(in.u32(), in.remaining()));
        remember(sha256(list), list);
    }
    // Before it voted for them this member has found them valid; what it sees of the others now may be less.
    m_bound = lists_bound_by(*record);
    for (const Digest& bound : m_bound) {
        const auto found = m_lists.find(bound);
        if (found != m_lists.end()) found->second.valid = !found->second.invalid;
    }
    return *record;
}

void Ballots::check_invariants() const {
    POTLUCK_CHECK(m_lists.size() <= ballot_lists_max);
    POTLUCK_CHECK(!m_decision || m_decision->list.round == m.chain.height());
    for (const auto& [hash, known] : m_lists) POTLUCK_CHECK(!known.valid || !known.invalid);
}

}  // namespace potluck::peer

#include "app/node/member/membership.h"

#include <utility>

#include "core/base/log.h"

namespace potluck::node {

void Membership::enter(std::unique_ptr<RunSession> session, TimePoint now) {
    m_owner.check();
    m_session = std::move(session);
    m_beginning = beginning_of(m_session->peer().manifest());
    m_succession.reset();
    m_succession_at.reset();
    m_session->start(now);
}

void Membership::close() {
    m_owner.check();
    for (std::unique_ptr<RunSession>* session : {&m_session, &m_retiring}) {
        if (*session) (*session)->abandon();
        session->reset();
    }
}

void Membership::retire(TimePoint now) {
    m_owner.check();
    m_go_by.reset();
    if (!m_session) return;
    m_retiring = std::move(m_session);
    if (TrainerProcess* trainer = m_retiring->trainer()) trainer->leave_no_moments();
    m_retiring->stop(now);
}

void Membership::tick(TimePoint now) {
    m_owner.check();
    if (m_session) {
        m_session->tick(now);
        record_curve();
        look_at_succession(now);
    }
    if (m_retiring) {
        m_retiring->tick(now);
        if (m_retiring->gone()) m_retiring.reset();
    }
}

void Membership::stop(TimePoint now) {
    m_owner.check();
    if (m_session) m_session->stop(now);
}

bool Membership::tick_stopping(TimePoint now) {
    m_owner.check();
    if (m_session) m_session->tick(now);
    if (m_retiring) m_retiring->tick(now);
    return (!m_session || m_session->gone()) && (!m_retiring || m_retiring->gone());
}

void Membership::drop() {
    m_owner.check();
    m_session.reset();
    m_retiring.reset();
}

/// The loss that members told of the round that has just ended becomes a point of the curve.
void Membership::record_curve() {
    const peer::PeerView view = m_session->peer().view();
    if (view.round == m_curve_round) return;
    const bool next = view.round.value == m_curve_round.value + 1;
    m_curve_round = view.round;
    if (!next) return;
    const RoundId ended{view.round.value - 1};
    const double loss = loss_of_round(view, ended);
    if (loss <= 0) return;
    if (const Status kept = m_ledger.record_loss(m_session->run(), ended, loss); !kept) {
        log::of("node").debug("{}", kept.error().message);
    }
}

void Membership::look_at_succession(TimePoint now) {
    if (m_succession_at && now < *m_succession_at + succession_every) return;
    m_succession_at = now;
    m_succession.reset();
    if (m_session->peer().manifest().host == m_keys.person.id()) m_succession = m_session->peer().succession();
}

RunSession* Membership::session() const {
    m_owner.check();
    return m_session.get();
}

RunSession* Membership::retiring() const {
    m_owner.check();
    return m_retiring.get();
}

TrainerProcess* Membership::trainer() const {
    m_owner.check();
    return m_session ? m_session->trainer() : nullptr;
}

bool Membership::is_member() const {
    m_owner.check();
    return m_session && m_session->peer().view().why.reason != status::Reason::not_admitted;
}

bool Membership::has_settled(TimePoint now) {
    m_owner.check();
    if (!m_session || !m_session->peer().has_finished()) {
        m_go_by.reset();
        return false;
    }
    const run::Recipe& recipe = m_session->peer().manifest().recipe;
    if (!m_go_by) m_go_by = now + 2 * (recipe.window + recipe.collect + recipe.grace);
    return m_session->peer().all_settled() || now >= *m_go_by;
}

void Membership::stay() {
    m_owner.check();
    m_go_by.reset();
}

const Beginning& Membership::beginning() const {
    m_owner.check();
    return m_beginning;
}

const std::optional<peer::Succession>& Membership::succession() const {
    m_owner.check();
    return m_succession;
}

}  // namespace potluck::node

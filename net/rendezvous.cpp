#include "net/rendezvous.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include <libtorrent/address.hpp>

#include "core/base/sha256.h"

namespace potluck::net {

namespace {

/// The same for the same key and draw; nobody can guess it, or make a key that comes first.
Digest lot_of(const PeerId& member, std::uint64_t secret, std::int64_t draw) {
    Sha256 hash;
    hash.update(std::as_bytes(std::span(&secret, 1)));
    hash.update(std::as_bytes(std::span(&draw, 1)));
    hash.update(member.bytes);
    return hash.finish();
}

}  // namespace

void Rendezvous::seek(const std::vector<PeerId>& members, const std::set<PeerId>& deciders, TimePoint now) {
    m_owner.check();
    const std::int64_t draw = now.since_epoch / draw_again_after;
    std::set<std::pair<Digest, PeerId>> lots;
    for (const PeerId& member : members)
        lots.emplace(deciders.contains(member) ? Digest{} : lot_of(member, m_secret, draw), member);
    m_order.clear();
    for (const auto& [lot, member] : lots) {
        if (m_order.size() < members_sought_max) m_order.push_back(member);
    }
    const std::set<PeerId> sought(m_order.begin(), m_order.end());
    std::erase_if(m_sought, [&](const auto& one) { return !sought.contains(one.first); });
    for (const PeerId& member : sought) m_sought.try_emplace(member);
}

void Rendezvous::met(const PeerId& peer) {
    m_owner.check();
    m_sought.erase(peer);
    std::erase(m_order, peer);
    for (auto& [member, sought] : m_sought) {
        sought.ask_at = TimePoint{};
        sought.wait = seek_again_first;
        sought.asked_newest = false;
    }
    m_newest = peer;
}

std::vector<Rendezvous::Question> Rendezvous::questions(const std::vector<PeerId>& neighbours, TimePoint now) {
    m_owner.check();
    std::vector<Question> questions;
    if (neighbours.empty() || neighbours.size() >= sessions_wanted) return questions;
    const auto under_way = static_cast<std::size_t>(std::ranges::count_if(
        m_sought, [&](const auto& one) { return one.second.begun && now < *one.second.begun + place_kept; }));
    std::size_t places = sessions_wanted - std::min(sessions_wanted, neighbours.size() + under_way);
    for (const PeerId& member : m_order) {
        Sought& sought = m_sought.at(member);
        if (now < sought.ask_at || (!sought.begun && places == 0)) continue;
        if (!sought.begun) {
            sought.begun = now;
            --places;
        }
        if (!std::exchange(sought.asked_newest, true) && std::ranges::find(neighbours, m_newest) != neighbours.end()) {
            questions.push_back({m_newest, member});
            sought.ask_at = now + sought.wait;
            continue;
        }
        questions.push_back({neighbours[sought.asked % neighbours.size()], member});
        ++sought.asked;
        sought.ask_at = now + sought.wait;
        // Every neighbour is asked before the waits grow.
        if (sought.asked % neighbours.size() == 0) sought.wait = std::min(2 * sought.wait, seek_again_longest);
    }
    return questions;
}

bool Rendezvous::may_introduce(const PeerId& asker, TimePoint now) {
    m_owner.check();
    std::erase_if(m_budgets, [&](const auto& one) {
        const std::chrono::duration<double> quiet = now - one.second.since;
        return one.first != asker && quiet.count() * introductions_per_second >= introductions_at_once;
    });
    Budget& budget = m_budgets.try_emplace(asker, Budget{introductions_at_once, now}).first->second;
    const std::chrono::duration<double> passed = now - budget.since;
    budget.left = std::min(introductions_at_once, budget.left + passed.count() * introductions_per_second);
    budget.since = now;
    if (budget.left < 1) return false;
    budget.left -= 1;
    return true;
}

bool Rendezvous::introduced(const PeerId& peer, const Endpoint& at, TimePoint now) {
    m_owner.check();
    const auto found = m_sought.find(peer);
    if (found == m_sought.end() || !is_sendable(at)) return false;
    Sought& sought = found->second;
    // The attempt that is under way goes on.
    if (sought.at) return true;
    sought.at = at;
    sought.act_at = now;
    sought.acts = 0;
    return true;
}

std::vector<Rendezvous::Action> Rendezvous::due(TimePoint now) {
    m_owner.check();
    std::vector<Action> actions;
    for (auto& [member, sought] : m_sought) {
        if (!sought.at || now < sought.act_at) continue;
        actions.push_back({*sought.at, dials(member)});
        sought.act_at = now + act_again;
        if (++sought.acts >= acts_max) sought.at.reset();
    }
    return actions;
}

bool is_sendable(const lt::tcp::endpoint& endpoint) {
    const lt::address address = endpoint.address();
    if (endpoint.port() == 0 || address.is_unspecified() || address.is_multicast()) return false;
    return !address.is_loopback() && (!address.is_v4() || address.to_v4() != lt::address_v4::broadcast());
}

}  // namespace potluck::net

#include "app/node/find/finder.h"

#include <algorithm>
#include <utility>

#include "app/node/find/announcer.h"
#include "core/base/log.h"

namespace potluck::node {

namespace {

control::VouchedBy shown(find::Vouch vouch) {
    switch (vouch) {
        case find::Vouch::nobody: return control::VouchedBy::nobody;
        case find::Vouch::network: return control::VouchedBy::network;
        case find::Vouch::friends: return control::VouchedBy::friends;
        case find::Vouch::list: return control::VouchedBy::list;
    }
    return control::VouchedBy::nobody;
}

control::FoundRun row_of(const find::FoundRun& found) {
    const find::Announcement& one = found.announcement;
    control::FoundRun row;
    row.id = one.run.hex();
    row.name = one.name;
    row.purpose = one.purpose;
    row.language = one.language;
    row.licence = one.licence;
    row.model = one.model;
    row.family = one.family;
    row.host = one.host.hex();
    row.host_name = one.host_name;
    row.magnet = one.invite().to_magnet();
    row.page = one.page;
    row.vouched_by = shown(found.vouch);
    row.line = found.line;
    row.parameters = one.parameters;
    row.memory = one.memory;
    row.download = one.download;
    row.round = one.round;
    row.total_rounds = one.rounds;
    row.volunteers = one.volunteers;
    row.loss = one.loss;
    row.baseline_loss = one.baseline;
    row.flops = one.flops;
    row.round_seconds = one.round_seconds;
    row.made = one.made / 1000;
    return row;
}

}  // namespace

bool Finder::wants_trust(TimePoint now) {
    m_owner.check();
    if (m_trusted && now - *m_trusted < trust_again_after) return false;
    m_trusted = now;
    return true;
}

std::optional<find::Announcement> Finder::said_of(const find::HostedRun& run, std::int64_t unix_now) const {
    m_owner.check();
    return m_board ? m_board->runs().said_of(run, unix_now) : std::nullopt;
}

void Finder::set_trust(find::Trust trust, std::vector<control::FollowedRow> lists) {
    m_owner.check();
    m_trust = std::move(trust);
    m_lists = std::move(lists);
    if (m_board) m_board->runs().set_trust(m_trust);
}

Status Finder::open(net::Session& network) {
    if (m_board) return {};
    auto board = Board::open(network, m_hints);
    if (!board) return board.error();
    m_board = std::move(*board);
    m_board->runs().set_trust(m_trust);
    m_announced.reset();
    log::of("find").info("on the board");
    return {};
}

void Finder::close() {
    m_owner.check();
    if (m_board) log::of("find").info("off the board");
    m_board.reset();
}

void Finder::tick(net::Session& network, const Duties& duties, TimePoint now, std::int64_t unix_now) {
    m_owner.check();
    const bool looks = m_looked && now - *m_looked < open_after_look;
    if (!duties.hosted && !duties.carried && !looks) {
        if (m_board) close();
        return;
    }
    // What failed is tried again a while later.
    if (!m_board && m_announced && now - *m_announced < announce_again_min) return;
    if (const Status opened = open(network); !opened) {
        log::of("find").warn("{}", opened.error().message);
        m_announced = now;
        return;
    }
    m_board->carry(duties.carried);
    m_board->tick(now, unix_now);
    if (duties.hosted) announce(network, *duties.hosted, now, unix_now);
}

void Finder::announce(const net::Session& network, const Hosted& hosted, TimePoint now, std::int64_t unix_now) {
    if (m_announced && now - *m_announced < announce_again_min) return;
    m_announced = now;
    if (hosted.session.peer().view().closed) return;
    const std::vector<run::PeerHint> hints = network.invite(hosted.session.run(), {}).hints;
    find::Announcement one = announcement_of(hosted.session, hosted.ledger, hints, unix_now);
    one.language = hosted.language;
    one.page = hosted.page;
    const std::vector<find::FoundRun> held = m_board->runs().found(unix_now);
    const auto last = std::ranges::find_if(held, [&](const find::FoundRun& found) {
        return found.announcement.run == one.run && found.announcement.host == one.host;
    });
    if (!is_worth_telling(last == held.end() ? nullptr : &last->announcement, one, announce_every)) return;
    m_board->announce(find::sign(one, hosted.person));
    log::of("find").info("announced round {} to {} neighbours", one.round, m_board->neighbours());
}

Result<control::FoundRuns> Finder::look(net::Session& network, TimePoint now, std::int64_t unix_now) {
    m_owner.check();
    m_looked = now;
    if (const Status opened = open(network); !opened) return opened.error();
    m_board->tick(now, unix_now);
    control::FoundRuns found;
    for (const find::FoundRun& one : m_board->runs().found(unix_now)) found.rows.push_back(row_of(one));
    found.lists = m_lists;
    found.neighbours = m_board->neighbours();
    found.answers = m_board->answers();
    for (const auto& [verdict, count] : m_board->runs().counts()) {
        if (verdict != run::Verdict::accepted && verdict != run::Verdict::repeated) found.refused += count;
    }
    return found;
}

}  // namespace potluck::node

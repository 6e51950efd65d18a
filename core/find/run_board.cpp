// Three limits, asked in turn: of the host, of the address, of all. Each takes the entry of least worth among those
// that it counts, the newcomer with them; if that is the newcomer, it stays outside. Worth is first who vouches, then
// how new it is, so that a flood of strangers moves strangers only.
//
// An announcement that replaces an older one of the same host and run takes its place and needs no room. What is known
// already is refused before any signature is looked at, since neighbours repeat what they hold.
#include "core/find/run_board.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/check.h"

namespace potluck::find {

void RunBoard::set_trust(Trust trust) {
    m_owner.check();
    m_trust = std::move(trust);
}

Vouch RunBoard::vouch_of(const Entry& entry) const {
    if (m_trust.listed.contains({entry.announcement.run, entry.announcement.host})) return Vouch::list;
    if (m_trust.friends.contains(entry.announcement.host)) return Vouch::friends;
    return entry.is_near ? Vouch::network : Vouch::nobody;
}

bool RunBoard::is_ours(const Entry& entry) const {
    return entry.is_own || m_carried == HostedRun{entry.announcement.run, entry.announcement.host};
}

std::pair<int, std::int64_t> RunBoard::worth(const Entry& entry) const {
    const int vouched = is_ours(entry) ? static_cast<int>(Vouch::list) + 1 : static_cast<int>(vouch_of(entry));
    return {vouched, entry.announcement.made};
}

template <class Counts>
bool RunBoard::fits(const Entry& fresh, std::size_t most, const Counts& counts, std::vector<Entries::node_type>& gone) {
    const auto among = std::ranges::count_if(m_entries, [&](const auto& one) { return counts(one.second); });
    if (static_cast<std::size_t>(among) < most) return true;
    auto least = m_entries.end();
    for (auto at = m_entries.begin(); at != m_entries.end(); ++at) {
        if (counts(at->second) && (least == m_entries.end() || worth(at->second) < worth(least->second))) least = at;
    }
    if (worth(fresh) <= worth(least->second)) return false;
    gone.push_back(m_entries.extract(least));
    return true;
}

bool RunBoard::fits_everywhere(const Entry& fresh, std::vector<Entries::node_type>& gone) {
    const auto of_host = [&](const Entry& one) { return one.announcement.host == fresh.announcement.host; };
    // A list that the person follows may name as many runs of one host as it likes.
    if (vouch_of(fresh) != Vouch::list && !fits(fresh, announcements_per_host_max, of_host, gone)) return false;
    // A neighbour in the local network has an address, too, which may be anybody's.
    const auto of_address = [&](const Entry& one) {
        return !is_ours(one) && one.address == fresh.address && vouch_of(one) <= Vouch::network;
    };
    if (vouch_of(fresh) <= Vouch::network && !fits(fresh, announcements_per_address_max, of_address, gone))
        return false;
    const auto any = [](const Entry&) { return true; };
    return fits(fresh, announcements_max, any, gone);
}

bool RunBoard::make_room(const Entry& fresh) {
    std::vector<Entries::node_type> gone;
    if (fits_everywhere(fresh, gone)) return true;
    for (Entries::node_type& one : gone) m_entries.insert(std::move(one));
    return false;
}

run::Verdict RunBoard::take(ByteSpan bytes, const Source& source, std::int64_t now) {
    m_owner.check();
    const run::Verdict verdict = judged(bytes, source, now);
    ++m_counts[verdict];
    return verdict;
}

void RunBoard::refuse(run::Verdict verdict) {
    m_owner.check();
    ++m_counts[verdict];
}

run::Verdict RunBoard::judged(ByteSpan bytes, const Source& source, std::int64_t now) {
    if (bytes.size() > announcement_bytes_max) return run::Verdict::too_large;
    auto parsed = parse_announcement(bytes);
    if (!parsed) return run::Verdict::malformed;
    forget_old(now);
    const bool is_near = source.reach == Source::Reach::local_network && source.hand == Source::Hand::first;
    const HostedRun key{parsed->announcement.run, parsed->announcement.host};
    const auto known = m_entries.find(key);
    if (known != m_entries.end()) {
        Entry& entry = known->second;
        if (parsed->announcement.made < entry.announcement.made) return run::Verdict::stale;
        if (parsed->announcement.made == entry.announcement.made) {
            entry.is_near = entry.is_near || (is_near && std::ranges::equal(bytes, entry.bytes));
            return run::Verdict::repeated;
        }
    }
    if (const run::Verdict verdict = judge(*parsed, bytes, now, m_verifier); verdict != run::Verdict::accepted)
        return verdict;
    Entry fresh{.announcement = std::move(parsed->announcement),
                .bytes = Bytes(bytes.begin(), bytes.end()),
                .address = source.address,
                .is_near = is_near};
    if (known != m_entries.end()) {
        fresh.address = known->second.address;
        fresh.is_near = is_near || known->second.is_near;
        fresh.is_own = known->second.is_own;
        known->second = std::move(fresh);
        return run::Verdict::accepted;
    }
    if (!make_room(fresh)) return run::Verdict::no_room;
    m_entries.emplace(key, std::move(fresh));
    return run::Verdict::accepted;
}

void RunBoard::take_own(ByteSpan bytes, std::int64_t now) {
    m_owner.check();
    forget_old(now);
    auto parsed = parse_announcement(bytes);
    POTLUCK_CHECK(parsed.ok());
    const HostedRun key{parsed->announcement.run, parsed->announcement.host};
    m_entries.insert_or_assign(key, Entry{.announcement = std::move(parsed->announcement),
                                          .bytes = Bytes(bytes.begin(), bytes.end()),
                                          .address = {},
                                          .is_near = true,
                                          .is_own = true});
}

void RunBoard::carry(const std::optional<HostedRun>& run) {
    m_owner.check();
    m_carried = run;
}

const RunBoard::Entry* RunBoard::held_of(const HostedRun& run, std::int64_t now) const {
    const auto found = m_entries.find(run);
    if (found == m_entries.end() || found->second.announcement.made <= now - announcement_lasts.count()) return nullptr;
    return &found->second;
}

Bytes RunBoard::carried(std::int64_t now) const {
    m_owner.check();
    const Entry* entry = m_carried ? held_of(*m_carried, now) : nullptr;
    return entry == nullptr ? Bytes() : entry->bytes;
}

std::optional<Announcement> RunBoard::said_of(const HostedRun& run, std::int64_t now) const {
    m_owner.check();
    const Entry* entry = held_of(run, now);
    return entry == nullptr ? std::nullopt : std::optional(entry->announcement);
}

void RunBoard::forget_old(std::int64_t now) {
    std::erase_if(m_entries,
                  [&](const auto& one) { return one.second.announcement.made <= now - announcement_lasts.count(); });
}

std::vector<const RunBoard::Entry*> RunBoard::by_worth(std::int64_t now) const {
    std::vector<const Entry*> entries;
    for (const auto& [key, entry] : m_entries) {
        if (entry.announcement.made > now - announcement_lasts.count()) entries.push_back(&entry);
    }
    std::ranges::stable_sort(entries, [this](const Entry* a, const Entry* b) { return worth(*a) > worth(*b); });
    return entries;
}

std::vector<FoundRun> RunBoard::found(std::int64_t now) const {
    m_owner.check();
    std::vector<FoundRun> found;
    for (const Entry* entry : by_worth(now)) {
        const auto listed = m_trust.listed.find({entry->announcement.run, entry->announcement.host});
        found.push_back({.announcement = entry->announcement,
                         .vouch = vouch_of(*entry),
                         .line = listed == m_trust.listed.end() ? std::string() : listed->second});
    }
    return found;
}

std::vector<Bytes> RunBoard::held(std::int64_t now) const {
    m_owner.check();
    std::vector<Bytes> held;
    for (const Entry* entry : by_worth(now)) held.push_back(entry->bytes);
    return held;
}

}  // namespace potluck::find

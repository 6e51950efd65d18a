#include "app/node/find/list_keeper.h"

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/identity/minisign.h"

namespace potluck::node {

namespace {

constexpr Duration look_every{60'000};

control::FollowedRow row_of(const FollowedList& one, std::int64_t unix_now) {
    control::FollowedRow row;
    row.title = one.list.title;
    row.key = one.key;
    row.source = one.source;
    row.runs = one.list.runs.size();
    row.expires = one.list.expires;
    row.expired = one.list.expires <= unix_now;
    return row;
}

}  // namespace

Duration ListKeeper::pause_of(const find::RunList& list, std::int64_t unix_now) {
    return list.expires - unix_now < expires_soon ? renew_soon_every : renew_every;
}

void ListKeeper::tick(TimePoint now, std::int64_t unix_now) {
    m_owner.check();
    if (!m_begun) m_begun = now;
    if (now - *m_begun < first_renewal_after || (m_looked && now - *m_looked < look_every)) return;
    m_looked = now;
    for (const FollowedList& list : followed_lists(m_folder)) {
        const auto last = m_tries.find(list.key);
        const bool is_new = last == m_tries.end();
        if (is_new || (!last->second.under_way && now - last->second.at >= pause_of(list.list, unix_now)))
            renew(list, now);
    }
}

void ListKeeper::renew(const FollowedList& list, TimePoint now) {
    m_tries[list.key] = Try{.at = now, .under_way = true, .problem = {}};
    fetch(list.source, [this, list](const Fetched& fetched) {
        Try& tried = m_tries[list.key];
        tried.under_way = false;
        Status renewed = fetched.text ? Status() : Status(fetched.text.error());
        if (renewed && !fetched.signature) renewed = fetched.signature.error();
        if (renewed) renewed = renew_list(m_folder, list, *fetched.text, as_text(*fetched.signature), unix_seconds());
        if (renewed) return;
        tried.problem = utf8_prefix(renewed.error().message, control::text_bytes_max);
        log::of("find").info("the list {} is not renewed: {}", log::printable(list.list.title), tried.problem);
    });
}

void ListKeeper::fetch(const std::string& source, std::function<void(const Fetched&)> done) {
    if (!m_worker) m_worker = std::make_unique<Worker>(m_world.post);
    m_worker->run(
        [source, fetch = m_world.fetch(), ending = m_worker->stopping()]() -> Fetched {
            Result<Bytes> text = fetch(source, find::list_bytes_max, ending);
            if (!text) return {text, Bytes()};
            return {std::move(text),
                    fetch(source + std::string(list_signature_suffix), identity::minisign_bytes_max, ending)};
        },
        [done = std::move(done)](const Fetched& fetched) { done(fetched); });
}

void ListKeeper::follow(const find::ListLink& link, Done done) {
    m_owner.check();
    fetch(link.source, [this, link, done = std::move(done)](const Fetched& fetched) {
        if (!fetched.text) return done(fetched.text.error());
        if (!fetched.signature) return done(fetched.signature.error());
        const FollowedList wanted{.key = link.key, .source = link.source, .list = {}};
        const std::int64_t now = unix_seconds();
        auto list = follow_list(m_folder, wanted, *fetched.text, as_text(*fetched.signature), now);
        if (!list) return done(list.error());
        m_tries.erase(link.key);
        done(row_of({link.key, link.source, *std::move(list)}, now));
    });
}

Status ListKeeper::unfollow(const std::string& key) {
    m_owner.check();
    const auto parsed = identity::MinisignKey::parse(key);
    if (!parsed) return parsed.error();
    m_tries.erase(key);
    return unfollow_list(m_folder, *parsed);
}

std::vector<control::FollowedRow> ListKeeper::rows(std::int64_t unix_now) const {
    m_owner.check();
    std::vector<control::FollowedRow> rows;
    for (const FollowedList& one : followed_lists(m_folder)) {
        if (rows.size() == control::followed_lists_max) break;
        rows.push_back(row_of(one, unix_now));
        if (const auto last = m_tries.find(one.key); last != m_tries.end()) rows.back().problem = last->second.problem;
    }
    return rows;
}

}  // namespace potluck::node

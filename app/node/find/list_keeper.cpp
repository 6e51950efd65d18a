// A list comes by one of two ways, and both end in take() or renew_list(), which check signature, serial and expiry:
// the worker asks the web or reads a file, or the session fetches a public file, of which the loop reads at most
// signed_list_bytes_max. A torrent that is under way stands in m_torrents until it comes or its time is up; then the
// web seed is asked, and what proved to be no list of the key is forgotten, so that nobody gets it from here. A magnet
// names one version (BEP 9, BEP 52) and its web seed the newest (BEP 19), hence renewals read the latter.
#include "app/node/find/list_keeper.h"

#include <optional>
#include <utility>

#include "core/base/clock.h"
#include "core/base/files.h"
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

/// The torrent that a source names; nothing if it is of the web or a file.
std::optional<find::ListTorrent> torrent_of(const std::string& source) {
    if (!find::is_magnet(source)) return std::nullopt;
    auto torrent = find::ListTorrent::parse(source);
    return torrent ? std::optional(*std::move(torrent)) : std::nullopt;
}

}  // namespace

Duration ListKeeper::pause_of(const find::RunList& list, std::int64_t unix_now) {
    return list.expires - unix_now < expires_soon ? renew_soon_every : renew_every;
}

void ListKeeper::tick(TimePoint now, std::int64_t unix_now) {
    m_owner.check();
    if (!m_begun) m_begun = now;
    give_torrents_up(now);
    if (now - *m_begun < first_renewal_after || (m_looked && now - *m_looked < look_every)) return;
    m_looked = now;
    follow_built_in(now);
    for (const FollowedList& list : followed_lists(m_folder)) {
        const auto torrent = torrent_of(list.source);
        if (torrent) m_world.share_files();
        // Without a web seed its maker tells of a newer version by another link.
        if (torrent && torrent->web_seed.empty()) continue;
        const auto last = m_tries.find(list.key);
        const bool is_new = last == m_tries.end();
        if (is_new || (!last->second.under_way && now - last->second.at >= pause_of(list.list, unix_now)))
            renew(list, now);
    }
}

void ListKeeper::follow_built_in(TimePoint now) {
    if (!m_world.built_in || (m_built_in_tried && now - *m_built_in_tried < renew_soon_every)) return;
    const auto key = identity::MinisignKey::parse(m_world.built_in->key);
    if (!key || has_followed(m_folder, *key)) return;
    m_built_in_tried = now;
    follow(*m_world.built_in, [](const Result<control::FollowedRow>& followed) {
        if (!followed) log::of("find").info("the list of this build is not followed: {}", followed.error().message);
    });
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
    const auto torrent = torrent_of(source);
    m_worker->run(
        [source, torrent, fetch = m_world.fetch(), ending = m_worker->stopping()]() -> Fetched {
            if (torrent) return opened(fetch(torrent->web_seed, find::signed_list_bytes_max, ending));
            Result<Bytes> text = fetch(source, find::list_bytes_max, ending);
            if (!text) return {text, Bytes()};
            return {std::move(text),
                    fetch(source + std::string(list_signature_suffix), identity::minisign_bytes_max, ending)};
        },
        [done = std::move(done)](const Fetched& fetched) { done(fetched); });
}

ListKeeper::Fetched ListKeeper::opened(const Result<Bytes>& file) {
    if (!file) return {file.error(), Bytes()};
    const auto list = find::SignedList::parse(as_text(*file));
    if (!list) return {list.error(), Bytes()};
    const auto bytes = [](const std::string& text) { return Bytes(as_bytes(text).begin(), as_bytes(text).end()); };
    return {bytes(list->text), bytes(list->signature)};
}

void ListKeeper::fetch_torrent(const find::ListTorrent& torrent, std::function<void(const Fetched&)> done) {
    if (!m_worker) m_worker = std::make_unique<Worker>(m_world.post);
    const BlobId root = torrent.file.root;
    m_torrents.emplace(root, Torrent{torrent, std::move(done), std::nullopt});
    // A web seed needs a description, which peers have, too.
    m_worker->run(
        [seed = torrent.web_seed, fetch = m_world.fetch(), ending = m_worker->stopping()]() -> Result<Bytes> {
            if (seed.empty()) return Bytes();
            return fetch(seed + std::string(list_torrent_suffix), description_bytes_max, ending);
        },
        [this, root](const Result<Bytes>& description) {
            const auto wanted = m_torrents.find(root);
            if (wanted == m_torrents.end()) return;  // it was given up
            net::PublicFile file{.ref = wanted->second.torrent.file, .torrent = {}, .web_seeds = {}};
            if (description) file.torrent = *description;
            if (!wanted->second.torrent.web_seed.empty()) file.web_seeds.push_back(wanted->second.torrent.web_seed);
            m_world.fetch_file(std::move(file), [this, root](const Result<std::filesystem::path>& path) {
                end_torrent(root, path ? read_file(*path, find::signed_list_bytes_max) : Result<Bytes>(path.error()));
            });
        });
}

void ListKeeper::end_torrent(const BlobId& root, const Result<Bytes>& file) {
    const auto ended = m_torrents.extract(root);
    if (!ended.empty()) ended.mapped().done(opened(file));
}

void ListKeeper::give_torrents_up(TimePoint now) {
    std::vector<BlobId> late;
    for (auto& [root, one] : m_torrents) {
        if (!one.since) one.since = now;
        if (now - *one.since >= torrent_patience) late.push_back(root);
    }
    for (const BlobId& root : late) {
        m_world.forget_file(root);
        end_torrent(root, Error{ErrorCode::timed_out, "Nobody was found who has this list; try again later."});
    }
}

Result<control::FollowedRow> ListKeeper::take(const find::ListLink& link, const Fetched& fetched) {
    if (!fetched.text) return fetched.text.error();
    if (!fetched.signature) return fetched.signature.error();
    const FollowedList wanted{.key = link.key, .source = link.source, .list = {}};
    const std::int64_t now = unix_seconds();
    std::string before;
    for (const FollowedList& one : followed_lists(m_folder))
        if (one.key == link.key) before = one.source;
    auto list = follow_list(m_folder, wanted, *fetched.text, as_text(*fetched.signature), now);
    if (!list) return list.error();
    if (before != link.source) forget_torrent(before);
    m_tries.erase(link.key);
    return row_of({link.key, link.source, *std::move(list)}, now);
}

void ListKeeper::follow(const find::ListLink& link, Done done) {
    m_owner.check();
    const auto torrent = torrent_of(link.source);
    const auto from_web = [this, link, done] {
        fetch(link.source, [this, link, done](const Fetched& fetched) { done(take(link, fetched)); });
    };
    if (!torrent) return from_web();
    if (m_torrents.contains(torrent->file.root))
        return done(Error{ErrorCode::already_exists, "This list is being fetched already; wait until that has ended."});
    fetch_torrent(*torrent, [this, link, done, torrent = *torrent, from_web](const Fetched& fetched) {
        const auto taken = take(link, fetched);
        if (taken) return done(taken);
        m_world.forget_file(torrent.file.root);
        if (torrent.web_seed.empty()) return done(taken);
        from_web();
    });
}

void ListKeeper::forget_torrent(const std::string& source) {
    if (const auto torrent = torrent_of(source)) m_world.forget_file(torrent->file.root);
}

Status ListKeeper::unfollow(const std::string& key) {
    m_owner.check();
    const auto parsed = identity::MinisignKey::parse(key);
    if (!parsed) return parsed.error();
    m_tries.erase(key);
    for (const FollowedList& one : followed_lists(m_folder))
        if (one.key == key) forget_torrent(one.source);
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

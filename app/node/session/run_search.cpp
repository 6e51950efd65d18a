#include "app/node/session/run_search.h"

#include <algorithm>
#include <utility>

#include "app/node/member/view.h"
#include "app/node/paths.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/log.h"

namespace potluck::node {

Result<Bytes> RunSearch::stored(const RunId& run) const {
    return read_file(run_folder(m_folder, run) / "manifest", manifest_file_bytes_max);
}

void RunSearch::begin(const run::Invite& invite) {
    m_owner.check();
    end_look();
    if (const auto file = stored(invite.run)) return found(invite, file);
    m_searching = invite.run;
    if (m_since == 0) m_since = unix_seconds();
    m_world.fetch(invite, m_patience, [this, alive = m_alive, invite](const Result<Bytes>& fetched) {
        if (*alive) found(invite, fetched);
    });
}

void RunSearch::found(const run::Invite& invite, const Result<Bytes>& file) {
    m_searching.reset();
    if (!m_world.is_wanted(invite.run)) return;
    if (!file && file.error().code == ErrorCode::timed_out) {
        // A member that has it may come online later: the search goes on, and the reason is shown.
        if (!std::exchange(m_nobody_in_time, true)) {
            log::of("node").warn("Nobody in the run \"{}\" could be reached so far; the search goes on.",
                                 log::printable(invite.name));
        }
        return begin(invite);
    }
    const Status joined = file ? m_world.join(invite, *file) : Status(file.error());
    if (joined) return begin_anew();
    m_error = joined.error().message;
    log::of("node").error("{}", m_error);
}

void RunSearch::cancel() {
    m_owner.check();
    if (m_searching) m_world.cancel(*m_searching);
    m_searching.reset();
}

void RunSearch::begin_anew() {
    m_owner.check();
    m_error.clear();
    m_since = 0;
    m_nobody_in_time = false;
}

void RunSearch::clear_error() {
    m_owner.check();
    m_error.clear();
}

bool RunSearch::is_searching() const {
    m_owner.check();
    return m_searching.has_value();
}

const std::string& RunSearch::error() const {
    m_owner.check();
    return m_error;
}

std::optional<SearchConditions> RunSearch::conditions(std::string name) const {
    m_owner.check();
    if (!m_searching) return std::nullopt;
    return SearchConditions{m_world.progress(*m_searching).value_or(net::ManifestSearch{}), std::move(name), m_since,
                            m_nobody_in_time};
}

void RunSearch::look_at(const run::Invite& invite, LookDone done) {
    m_owner.check();
    end_look();
    if (auto file = stored(invite.run)) return done(Looked{.manifest_file = std::move(*file)});
    if (m_searching == invite.run)
        return done(Error{ErrorCode::unavailable, "This run is being looked for already, to join it."});
    m_look = Look{invite.run, 0, std::move(done)};
    m_world.fetch(invite, look_patience, [this, alive = m_alive](Result<Bytes> fetched) {
        if (!*alive || !m_look) return;
        const Look look = *std::exchange(m_look, std::nullopt);
        if (fetched) return look.done(Looked{std::move(*fetched), look.peers});
        if (fetched.error().code != ErrorCode::timed_out) return look.done(fetched.error());
        look.done(Error{ErrorCode::timed_out, "Nobody in this run has answered; joining goes on looking."});
    });
}

void RunSearch::end_look() {
    m_owner.check();
    if (!m_look) return;
    const Look look = *std::exchange(m_look, std::nullopt);
    m_world.cancel(look.run);
    look.done(Error{ErrorCode::cancelled, "Another run is looked at now."});
}

void RunSearch::tick() {
    m_owner.check();
    if (!m_look) return;
    if (const auto search = m_world.progress(m_look->run))
        m_look->peers = std::max<std::uint64_t>(m_look->peers, search->peers);
}

}  // namespace potluck::node

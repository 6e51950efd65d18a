// The session is created on an io_context of ours, so that the one network thread runs libtorrent's work and ours.
// Everything else speaks to it by libtorrent's thread-safe handles and by alerts, which are turned into values
// (alerts.h) when the node polls.
//
// libtorrent connects a torrent's peers at once only when the torrent is resumed; a blob of a few kilobytes would
// otherwise wait for the next tick of a second. Hence Starter, which resumes a torrent as soon as its (empty) check is
// over. It also sets the deadlines for all pieces of a small blob, in one go and before any peer is connected:
// libtorrent before 2.0.11 follows a null pointer when the first deadline of a torrent meets the arrival of its last
// piece.
//
// An exception that escapes libtorrent is logged and the loop goes on: one torrent's fault must not take the node
// along.
#include "net/engine.h"

#include <algorithm>
#include <random>
#include <utility>

#include <boost/asio/post.hpp>
#include <libtorrent/alert_types.hpp>
#include <libtorrent/extensions.hpp>
#include <libtorrent/read_resume_data.hpp>
#include <libtorrent/session_params.hpp>
#include <libtorrent/session_stats.hpp>
#include <libtorrent/torrent_flags.hpp>
#include <libtorrent/torrent_info.hpp>
#include <libtorrent/torrent_status.hpp>

#include "core/base/check.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/rng.h"
#include "net/addresses/free_port.h"
#include "net/links/channel.h"

namespace potluck::net {

namespace {

constexpr Duration listen_patience{3'000};
constexpr std::uint64_t dht_file_bytes_max = 1 << 20;
constexpr Duration deadline_horizon{24 * 3'600'000};
constexpr std::size_t ways_max = 16;
constexpr Duration way_lasts{5'000};

/// Wants every piece of a torrent by `deadline`. libtorrent serves equal deadlines in the order they were set: each
/// computer has an order of its own, so that members fetch different pieces from a slow source and the rest from one
/// another.
void want_by(const lt::torrent_handle& torrent, TimePoint deadline, std::uint64_t order_key) {
    const std::shared_ptr<const lt::torrent_info> info = torrent.torrent_file();
    if (!info || info->num_pieces() > urgent_pieces_max) return;
    const Duration left = std::clamp(deadline - steady_now(), Duration(0), deadline_horizon);
    const KeyedPermutation order(order_key, static_cast<std::uint64_t>(info->num_pieces()));
    for (int i = 0; i < info->num_pieces(); ++i) {
        const auto piece = static_cast<int>(order.at(static_cast<std::uint64_t>(i)));
        torrent.set_piece_deadline(lt::piece_index_t{piece}, static_cast<int>(left.count()));
    }
}

/// Does `then` on the network thread whenever a check of its torrent's files is over.
class Starter final : public lt::torrent_plugin {
public:
    Starter(lt::io_context& io, std::function<void()> then) : m_io(io), m_then(std::move(then)) {}
    /// Not from inside libtorrent's own call: resuming changes what it is in the middle of.
    void on_files_checked() override { boost::asio::post(m_io, m_then); }

private:
    lt::io_context& m_io;
    std::function<void()> m_then;
};

lt::session_params params_of(const SessionSettings& settings, const std::filesystem::path& dht_file) {
    lt::session_params params;
    if (const Result<Bytes> saved = read_file(dht_file, dht_file_bytes_max); saved.ok()) {
        const std::string_view text = as_text(*saved);
        params = lt::read_session_params({text.data(), static_cast<std::ptrdiff_t>(text.size())},
                                         lt::session_handle::save_dht_state);
    }
    params.settings = pack_of(settings);
    return params;
}

/// What the loop of a session that was cut off still waits for, such as a name server's answer, uses the session when
/// it is taken apart, and the session uses the loop, so neither can go first.
void keep_for_ever(std::shared_ptr<lt::io_context> loop, lt::session_proxy session) {
    static auto* const kept = new std::vector<std::pair<std::shared_ptr<lt::io_context>, lt::session_proxy>>;
    kept->emplace_back(std::move(loop), std::move(session));
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::open(SessionSettings settings) {
    if (settings.port == 0 && settings.reach == NetworkScope::internet) settings.port = free_port();
    std::unique_ptr<Engine> engine(new Engine);
    engine->m_dht_file = settings.data_folder / "dht-state";
    engine->m_order_key = std::random_device()();
    engine->m_uses_proxy = settings.proxy.is_used();
    try {
        engine->m_session.emplace(params_of(settings, engine->m_dht_file), *engine->m_io);
        if (settings.wake) engine->m_session->set_alert_notify(settings.wake);
    } catch (const std::exception& failure) {
        return Error{ErrorCode::io, std::string("The network could not be started: ") + failure.what() + "."};
    }
    engine->m_session->set_peer_class_filter(rate_limited_addresses());
    engine->m_ended = engine->m_end.get_future();
    engine->m_thread = std::thread([raw = engine.get()] { raw->run(); });
    if (Status listening = engine->wait_until_listening(); !listening.ok()) return listening.error();
    return engine;
}

Engine::~Engine() {
    if (m_thread.joinable()) static_cast<void>(stop(Duration(2'000)));
}

void Engine::run() {
    for (;;) {
        try {
            m_io->run();
            break;
        } catch (const std::exception& failure) {
            log::of("net").error("the network thread goes on after: {}", failure.what());
        }
    }
    m_end.set_value();
}

void Engine::post(std::function<void()> work) { boost::asio::post(*m_io, std::move(work)); }

Status Engine::wait_until_listening() {
    Error last{ErrorCode::timed_out, "No network socket could be opened: check the computer's network and firewall."};
    const TimePoint give_up = steady_now() + listen_patience;
    while (steady_now() < give_up) {
        m_session->wait_for_alert(lt::milliseconds(100));
        for (Event& event : take_events()) {
            if (const auto* heard = std::get_if<Listening>(&event); heard != nullptr && (heard->tcp || m_uses_proxy))
                m_port = heard->port;
            if (const auto* deaf = std::get_if<ListenFailed>(&event)) {
                last = deaf->error;
                if (m_port == 0 && last.code == ErrorCode::already_exists) return last;
            }
            m_early.push_back(std::move(event));
        }
        if (m_port != 0) return {};
    }
    return last;
}

Result<lt::torrent_handle> Engine::add(lt::add_torrent_params params, Start start, TimePoint deadline) {
    m_owner.check();
    if (start != Start::at_once) params.flags |= lt::torrent_flags::paused;
    const bool resumes = start == Start::when_checked;
    const bool due = deadline != TimePoint{};
    if (resumes || due) {
        params.extensions.emplace_back([=, this](const lt::torrent_handle& torrent, lt::client_data_t) {
            return std::make_shared<Starter>(*m_io, [=, key = m_order_key] {
                if (due) want_by(torrent, deadline, key);
                if (!resumes) return;
                torrent.resume();
                // Nobody announced it while it was paused; its turn would come minutes later.
                torrent.force_dht_announce();
            });
        });
    }
    params.extensions.push_back(blob_plugin(m_flows));
    params.flags |= lt::torrent_flags::duplicate_is_error;
    try {
        lt::torrent_handle torrent = m_session->add_torrent(std::move(params));
        if (start == Start::resumed) torrent.resume();
        return torrent;
    } catch (const std::exception& failure) {
        return Error{ErrorCode::io, std::string("A blob could not be shared: ") + failure.what() + "."};
    }
}

void Engine::recheck(const lt::torrent_handle& torrent) {
    m_owner.check();
    if (!torrent.is_valid()) return;
    // A paused torrent is not checked.
    torrent.clear_error();
    torrent.resume();
    torrent.force_recheck();
}

void Engine::remove(const lt::torrent_handle& torrent, Files files) {
    m_owner.check();
    if (!torrent.is_valid()) return;
    m_session->remove_torrent(torrent,
                              files == Files::remove ? lt::session_handle::delete_files : lt::remove_flags_t{});
}

std::vector<Event> Engine::take_events() {
    m_owner.check();
    std::vector<Event> events = std::exchange(m_early, {});
    std::vector<lt::alert*> alerts;
    m_session->pop_alerts(&alerts);
    std::vector<Event> fresh = events_of(alerts);
    events.insert(events.end(), std::make_move_iterator(fresh.begin()), std::make_move_iterator(fresh.end()));
    return events;
}

void Engine::add_dht_nodes(const std::vector<run::PeerHint>& nodes) {
    m_owner.check();
    for (const run::PeerHint& node : nodes) {
        if (!m_uses_proxy || is_numeric(node)) m_session->add_dht_node({node.host, node.port});
    }
}

void Engine::find_peers(const Digest& torrent) {
    m_owner.check();
    m_session->dht_get_peers(lt::sha1_hash(reinterpret_cast<const char*>(torrent.bytes.data())));
}

void Engine::open_way(const Endpoint& to, TimePoint now) {
    m_owner.check();
    close_ways(now);
    if (m_uses_proxy) return;  // there is no router of this computer's to open
    if (m_ways.size() >= ways_max) return;
    lt::add_torrent_params params;
    std::random_device random;
    for (auto& byte : params.info_hashes.v2) byte = static_cast<std::uint8_t>(random());
    params.save_path = m_dht_file.parent_path().string();
    params.peers.push_back(to);
    params.flags = lt::torrent_flags::disable_dht | lt::torrent_flags::disable_lsd | lt::torrent_flags::disable_pex;
    if (Result<lt::torrent_handle> torrent = add(std::move(params), Start::resumed); torrent.ok())
        m_ways.push_back({*torrent, now});
}

void Engine::close_ways(TimePoint now) {
    m_owner.check();
    std::erase_if(m_ways, [&](const Way& way) {
        const bool is_over = now - way.opened >= way_lasts;
        if (is_over) remove(way.torrent, Files::keep);
        return is_over;
    });
}

void Engine::set_rate_limits(std::uint64_t upload, std::uint64_t download) {
    m_owner.check();
    lt::settings_pack pack;
    const auto clamped = [](std::uint64_t limit) {
        return static_cast<int>(std::min<std::uint64_t>(limit, 1U << 30U));
    };
    pack.set_int(lt::settings_pack::upload_rate_limit, clamped(upload));
    pack.set_int(lt::settings_pack::download_rate_limit, clamped(download));
    m_session->apply_settings(std::move(pack));
}

void Engine::encrypt_dials(bool on) {
    m_owner.check();
    lt::settings_pack pack;
    pack.set_int(lt::settings_pack::out_enc_policy,
                 on ? lt::settings_pack::pe_enabled : lt::settings_pack::pe_disabled);
    // All of it: who is dialled would else choose to encrypt the key exchange alone, and answer plainly.
    pack.set_int(lt::settings_pack::allowed_enc_level, on ? lt::settings_pack::pe_rc4 : lt::settings_pack::pe_both);
    m_session->apply_settings(std::move(pack));
}

void Engine::save_dht() const {
    const std::vector<char> text = lt::write_session_params_buf(
        m_session->session_state(lt::session_handle::save_dht_state), lt::session_handle::save_dht_state);
    if (Status saved = write_file_atomically(m_dht_file, as_bytes({text.data(), text.size()})); !saved.ok()) {
        log::of("net").warn("{}", saved.error().message);
    }
}

bool Engine::stop(Duration limit) {
    m_owner.check();
    POTLUCK_CHECK(m_thread.joinable());
    const auto end = std::chrono::steady_clock::now() + limit;
    save_dht();
    lt::session_proxy closing = m_session->abort();
    m_session.reset();
    const bool in_time = m_ended.wait_until(end) == std::future_status::ready;
    if (!in_time) m_io->stop();
    m_thread.join();
    if (!in_time) keep_for_ever(m_io, std::move(closing));
    return in_time;
}

}  // namespace potluck::net

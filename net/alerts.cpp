#include "net/alerts.h"

#include <algorithm>
#include <iterator>

#include <boost/system/error_code.hpp>
#include <libtorrent/alert_types.hpp>
#include <libtorrent/session_stats.hpp>
#include <libtorrent/torrent_handle.hpp>
#include <libtorrent/torrent_status.hpp>
#include <libtorrent/write_resume_data.hpp>

namespace potluck::net {

namespace {

namespace errc = boost::system::errc;

Digest digest_of(const lt::info_hash_t& hashes) {
    Digest digest;
    std::copy_n(reinterpret_cast<const std::byte*>(hashes.v2.data()), digest.bytes.size(), digest.bytes.begin());
    return digest;
}

Digest torrent_of(const lt::torrent_alert& alert) { return digest_of(alert.handle.info_hashes()); }

std::uint64_t counter(lt::span<const std::int64_t> counters, const char* name) {
    const int index = lt::find_metric_idx(name);
    if (index < 0 || index >= static_cast<int>(counters.size())) return 0;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, counters[index]));
}

Statistics statistics_of(const lt::session_stats_alert& alert) {
    const lt::span<const std::int64_t> counters = alert.counters();
    return {.bytes_up = counter(counters, "net.sent_bytes"),
            .bytes_down = counter(counters, "net.recv_bytes"),
            .dht_nodes = counter(counters, "dht.dht_nodes"),
            .connections = counter(counters, "peer.num_peers_connected"),
            .handshakes = counter(counters, "ses.num_incoming_ext_handshake"),
            .reached = counter(counters, "net.has_incoming_connections") != 0};
}

ResumeSaved resume_of(const lt::save_resume_data_alert& alert) {
    const std::vector<char> text = lt::write_resume_data_buf(alert.params);
    const ByteSpan bytes = as_bytes({text.data(), text.size()});
    return {torrent_of(alert), {bytes.begin(), bytes.end()}};
}

void append_progress(const lt::state_update_alert& alert, std::vector<Event>& out) {
    for (const lt::torrent_status& status : alert.status) {
        out.push_back(
            Progress{.torrent = digest_of(status.info_hashes),
                     .share = status.progress_ppm / 1e6,
                     .bytes_down = static_cast<std::uint64_t>(std::max<std::int64_t>(0, status.total_payload_download)),
                     .peers = static_cast<std::uint32_t>(std::max(0, status.num_peers))});
    }
}

void append_event(const lt::alert& alert, std::vector<Event>& out) {
    using lt::alert_cast;
    if (const auto* metadata = alert_cast<lt::metadata_received_alert>(&alert)) {
        out.push_back(MetadataArrived{torrent_of(*metadata)});
    } else if (const auto* checked = alert_cast<lt::torrent_checked_alert>(&alert)) {
        out.push_back(Checked{torrent_of(*checked)});
    } else if (const auto* finished = alert_cast<lt::torrent_finished_alert>(&alert)) {
        out.push_back(Finished{torrent_of(*finished)});
    } else if (const auto* flushed = alert_cast<lt::cache_flushed_alert>(&alert)) {
        out.push_back(Flushed{torrent_of(*flushed)});
    } else if (const auto* file = alert_cast<lt::file_error_alert>(&alert)) {
        out.push_back(
            TorrentFailed{torrent_of(*file), error_of(file->error, file->filename()), TorrentFailed::Cause::other});
    } else if (const auto* failed = alert_cast<lt::torrent_error_alert>(&alert)) {
        const bool inconsistent = failed->error == lt::errors::torrent_inconsistent_hashes;
        out.push_back(
            TorrentFailed{torrent_of(*failed), error_of(failed->error, failed->filename()),
                          inconsistent ? TorrentFailed::Cause::inconsistent_hashes : TorrentFailed::Cause::other});
    } else if (const auto* metadata_failed = alert_cast<lt::metadata_failed_alert>(&alert)) {
        out.push_back(TorrentFailed{torrent_of(*metadata_failed),
                                    error_of(metadata_failed->error, "a blob's description"),
                                    TorrentFailed::Cause::other});
    } else if (const auto* resume = alert_cast<lt::save_resume_data_alert>(&alert)) {
        out.push_back(resume_of(*resume));
    } else if (const auto* unsaved = alert_cast<lt::save_resume_data_failed_alert>(&alert)) {
        out.push_back(ResumeSaved{torrent_of(*unsaved), {}});
    } else if (const auto* deleted = alert_cast<lt::torrent_deleted_alert>(&alert)) {
        out.push_back(FilesDeleted{digest_of(deleted->info_hashes)});
    } else if (const auto* undeleted = alert_cast<lt::torrent_delete_failed_alert>(&alert)) {
        out.push_back(FilesDeleted{digest_of(undeleted->info_hashes)});
    } else if (const auto* progress = alert_cast<lt::state_update_alert>(&alert)) {
        append_progress(*progress, out);
    } else if (const auto* listening = alert_cast<lt::listen_succeeded_alert>(&alert)) {
        out.push_back(Listening{.address = listening->address,
                                .port = static_cast<std::uint16_t>(listening->port),
                                .tcp = listening->socket_type == lt::socket_type_t::tcp});
    } else if (const auto* deaf = alert_cast<lt::listen_failed_alert>(&alert)) {
        out.push_back(ListenFailed{error_of(deaf->error, "port " + std::to_string(deaf->port))});
    } else if (const auto* outside = alert_cast<lt::external_ip_alert>(&alert)) {
        out.push_back(SeenFromOutside{outside->external_address});
    } else if (const auto* mapped = alert_cast<lt::portmap_alert>(&alert)) {
        if (mapped->map_protocol == lt::portmap_protocol::tcp)
            out.push_back(PortMapped{
                .port = static_cast<std::uint16_t>(mapped->external_port),
                .by = mapped->map_transport == lt::portmap_transport::upnp ? PortMapper::upnp : PortMapper::nat_pmp});
    } else if (const auto* statistics = alert_cast<lt::session_stats_alert>(&alert)) {
        out.push_back(statistics_of(*statistics));
    } else if (const auto* reply = alert_cast<lt::dht_get_peers_reply_alert>(&alert)) {
        PeersFound found{.key = {}, .peers = reply->peers()};
        std::copy_n(reinterpret_cast<const std::byte*>(reply->info_hash.data()), found.key.size(), found.key.begin());
        out.push_back(std::move(found));
    } else if (alert_cast<lt::alerts_dropped_alert>(&alert) != nullptr) {
        out.push_back(AlertsLost{});
    }
}

}  // namespace

std::vector<Event> events_of(const std::vector<lt::alert*>& alerts) {
    std::vector<Event> events;
    for (const lt::alert* alert : alerts) append_event(*alert, events);
    return events;
}

Error error_of(const lt::error_code& code, const std::string& what) {
    if (code == errc::no_space_on_device) {
        return {ErrorCode::no_space,
                "The disk is full: free some space or move Potluck's data to another; it goes on by itself (" + what +
                    ")."};
    }
    if (code == errc::permission_denied || code == errc::operation_not_permitted ||
        code == errc::read_only_file_system) {
        return {ErrorCode::permission,
                "Potluck may not use " + what + ": allow it, or choose another data folder or port."};
    }
    if (code == errc::address_in_use) {
        return {ErrorCode::already_exists, "Another program uses " + what + ": close it or choose another port."};
    }
    if (code == errc::no_such_file_or_directory) {
        return {ErrorCode::not_found, "A file that was being shared is gone: " + what + "."};
    }
    return {ErrorCode::io, "Something went wrong with " + what + ": " + code.message() + "."};
}

}  // namespace potluck::net

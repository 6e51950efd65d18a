// One table of addresses (redial.h), whatever told them: hints of the invite, members of earlier times, the DHT. An
// address is tried for as long as this object lives, because the hints may be all that an invite has.
//
// Addresses from the DHT are taken up to attempts_max and push out no others. Names are looked up on the network thread
// every minute, since home addresses change; the answer lands in Resolved, which outlives this object while a look-up
// is under way, and is taken at the next tick. The file of remembered members is read as a stranger's: short, numeric
// addresses only.
#include "net/discovery.h"

#include <algorithm>
#include <mutex>
#include <system_error>
#include <utility>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "core/base/files.h"
#include "core/base/log.h"

namespace potluck::net {

namespace {

constexpr Duration look_up_interval{60'000};
constexpr std::uint64_t file_bytes_max = 64 * 1024;
constexpr std::size_t addresses_per_name_max = 8;

}  // namespace

/// Filled by the network thread. Outlives the discovery if a look-up is still under way.
struct Discovery::Resolved {
    explicit Resolved(lt::io_context& io) : resolver(io) {}
    std::mutex mutex;
    std::vector<Endpoint> found;
    boost::asio::ip::tcp::resolver resolver;
};

std::optional<Endpoint> numeric_endpoint(const run::PeerHint& hint) {
    boost::system::error_code failure;
    const boost::asio::ip::address address = boost::asio::ip::make_address(hint.host, failure);
    if (failure || hint.port == 0) return std::nullopt;
    return Endpoint(address, hint.port);
}

Discovery::Discovery(Engine& engine, std::filesystem::path file, std::uint64_t seed, Connect connect)
    : m_engine(engine),
      m_file(std::move(file)),
      m_connect(std::move(connect)),
      m_redial(seed),
      m_resolved(std::make_shared<Resolved>(engine.io())) {
    load();
}

Discovery::~Discovery() { save(); }

void Discovery::load() {
    if (m_file.empty()) return;
    const Result<Bytes> bytes = read_file(m_file, file_bytes_max);
    if (!bytes.ok()) return;
    std::string_view rest = as_text(*bytes);
    while (!rest.empty() && m_remembered.size() < remembered_max) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        const std::size_t blank = line.find(' ');
        if (blank == std::string_view::npos || blank + 6 < line.size()) continue;
        int port = 0;
        for (const char digit : line.substr(blank + 1))
            port = digit >= '0' && digit <= '9' ? port * 10 + (digit - '0') : 100'000;
        if (port < 1 || port > 65'535) continue;
        const run::PeerHint hint{.host = std::string(line.substr(0, blank)), .port = static_cast<std::uint16_t>(port)};
        if (const std::optional<Endpoint> endpoint = numeric_endpoint(hint)) {
            m_remembered.push_back(*endpoint);
            m_redial.add(*endpoint);
        }
    }
}

void Discovery::add_hints(const std::vector<run::PeerHint>& hints) {
    m_owner.check();
    for (const run::PeerHint& hint : hints) {
        if (const std::optional<Endpoint> endpoint = numeric_endpoint(hint)) {
            m_redial.add_hint(*endpoint);
            m_redial.renew(*endpoint);
        } else if (m_engine.uses_proxy()) {
            log::of("net").warn("An address of the invite is a name, which a proxy cannot look up; others are tried.");
        } else if (m_names.size() < run::invite_hints_max) {
            m_names.push_back(hint);
            look_up(hint);
        }
    }
}

void Discovery::add_found(const std::vector<Endpoint>& found) {
    m_owner.check();
    for (const Endpoint& each : found) {
        if (m_redial.size() < attempts_max) m_redial.add(each);
    }
}

void Discovery::met(const PeerId& member, const std::vector<Endpoint>& addresses) {
    m_owner.check();
    m_redial.met(member, addresses);
    for (const Endpoint& address : addresses) remember(address);
}

void Discovery::need(const std::set<PeerId>& deciders, const std::vector<PeerId>& missed, TimePoint now) {
    m_owner.check();
    m_redial.need(deciders, missed, now);
}

void Discovery::remember(const Endpoint& member) {
    const auto found = std::find(m_remembered.begin(), m_remembered.end(), member);
    if (found != m_remembered.end())
        m_remembered.erase(found);
    else
        m_changed = true;
    m_remembered.push_back(member);
    if (m_remembered.size() > remembered_max) {
        m_redial.remove(m_remembered.front());
        m_remembered.erase(m_remembered.begin());
    }
    m_redial.renew(member);
}

const std::set<Endpoint>& Discovery::hints() const {
    m_owner.check();
    return m_redial.hints();
}

void Discovery::look_up(const run::PeerHint& hint) {
    m_engine.post([resolved = m_resolved, hint] {
        resolved->resolver.async_resolve(
            hint.host, std::to_string(hint.port),
            [resolved](const boost::system::error_code& failure, const auto& results) {
                if (failure) return;
                const std::lock_guard lock(resolved->mutex);
                for (const auto& each : results) {
                    if (resolved->found.size() < addresses_per_name_max * run::invite_hints_max)
                        resolved->found.push_back(each.endpoint());
                }
            });
    });
}

void Discovery::tick(TimePoint now, Redial::Whom whom, const std::function<bool(const Endpoint&)>& is_connected) {
    m_owner.check();
    {
        const std::lock_guard lock(m_resolved->mutex);
        for (const Endpoint& found : std::exchange(m_resolved->found, {})) m_redial.add_hint(found);
    }
    for (const Endpoint& endpoint : m_redial.due(now, whom, is_connected))
        m_connect(endpoint, m_redial.is_urgent(endpoint) ? Urgency::urgent : Urgency::ordinary);
    if (m_next_look_up <= now) {
        m_next_look_up = now + look_up_interval;
        for (const run::PeerHint& name : m_names) look_up(name);
    }
    if (m_changed && !m_save_at) m_save_at = now + save_new_after;
    if (m_save_at && now >= *m_save_at) save();
}

void Discovery::save() {
    m_owner.check();
    m_save_at.reset();
    if (!m_changed || m_file.empty()) return;
    m_changed = false;
    std::string text;
    for (const Endpoint& each : m_remembered)
        text += each.address().to_string() + " " + std::to_string(each.port()) + "\n";
    if (Status written = write_file_atomically(m_file, as_bytes(text)); !written.ok()) {
        log::of("net").warn("{}", written.error().message);
    }
}

}  // namespace potluck::net

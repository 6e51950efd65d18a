// How much goes over the connections with others. The network thread counts where libtorrent sends and receives; the
// node's collects every few seconds. A connection is known by the endpoint at which its other end can be dialled; whose
// computer that is, ../neighbours.h knows.
//
// What messages and blobs consist of is counted, not what BitTorrent, TCP and IP add to it.
// Threads: FlowCount and FlowBook::begin any; FlowBook::collect the node's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <libtorrent/socket.hpp>

#include "core/base/mailbox.h"
#include "core/base/thread_owner.h"

namespace potluck::net {

struct Carried {
    std::uint64_t sent = 0, received = 0;
    void operator+=(const Carried& more) {
        sent += more.sent;
        received += more.received;
    }
};

struct FlowCount {
    std::atomic<std::uint64_t> sent{0}, received{0};
    /// Since the last call.
    [[nodiscard]] Carried take() { return {sent.exchange(0), received.exchange(0)}; }
};

/// One connection of a blob.
struct BlobFlow {
    lt::tcp::endpoint at;
    FlowCount count;
    std::atomic<bool> over{false};
};

/// Connections of blobs that are counted at once; those beyond are not. libtorrent has 200 unless it is told otherwise.
inline constexpr std::size_t flows_max = 4'096;

class FlowBook {
public:
    /// `flow` has its endpoint, which does not change any more.
    void begin(std::shared_ptr<BlobFlow> flow);
    /// By endpoint, since the last call.
    [[nodiscard]] std::map<lt::tcp::endpoint, Carried> collect();

private:
    ThreadOwner m_owner;
    Mailbox<std::shared_ptr<BlobFlow>> m_fresh{flows_max};
    std::vector<std::shared_ptr<BlobFlow>> m_open;
};

}  // namespace potluck::net

#include "net/links/flow.h"

#include <utility>

namespace potluck::net {

/// A full mailbox drops it: what nobody collects is not kept.
void FlowBook::begin(std::shared_ptr<BlobFlow> flow) { static_cast<void>(m_fresh.post(std::move(flow))); }

std::map<lt::tcp::endpoint, Carried> FlowBook::collect() {
    m_owner.check();
    for (std::shared_ptr<BlobFlow>& flow : m_fresh.take_all()) {
        if (m_open.size() < flows_max) m_open.push_back(std::move(flow));
    }
    std::map<lt::tcp::endpoint, Carried> carried;
    std::erase_if(m_open, [&](const std::shared_ptr<BlobFlow>& flow) {
        const bool is_over = flow->over;  // asked first, so that its last bytes still count
        if (const Carried since = flow->count.take(); since.sent + since.received > 0) carried[flow->at] += since;
        return is_over;
    });
    return carried;
}

}  // namespace potluck::net

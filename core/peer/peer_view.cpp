#include "core/peer/peer_view.h"

#include <algorithm>
#include <utility>

namespace potluck::peer {

std::vector<MemberView> member_views(MemberView self, const Members& members, const std::vector<PeerId>& seats) {
    std::vector<MemberView> views;
    views.reserve(members.all().size() + 1);
    views.push_back(std::move(self));
    for (const auto& [peer, member] : members.all()) {
        MemberView& view = views.emplace_back(MemberView{.id = peer, .status = member.status});
        view.is_connected = members.is_neighbour(peer);
        if (!view.is_connected) view.through = member.through;
    }
    for (MemberView& view : views) view.is_seated = std::ranges::find(seats, view.id) != seats.end();
    return views;
}

Beyond members_beyond(const Members& members, const PeerId& self, const run::AcceptList* newest, Duration window) {
    Beyond beyond;
    if (newest == nullptr || !members.is_sample()) return beyond;
    std::uint64_t tokens = 0;
    for (const run::Accepted& entry : newest->entries) {
        if (entry.peer == self || members.all().contains(entry.peer)) continue;
        ++beyond.members;
        tokens += entry.tokens.value;
    }
    beyond.tokens_per_second = static_cast<double>(tokens) / std::chrono::duration<double>(window).count();
    return beyond;
}

}  // namespace potluck::peer

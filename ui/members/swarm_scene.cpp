// A snapshot may have ten thousand members, of whom a few hundred are drawn: all are looked at once, for the counts and
// the ranks, and words are made for those alone that have a place.
//
// Who has a seat, then backbones, then those with a session of their own are placed first: where room is short, the
// picture leaves out who is only heard of. Names are placed one by one, from the middle outwards, each where it covers
// neither a member nor another name; who has none is read out when it is pointed at.
#include "ui/members/swarm_scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "ui/members/member_words.h"

namespace potluck::ui {

namespace {

/// In lines of text: what a member and the space around it need at least, and what a member takes where there is room.
constexpr double ring_lines_min = 1.35, radius_lines_max = 1.05;
constexpr double radius_pixels_min = 5;
/// A member's radius, as a share of the distance between two rings.
constexpr double radius_share = 0.3;
/// A wide page does not pull the rings into lines.
constexpr double stretch_max = 2.0;
constexpr double name_lines_max = 7;
constexpr double point_slack = 5;

int rankOf(const control::MemberRow& member) {
    if (member.seat) return 0;
    if (member.role == run::Role::backbone) return 1;
    return member.connected ? 2 : 3;
}

using ByKey = std::unordered_map<std::string_view, const control::MemberRow*>;

void count(SwarmScene& scene, const control::MemberRow& member) {
    ++scene.others;
    scene.direct += member.connected;
    switch (doingOf(member)) {
        case Doing::trains: ++scene.training; break;
        case Doing::passes_on: ++scene.passing_on; break;
        case Doing::silent: ++scene.silent; break;
    }
}

SwarmNode nodeOf(const control::MemberRow& member, const ByKey& direct, const std::string& ownPerson) {
    SwarmNode node;
    node.key = member.id;
    node.name = memberName(member);
    node.doing = doingOf(member);
    node.is_self = member.self;
    node.is_backbone = member.role == run::Role::backbone;
    node.has_seat = member.seat;
    node.is_direct = member.connected;
    node.sent = member.sent_per_second;
    node.received = member.received_per_second;
    const auto through = member.through ? direct.find(*member.through) : direct.end();
    node.line = memberLine(member, through == direct.end() ? QString() : memberName(*through->second), ownPerson);
    return node;
}

/// Who brings news of whom, where both are drawn.
void connectNodes(SwarmScene& scene, const ByKey& all) {
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t i = 1; i < scene.nodes.size(); ++i) places[scene.nodes[i].key] = i;
    for (SwarmNode& node : scene.nodes) {
        const auto row = all.find(node.key);
        if (row == all.end() || node.is_direct || !row->second->through) continue;
        if (const auto found = places.find(*row->second->through); found != places.end()) node.through = found->second;
    }
}

QRectF discOf(const SwarmNode& node, double radius) {
    return {node.at.x() - radius, node.at.y() - radius, 2 * radius, 2 * radius};
}

/// Where its name may stand: on the side that looks away from the middle, beside it, and on the other side.
std::array<QRectF, 4> labelsOf(const SwarmNode& node, const QSizeF& size, const QRectF& area, double radius) {
    const double gap = radius + (node.has_seat ? 4 : 1);
    const double left =
        std::clamp(node.at.x() - size.width() / 2, area.left(), std::max(area.left(), area.right() - size.width()));
    const double middle = node.at.y() - size.height() / 2;
    const QRectF above(QPointF(left, node.at.y() - gap - size.height()), size);
    const QRectF below(QPointF(left, node.at.y() + gap), size);
    const QRectF before(QPointF(node.at.x() - gap - 2 - size.width(), middle), size);
    const QRectF behind(QPointF(node.at.x() + gap + 2, middle), size);
    const bool is_above = !node.is_self && node.at.y() < area.center().y() - 1;
    const bool is_before = node.at.x() < area.center().x() - 1;
    return {is_above ? above : below, is_before ? before : behind, is_before ? behind : before,
            is_above ? below : above};
}

}  // namespace

Doing doingOf(const control::MemberRow& member) {
    switch (member.phase) {
        case run::Phase::joining:
        case run::Phase::paused:
        case run::Phase::leaving: return Doing::silent;
        case run::Phase::finished: return Doing::passes_on;
        case run::Phase::training:
        case run::Phase::collecting:
        case run::Phase::applying:
        case run::Phase::repairing: break;
    }
    return member.role == run::Role::backbone ? Doing::passes_on : Doing::trains;
}

int ringsIn(const QSizeF& area, double line) {
    const double room = std::min(area.width(), area.height()) / 2 - radius_pixels_min - line;
    return std::clamp(static_cast<int>(room / (ring_lines_min * std::max(1.0, line))), 1, swarm_rings_max);
}

SwarmPlaces placesOf(const std::vector<control::MemberRow>& members, const SwarmPlaces& before, int rings) {
    std::vector<SwarmGuest> guests;
    guests.reserve(members.size());
    for (const control::MemberRow& member : members) {
        if (!member.self) guests.push_back({member.id, rankOf(member)});
    }
    return arrange(before, std::move(guests), rings);
}

SwarmScene sceneOf(const std::vector<control::MemberRow>& members, const SwarmPlaces& places) {
    SwarmScene scene;
    ByKey drawn, direct;
    const control::MemberRow* self = nullptr;
    for (const control::MemberRow& member : members) {
        if (member.self) {
            self = &member;
            continue;
        }
        count(scene, member);
        if (member.connected) direct.emplace(member.id, &member);
        if (places.contains(member.id)) drawn.emplace(member.id, &member);
    }
    if (self == nullptr) return scene;
    scene.nodes.push_back(nodeOf(*self, direct, personOf(*self)));
    for (const auto& [key, row] : drawn) {
        scene.nodes.push_back(nodeOf(*row, direct, personOf(*self)));
        scene.nodes.back().place = places.find(key)->second;
    }
    std::sort(scene.nodes.begin() + 1, scene.nodes.end(),
              [](const SwarmNode& a, const SwarmNode& b) { return a.place < b.place; });
    connectNodes(scene, drawn);
    scene.rings = ringsOf(places);
    scene.rest = scene.others - static_cast<int>(drawn.size());
    return scene;
}

void layOut(SwarmScene& scene, const QRectF& area, const QFontMetricsF& metrics) {
    const double line = metrics.height(), rings = scene.rings;
    const double room = std::min(area.width(), area.height()) / 2 - line;
    scene.radius = std::clamp(radius_share * room / rings, radius_pixels_min, radius_lines_max * line);
    const double high = std::max(1.0, area.height() / 2 - scene.radius - line - 5);
    const double wide = std::clamp(area.width() / 2 - scene.radius - 1.5 * line, 1.0, stretch_max * high);
    for (SwarmNode& node : scene.nodes) {
        const QPointF unit = node.is_self ? QPointF() : pointOf(node.place, scene.rings);
        node.at = area.center() + QPointF(wide * unit.x(), high * unit.y());
    }
    std::vector<QRectF> used;
    for (const SwarmNode& node : scene.nodes) used.push_back(discOf(node, scene.radius));
    for (std::size_t i = 0; i < scene.nodes.size(); ++i) {
        SwarmNode& node = scene.nodes[i];
        node.shown.clear();
        const QString shown = metrics.elidedText(node.name, Qt::ElideRight, name_lines_max * line);
        for (const QRectF& label : labelsOf(node, {metrics.horizontalAdvance(shown) + 4, line}, area, scene.radius)) {
            std::size_t other = 0;
            while (other < used.size() && (other == i || !used[other].intersects(label))) ++other;
            if (other < used.size() || !area.contains(label)) continue;
            node.shown = shown;
            node.label = label;
            used.push_back(label);
            break;
        }
    }
}

int nodeAt(const SwarmScene& scene, const QPointF& point) {
    int nearest = -1;
    double best = scene.radius + point_slack;
    for (std::size_t i = 0; i < scene.nodes.size(); ++i) {
        const QPointF away = scene.nodes[i].at - point;
        const double distance = std::hypot(away.x(), away.y());
        if (distance > best) continue;
        nearest = static_cast<int>(i);
        best = distance;
    }
    return nearest;
}

}  // namespace potluck::ui

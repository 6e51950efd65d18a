// show() decides who is drawn and where (swarm_places.h, swarm_scene.h); a change of size moves positions alone, and
// asks to be shown again where more or fewer rings fit. Painting goes from back to front: lines, members, names,
// legend, read-out.
//
// The legend explains the signs that are in the picture, and no others. It stands in the direction of the language; the
// places of members do not, for a ring has no beginning.
//
// The member that is pointed at is kept by its key: others may come and go while it is read. It is the widget's
// description then, which screen readers hear; without one the description is a sentence about all members.
#include "ui/members/swarm_picture.h"

#include <algorithm>
#include <cmath>

#include <QAccessible>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QStyle>

#include "ui/members/swarm_strokes.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

namespace {

constexpr double legend_share_max = 1.0 / 3;
constexpr double flow_opacity = 0.65, hearsay_opacity = 0.55;
constexpr double full_radius = 14;  // of members whose lines are as wide as they can be

QColor lineColour(double opacity) {
    QColor colour = colourOf(QPalette::PlaceholderText);
    colour.setAlphaF(static_cast<float>(opacity));
    return colour;
}

/// From the edge of one member to that of another.
QLineF between(const SwarmNode& from, const SwarmNode& to, double radius) {
    QLineF line(from.at, to.at);
    if (line.length() <= 2 * radius) return {};
    const QPointF step(radius * (line.dx() / line.length()), radius * (line.dy() / line.length()));
    return {line.p1() + step, line.p2() - step};
}

}  // namespace

SwarmPicture::SwarmPicture(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setAccessibleName(tr("Picture of the members"));
    describe();
}

int SwarmPicture::rings() const { return ringsIn(size(), QFontMetricsF(smallFont(*this)).height()); }

void SwarmPicture::show(const std::vector<control::MemberRow>& members) {
    const std::string pointed = m_pointed < 0 ? std::string() : m_scene.nodes[static_cast<std::size_t>(m_pointed)].key;
    m_rings = rings();
    m_places = placesOf(members, m_places, m_rings);
    m_scene = sceneOf(members, m_places);
    const auto found = std::ranges::find(m_scene.nodes, pointed, &SwarmNode::key);
    const bool is_here = m_pointed >= 0 && found != m_scene.nodes.end();
    m_pointed = is_here ? static_cast<int>(found - m_scene.nodes.begin()) : -1;
    fillLegend();
    place();
    describe();
}

void SwarmPicture::place() {
    m_legendHeight = placeLegend();
    layOut(m_scene, QRectF(rect()).adjusted(4, 4, -4, -4 - m_legendHeight), QFontMetricsF(smallFont(*this)));
    update();
}

QString SwarmPicture::readOut() const {
    return m_pointed < 0 ? QString() : m_scene.nodes[static_cast<std::size_t>(m_pointed)].line;
}

QString SwarmPicture::restText() const {
    return m_scene.rest > 0 ? tr("and %n more", nullptr, m_scene.rest) : QString();
}

void SwarmPicture::describe() {
    if (m_pointed >= 0) return setAccessibleDescription(readOut());
    if (m_scene.others == 0) return setAccessibleDescription(tr("Nobody else is here."));
    const QString doing = tr("training: %1, passing on: %2, silent: %3")
                              .arg(m_scene.training)
                              .arg(m_scene.passing_on)
                              .arg(m_scene.silent);
    const QString way = tr("with a direct connection: %1, heard of through others: %2")
                            .arg(m_scene.direct)
                            .arg(m_scene.others - m_scene.direct);
    setAccessibleDescription(tr("This computer and %n other(s); %1; %2.", nullptr, m_scene.others).arg(doing, way));
}

void SwarmPicture::fillLegend() {
    m_legend.clear();
    const auto any = [&](auto&& holds) { return std::ranges::any_of(m_scene.nodes, holds); };
    const auto add = [&](const QString& text, SwarmNode sign, Entry::Line line = Entry::Line::none) {
        m_legend.push_back({text, std::move(sign), line, {}});
    };
    const auto does = [&](Doing doing, const QString& text) {
        const auto fits = [&](const SwarmNode& node) {
            return node.doing == doing && !node.is_backbone && !node.is_self;
        };
        if (!any(fits)) return;
        SwarmNode sign;
        sign.doing = doing;
        add(text, sign);
    };
    SwarmNode self;
    self.is_self = true;
    self.doing = Doing::trains;
    if (!m_scene.nodes.empty()) add(tr("this computer"), self);
    does(Doing::trains, tr("trains"));
    does(Doing::passes_on, tr("passes on"));
    does(Doing::silent, tr("silent"));
    SwarmNode backbone;
    backbone.doing = Doing::passes_on;
    backbone.is_backbone = true;
    if (any([](const SwarmNode& node) { return node.is_backbone; })) add(tr("relay"), backbone);
    SwarmNode seated;
    seated.doing = Doing::passes_on;
    seated.has_seat = true;
    if (any([](const SwarmNode& node) { return node.has_seat; })) add(tr("confirms rounds"), seated);
    if (any([](const SwarmNode& node) { return node.is_direct; }))
        add(tr("direct: the wide end gives"), {}, Entry::Line::direct);
    if (any([](const SwarmNode& node) { return !node.is_self && !node.is_direct; }))
        add(tr("through others"), {}, Entry::Line::hearsay);
}

double SwarmPicture::placeLegend() {
    const QFontMetricsF metrics(smallFont(*this));
    const double line = metrics.height(), sign = 1.6 * line, gap = line, left = grid;
    std::vector<Entry*> entries;
    for (Entry& entry : m_legend) entries.push_back(&entry);
    double x = left, y = 0;
    const double right = width() - grid - metrics.horizontalAdvance(restText()) - gap;
    for (Entry* entry : entries) {
        const double wanted = sign + metrics.horizontalAdvance(entry->text) + 4;
        if (x > left && x + wanted > right) {
            x = left;
            y += line + 2;
        }
        entry->box = QRectF(x, y, wanted, line);
        x += wanted + gap;
    }
    double high = m_legend.empty() ? 0 : y + line;
    if (high > legend_share_max * height()) {
        m_legend.clear();
        high = 0;
    }
    if (high <= 0 && m_scene.rest > 0) high = line;
    for (Entry& entry : m_legend) entry.box.translate(0, height() - 4 - high);
    return high > 0 ? high + 4 : 0;
}

void SwarmPicture::pointAt(int node) {
    if (node == m_pointed) return;
    m_pointed = node;
    describe();
    QAccessibleEvent event(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
    update();
}

void SwarmPicture::resizeEvent(QResizeEvent*) {
    fillLegend();
    place();
    if (rings() != m_rings) emit roomChanged();
}

void SwarmPicture::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange || event->type() == QEvent::LayoutDirectionChange) place();
    QWidget::changeEvent(event);
}

void SwarmPicture::mouseMoveEvent(QMouseEvent* event) { pointAt(nodeAt(m_scene, event->position())); }

void SwarmPicture::leaveEvent(QEvent*) { pointAt(-1); }

void SwarmPicture::focusOutEvent(QFocusEvent* event) {
    pointAt(-1);
    QWidget::focusOutEvent(event);
}

void SwarmPicture::keyPressEvent(QKeyEvent* event) {
    const int last = static_cast<int>(m_scene.nodes.size()) - 1;
    const int forth = layoutDirection() == Qt::RightToLeft ? -1 : 1;
    int next = 0;
    switch (event->key()) {
        case Qt::Key_Right: next = m_pointed < 0 ? 0 : m_pointed + forth; break;
        case Qt::Key_Left: next = m_pointed < 0 ? 0 : m_pointed - forth; break;
        case Qt::Key_Down: next = m_pointed + 1; break;
        case Qt::Key_Up: next = m_pointed < 0 ? 0 : m_pointed - 1; break;
        case Qt::Key_Home: next = 0; break;
        case Qt::Key_End: next = last; break;
        default: QWidget::keyPressEvent(event); return;
    }
    if (last >= 0) pointAt(std::clamp(next, 0, last));
}

void SwarmPicture::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(smallFont(*this));
    paintLines(painter);
    QFont bold = painter.font();
    bold.setWeight(QFont::Bold);
    painter.setFont(bold);
    for (const SwarmNode& node : m_scene.nodes)
        drawMember(painter, node, m_scene.radius, node.name.isEmpty() ? QChar() : node.name.front().toUpper());
    painter.setFont(smallFont(*this));
    paintNames(painter);
    paintLegend(painter);
    paintReadOut(painter);
    paintFocus(painter, *this);
}

/// Dashed lines lie behind the others, and that of the member that is pointed at on top. In a crowd there are hundreds,
/// which meet in a few members: the more rings, the fainter they are.
void SwarmPicture::paintLines(QPainter& painter) const {
    const std::vector<SwarmNode>& nodes = m_scene.nodes;
    const double scale = std::clamp(m_scene.radius / full_radius, 0.5, 1.0);
    const auto draw = [&](std::size_t place, const QColor& colour) {
        const SwarmNode& node = nodes[place];
        const QLineF line = between(nodes[node.is_direct ? 0 : node.through], node, m_scene.radius);
        if (node.is_direct)
            drawFlow(painter, line, {node.sent, node.received}, scale, colour);
        else
            drawHearsay(painter, line, colour);
    };
    const double faint = hearsay_opacity / std::sqrt(std::max(1, m_scene.rings - 1));
    for (const bool direct : {false, true}) {
        for (std::size_t i = 1; i < nodes.size(); ++i) {
            if (nodes[i].is_direct == direct) draw(i, lineColour(direct ? flow_opacity : faint));
        }
    }
    if (m_pointed > 0) draw(static_cast<std::size_t>(m_pointed), colourOf(QPalette::Text));
}

void SwarmPicture::paintNames(QPainter& painter) const {
    QColor behind = colourOf(QPalette::Base);
    behind.setAlphaF(0.8F);
    for (const SwarmNode& node : m_scene.nodes) {
        if (node.shown.isEmpty()) continue;
        painter.fillRect(node.label, behind);
        painter.setPen(colourOf(node.doing == Doing::silent ? QPalette::PlaceholderText : QPalette::Text));
        painter.drawText(node.label, Qt::AlignCenter, node.shown);
    }
}

void SwarmPicture::paintLegend(QPainter& painter) const {
    const double line = painter.fontMetrics().height();
    const auto mirrored = [&](const QRectF& box) {
        return isRightToLeft() ? QRectF(width() - box.right(), box.y(), box.width(), box.height()) : box;
    };
    for (const Entry& entry : m_legend) {
        const QRectF sign = mirrored({entry.box.left(), entry.box.top(), 1.4 * line, line});
        const QLineF stroke(sign.left(), sign.center().y(), sign.right(), sign.center().y());
        if (entry.line == Entry::Line::direct) {
            drawFlow(painter, stroke, {5'000'000, 0}, 1, lineColour(flow_opacity));
        } else if (entry.line == Entry::Line::hearsay) {
            drawHearsay(painter, stroke, lineColour(hearsay_opacity));
        } else {
            SwarmNode node = entry.sign;
            node.at = sign.center();
            drawMember(painter, node, (node.has_seat ? 0.2 : 0.32) * line, {});
        }
        painter.setPen(colourOf(QPalette::PlaceholderText));
        painter.drawText(mirrored(entry.box.adjusted(1.6 * line, 0, 0, 0)), Qt::AlignCenter, entry.text);
    }
    const QRectF rest(grid, height() - 4 - line, width() - 2 * grid, line);
    painter.setPen(colourOf(QPalette::Text));
    painter.drawText(rest, (isRightToLeft() ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter, restText());
    if (m_scene.others > 0) return;
    painter.setPen(colourOf(QPalette::PlaceholderText));
    painter.drawText(QRectF(rect()).adjusted(grid, height() / 2.0 + 3 * line, -grid, 0), Qt::AlignHCenter,
                     tr("Nobody else is here."));
}

/// In the place of the legend, or at the top if the member stands there.
void SwarmPicture::paintReadOut(QPainter& painter) const {
    if (m_pointed < 0) return;
    const SwarmNode& node = m_scene.nodes[static_cast<std::size_t>(m_pointed)];
    drawPointer(painter, node, m_scene.radius);
    const QRectF room(0, 0, width() - 4.0 * grid, height());
    const QRectF text = painter.boundingRect(room, Qt::AlignCenter | Qt::TextWordWrap, node.line);
    QRectF box(grid / 2.0, 0, width() - grid, std::max(text.height() + grid / 2.0, m_legendHeight));
    box.moveBottom(height() - grid / 2.0);
    if (node.at.y() + m_scene.radius + 3 > box.top()) box.moveTop(grid / 2.0);
    painter.setPen(QPen(colourOf(QPalette::Mid), 1));
    painter.setBrush(colourOf(QPalette::Window));
    painter.drawRoundedRect(box, 6, 6);
    painter.setPen(colourOf(QPalette::Text));
    painter.drawText(box.adjusted(1.5 * grid, 0, -1.5 * grid, 0), Qt::AlignCenter | Qt::TextWordWrap, node.line);
}

}  // namespace potluck::ui

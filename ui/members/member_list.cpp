#include "ui/members/member_list.h"

#include <algorithm>

#include <QGuiApplication>
#include <QPainter>

#include "ui/members/member_words.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

namespace {

constexpr std::size_t members_shown_max = 500;

bool comesBefore(const control::MemberRow& a, const control::MemberRow& b) {
    if (a.self != b.self) return a.self;
    if (a.role != b.role) return a.role == run::Role::volunteer;
    if (a.name != b.name) return a.name < b.name;
    return a.id < b.id;
}

}  // namespace

void MemberModel::show(std::vector<control::MemberRow> members) {
    std::sort(members.begin(), members.end(), comesBefore);
    m_ownPerson = members.empty() || !members.front().self ? std::string() : personOf(members.front());
    if (members.size() > members_shown_max) members.resize(members_shown_max);
    const auto before = static_cast<int>(m_members.size());
    const auto after = static_cast<int>(members.size());
    if (after > before) beginInsertRows({}, before, after - 1);
    if (after < before) beginRemoveRows({}, after, before - 1);
    m_members = std::move(members);
    if (after > before) endInsertRows();
    if (after < before) endRemoveRows();
    if (after > 0) emit dataChanged(index(0), index(after - 1));
}

int MemberModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_members.size());
}

/// What it does, over which way, and whose it is where that cannot be seen.
QString MemberModel::detailText(const control::MemberRow& member) const {
    const QString part = partText(member);
    return withOwner(member, member.self || member.connected ? part : tr("%1, through others").arg(part), m_ownPerson);
}

QVariant MemberModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const control::MemberRow& member = m_members[static_cast<std::size_t>(index.row())];
    const bool backbone = member.role == run::Role::backbone;
    const QString name = memberName(member);
    const QString detail = detailText(member);
    const QString speed = speedText(member);
    switch (role) {
        case name_role: return name;
        case detail_role: return detail;
        case speed_role: return speed;
        case self_role: return member.self;
        case backbone_role: return backbone;
        case Qt::DisplayRole:
        case Qt::AccessibleTextRole: return QStringList{name, detail, speed}.join(QStringLiteral(", "));
        default: return {};
    }
}

QSize MemberDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const {
    return {160, std::max(5 * grid, 2 * option.fontMetrics.height() + grid + 4)};
}

void MemberDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    // The application's palette: a style sheet changes the option's.
    const QPalette palette = QGuiApplication::palette();
    const bool self = index.data(MemberModel::self_role).toBool();
    const QRect row = option.rect.adjusted(2, 1, -2, -1);
    if (option.state & (QStyle::State_Selected | QStyle::State_MouseOver)) {
        painter->setPen(Qt::NoPen);
        painter->setBrush(palette.color(QPalette::AlternateBase));
        painter->drawRoundedRect(row, grid, grid);
    }
    // A disc with the first letter for volunteers, with the chip for backbones.
    const int side = row.height() - grid - 4;
    const QRect disc(row.left() + grid / 2, row.center().y() - side / 2 + 1, side, side);
    const QString name = index.data(MemberModel::name_role).toString();
    painter->setPen(Qt::NoPen);
    painter->setBrush(palette.color(self ? QPalette::Highlight : QPalette::AlternateBase));
    painter->drawEllipse(disc);
    QFont bold = option.font;
    bold.setWeight(QFont::Bold);
    if (index.data(MemberModel::backbone_role).toBool()) {
        iconNamed(QStringLiteral("chip"), QPalette::Highlight).paint(painter, disc.adjusted(6, 6, -6, -6));
    } else {
        painter->setFont(bold);
        painter->setPen(palette.color(self ? QPalette::HighlightedText : QPalette::Highlight));
        painter->drawText(disc, Qt::AlignCenter, name.left(1).toUpper());
    }
    const QFontMetrics metrics(option.font);
    const QString speed = index.data(MemberModel::speed_role).toString();
    const int speedWidth = speed.isEmpty() ? 0 : metrics.horizontalAdvance(speed) + grid;
    // The whole first line is the name's; the speed stands behind what the member does.
    const QRect first(disc.right() + grid + 4, row.top() + (row.height() - 2 * metrics.height()) / 2,
                      row.right() - disc.right() - 2 * grid, metrics.height());
    const QRect second = first.translated(0, metrics.height());
    painter->setFont(self ? bold : option.font);
    painter->setPen(palette.color(QPalette::Text));
    painter->drawText(first, Qt::AlignLeft | Qt::AlignVCenter,
                      QFontMetrics(painter->font()).elidedText(name, Qt::ElideRight, first.width()));
    painter->setFont(option.font);
    painter->setPen(palette.color(QPalette::PlaceholderText));
    painter->drawText(second, Qt::AlignLeft | Qt::AlignVCenter,
                      metrics.elidedText(index.data(MemberModel::detail_role).toString(), Qt::ElideRight,
                                         second.width() - speedWidth));
    painter->drawText(second, Qt::AlignRight | Qt::AlignVCenter, speed);
    painter->restore();
}

}  // namespace potluck::ui

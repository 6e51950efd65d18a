#include "ui/members/members_card.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QListView>
#include <QLocale>

#include "ui/client/status_summary.h"
#include "ui/members/member_list.h"
#include "ui/members/swarm_picture.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

namespace {

const QString picture_choice = QStringLiteral("members-as-picture");

}  // namespace

MembersCard::MembersCard(NodeClient& client, const Desktop& desktop, QWidget* parent)
    : QFrame(parent), m_client(client) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    column->setContentsMargins(grid + 4, 2 * grid, grid + 4, grid);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(grid, 0, grid, 0);
    head->addWidget(makeLabel(tr("Members"), "heading", this));
    // What is short of room first, for the window tells the number elsewhere, too.
    m_count = makeLabel({}, "muted", this);
    m_count->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    head->addWidget(m_count, 1);
    auto* picture = new QCheckBox(tr("P&icture"), this);
    picture->setObjectName(QStringLiteral("membersAsPicture"));
    picture->setAccessibleDescription(tr("Draws who is here and what goes to whom, instead of a list."));
    head->addWidget(picture);
    column->addLayout(head);
    m_model = new MemberModel(this);
    m_list = new QListView(this);
    m_list->setObjectName(QStringLiteral("members"));
    m_list->setAccessibleName(tr("Members of the run"));
    m_list->setModel(m_model);
    m_list->setItemDelegate(new MemberDelegate(m_list));
    m_list->setMouseTracking(true);
    m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setMinimumHeight(12 * grid);
    column->addWidget(m_list, 1);
    m_picture = new SwarmPicture(this);
    m_picture->setObjectName(QStringLiteral("swarmPicture"));
    m_picture->hide();
    column->addWidget(m_picture, 1);
    connect(picture, &QCheckBox::toggled, this, &MembersCard::choose);
    connect(picture, &QCheckBox::clicked, this, [&desktop](bool on) { rememberChoice(desktop, picture_choice, on); });
    connect(m_picture, &SwarmPicture::roomChanged, this, &MembersCard::refresh, Qt::QueuedConnection);
    connect(&client, &NodeClient::changed, this, &MembersCard::refresh);
    // Later, so that the card's maker has connected to it by then.
    QMetaObject::invokeMethod(
        this, [picture, &desktop] { picture->setChecked(isRemembered(desktop, picture_choice)); },
        Qt::QueuedConnection);
    refresh();
}

void MembersCard::choose(bool picture) {
    m_list->setVisible(!picture);
    m_picture->setVisible(picture);
    emit pictureShown(picture);
    refresh();
}

/// Ten thousand members take their time: only the view that is chosen is told of them.
void MembersCard::refresh() {
    const NodeView& view = m_client.view();
    if (!isInRun(view)) return;
    const std::vector<control::MemberRow>& members = view.snapshot.run->members;
    m_count->setText(QLocale().toString(static_cast<qulonglong>(view.snapshot.run->members_in_all())));
    if (m_picture->isHidden())
        m_model->show(members);
    else
        m_picture->show(members);
}

}  // namespace potluck::ui

#include "ui/pages/update_card.h"

#include <QCheckBox>
#include <QHBoxLayout>

#include "ui/client/plain_text.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using control::ReleaseState;

namespace {

constexpr int word_max = 40, notes_max = 2'000;

QString newsText(const ReleaseState& state) {
    if (!state.has_key) return UpdateCard::tr("This build cannot check for updates (no release key).");
    if (!state.newer) return UpdateCard::tr("No newer version is known.");
    return UpdateCard::tr("Potluck %1 is out (%2): %3")
        .arg(plainText(state.newer->version, word_max), plainText(state.newer->date, word_max),
             plainText(state.newer->notes, notes_max));
}

}  // namespace

UpdateCard::UpdateCard(NodeClient& client, const Desktop& desktop, CardPlace place, QWidget* parent)
    : QFrame(parent), m_client(client), m_place(place) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    column->addWidget(makeLabel(tr("New versions"), "heading", this));
    m_news = makeWrappedLabel({}, "muted", this);
    m_news->setObjectName(QStringLiteral("news"));
    m_news->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    column->addWidget(m_news);
    m_open = makeButton(tr("Open its page"), iconNamed(QStringLiteral("open")), Emphasis::normal, this);
    m_open->setObjectName(QStringLiteral("openNews"));
    m_lookNow = makeButton(tr("Check now"), {}, Emphasis::normal, this);
    m_lookNow->setObjectName(QStringLiteral("lookNow"));
    auto* row = new QHBoxLayout;
    row->addWidget(m_open);
    row->addWidget(m_lookNow);
    row->addStretch(1);
    column->addLayout(row);
    m_looks = new QCheckBox(tr("Check daily"), this);
    m_looks->setObjectName(QStringLiteral("looks"));
    column->addWidget(m_looks);
    auto* told = makeWrappedLabel(tr("Potluck then fetches one small signed file. The web server that has it sees this "
                                     "computer's address, and nothing else. Nothing is ever installed by itself."),
                                  "muted", this);
    column->addWidget(told);
    for (QWidget* widget :
         {static_cast<QWidget*>(m_looks), static_cast<QWidget*>(m_lookNow), static_cast<QWidget*>(told)})
        widget->setVisible(place == CardPlace::settings);
    connect(m_open, &QPushButton::clicked, this, [this, &desktop] {
        const auto& releases = m_client.view().snapshot.releases;
        if (releases && releases->newer && desktop.open_link)
            desktop.open_link(QString::fromStdString(releases->newer->page));
    });
    connect(m_lookNow, &QPushButton::clicked, &client, &NodeClient::checkReleases);
    connect(m_looks, &QCheckBox::clicked, this, [this](bool on) {
        const auto& releases = m_client.view().snapshot.releases;
        m_client.setReleases(on, !releases || releases->passes_on);
    });
    connect(&client, &NodeClient::changed, this, &UpdateCard::refresh);
    refresh();
}

void UpdateCard::refresh() {
    const NodeView& view = m_client.view();
    const ReleaseState state = view.snapshot.releases.value_or(ReleaseState{});
    const bool known = view.link.state == Link::State::up && view.snapshot.releases.has_value();
    setVisible(m_place == CardPlace::settings || (known && state.newer.has_value()));
    m_news->setText(newsText(state));
    m_open->setVisible(state.newer && !state.newer->page.empty());
    m_looks->setChecked(state.looks);
    m_looks->setEnabled(known && state.has_key);
    m_lookNow->setEnabled(known && state.has_key && state.stage == control::ReleaseStage::none);
}

}  // namespace potluck::ui

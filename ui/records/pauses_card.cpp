#include "ui/records/pauses_card.h"

#include <algorithm>

#include <QBoxLayout>
#include <QDateTime>
#include <QLocale>

#include "core/base/clock.h"
#include "ui/client/activity_words.h"
#include "ui/widgets/parts.h"

namespace potluck::ui {

PausesCard::PausesCard(NodeClient& client, QWidget* parent) : QFrame(parent), m_client(client) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    column->addWidget(makeLabel(tr("Pauses"), "heading", this));
    m_list = makeWrappedLabel({}, "muted", this);
    m_list->setObjectName(QStringLiteral("pauses"));
    m_list->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    column->addWidget(m_list);
    connect(&client, &NodeClient::pausesChanged, this, &PausesCard::refresh);
    refresh();
}

void PausesCard::refresh() {
    const std::vector<control::EpisodeRow>& pauses = m_client.view().pauses;
    QStringList lines;
    for (auto row = pauses.rbegin(); row != pauses.rend() && lines.size() < static_cast<qsizetype>(shown_max); ++row) {
        const QDateTime began = QDateTime::fromSecsSinceEpoch(row->began);
        lines << QLocale().toString(began, QLocale::ShortFormat) + QStringLiteral("  ") +
                     episodeText(*row, unix_seconds());
    }
    m_list->setText(lines.isEmpty() ? tr("None so far.") : lines.join(QLatin1Char('\n')));
}

}  // namespace potluck::ui

// The rows are made anew only when the lists have changed, so that an answer of the node moves no focus. Titles and
// problems are strangers' words: plain text, cut to a length.
//
// A link from outside fills the field and waits; following needs the person's press, so that no web page makes a window
// believe a list.
#include "ui/find/lists_card.h"

#include <QClipboard>
#include <QDateTime>
#include <QGuiApplication>
#include <QLineEdit>
#include <QLocale>
#include <QPushButton>
#include <QUrl>
#include <QVBoxLayout>

#include "ui/client/plain_text.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/qr_code.h"
#include "ui/widgets/theme.h"
#include "ui/widgets/wrapping_row.h"

namespace potluck::ui {

using namespace control;

namespace {

constexpr int title_characters = 80, link_characters_max = 1000, text_width_min = 24 * grid;

QString titleOf(const FollowedRow& list) {
    const QString title = plainText(list.title, title_characters);
    return title.isEmpty() ? ListsCard::tr("a list without a title") : title;
}

QString dayText(std::int64_t seconds) {
    return QLocale().toString(QDateTime::fromSecsSinceEpoch(seconds).date(), QLocale::ShortFormat);
}

QString stateText(const FollowedRow& list) {
    const auto runs = static_cast<int>(std::min<std::uint64_t>(list.runs, 1'000));
    const QString named = ListsCard::tr("%n run(s)", nullptr, runs);
    const QString until = list.expired ? ListsCard::tr("expired on %1").arg(dayText(list.expires))
                                       : ListsCard::tr("holds until %1").arg(dayText(list.expires));
    QString text = named + QStringLiteral(" · ") + until;
    if (const QString problem = plainText(list.problem, 300); !problem.isEmpty())
        text += QStringLiteral(" · ") + ListsCard::tr("not renewed: %1").arg(problem);
    return text;
}

/// As ListLink::to_link() writes it (core/find/run_list.h).
QString linkOf(const FollowedRow& list) {
    const auto encoded = [](const std::string& text) {
        return QString::fromLatin1(QUrl::toPercentEncoding(QString::fromStdString(text)));
    };
    return QStringLiteral("potluck:list?from=") + encoded(list.source) + QStringLiteral("&key=") + encoded(list.key);
}

/// Whether others can get it from there, too.
bool canBePassedOn(const FollowedRow& list) {
    const auto begins = [&](const char* scheme) { return list.source.starts_with(scheme); };
    return begins("https://") || begins("http://") || begins("magnet:");
}

bool isSame(const FollowedRow& a, const FollowedRow& b) {
    return a.title == b.title && a.key == b.key && a.source == b.source && a.problem == b.problem && a.runs == b.runs &&
           a.expires == b.expires && a.expired == b.expired;
}

}  // namespace

bool looksLikeList(const QString& link) {
    return link.trimmed().startsWith(QLatin1String("potluck:list?"), Qt::CaseInsensitive);
}

ListsCard::ListsCard(NodeClient& client, QWidget* parent) : QFrame(parent), m_client(client) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(grid);
    m_expired = makeWrappedLabel({}, "problem", this);
    m_expired->setObjectName(QStringLiteral("listExpired"));
    m_expired->hide();
    column->addWidget(m_expired);
    m_unfold = makeButton({}, {}, Emphasis::quiet, this);
    m_unfold->setObjectName(QStringLiteral("listsUnfold"));
    m_unfold->setCheckable(true);
    m_unfold->setAccessibleDescription(tr("Lists of runs by people whom you trust."));
    column->addWidget(m_unfold, 0, Qt::AlignLeft);
    m_inside = makeInside();
    column->addWidget(m_inside);
    m_inside->hide();
    connect(m_unfold, &QPushButton::toggled, m_inside, &QWidget::setVisible);
    connect(&client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        if (method != method_of<FollowList> && method != method_of<UnfollowList>) return;
        setRole(m_outcome, "problem");
        showOrHide(m_outcome, sentence);
        refresh();
    });
    connect(&client, &NodeClient::changed, this, &ListsCard::refresh);
    setLists({});
}

QWidget* ListsCard::makeInside() {
    auto* card = makeCard(this);
    QBoxLayout* column = cardLayout(card);
    column->addWidget(makeWrappedLabel(
        tr("A list names runs for which its maker vouches. Anybody makes one, with potluck-node list; follow those of "
           "people you believe. Potluck fetches newer versions by itself."),
        "muted", card));
    m_rowsBox = new QWidget(card);
    m_rows = new QVBoxLayout(m_rowsBox);
    m_rows->setContentsMargins(0, 0, 0, 0);
    m_rows->setSpacing(grid);
    column->addWidget(m_rowsBox);
    m_code = new QrCode(card);
    m_code->setObjectName(QStringLiteral("listCode"));
    column->addWidget(m_code, 0, Qt::AlignLeft);
    m_link = new QLineEdit(card);
    m_link->setObjectName(QStringLiteral("listLink"));
    m_link->setAccessibleName(tr("Link of a list"));
    m_link->setPlaceholderText(QStringLiteral("potluck:list?from=…"));
    m_link->setMaxLength(link_characters_max);
    m_follow = makeButton(tr("Foll&ow"), {}, Emphasis::normal, card);
    m_follow->setObjectName(QStringLiteral("listFollow"));
    auto* row = new WrappingRow;
    row->setSpacing(grid);
    row->addStretching(m_link, text_width_min);
    row->add(m_follow);
    column->addLayout(row);
    m_outcome = makeWrappedLabel({}, "good", card);
    m_outcome->setObjectName(QStringLiteral("listOutcome"));
    m_outcome->hide();
    column->addWidget(m_outcome);
    connect(m_follow, &QPushButton::clicked, this, &ListsCard::follow);
    connect(m_link, &QLineEdit::returnPressed, this, &ListsCard::follow);
    connect(m_link, &QLineEdit::textChanged, this, &ListsCard::refresh);
    return card;
}

void ListsCard::addRow(const FollowedRow& list) {
    auto* box = new QWidget(m_rowsBox);
    auto* row = new WrappingRow(box);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(grid);
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    QLabel* title = makeWrappedLabel(titleOf(list), "strong", box);
    title->setObjectName(QStringLiteral("listTitle"));
    words->addWidget(title);
    words->addWidget(makeWrappedLabel(stateText(list), list.expired ? "problem" : "muted", box));
    row->addStretching(words, text_width_min);
    if (canBePassedOn(list)) {
        auto* pass = makeButton(tr("Pass on"), {}, Emphasis::normal, box);
        pass->setObjectName(QStringLiteral("listPassOn"));
        pass->setAccessibleName(tr("Pass on %1").arg(titleOf(list)));
        connect(pass, &QPushButton::clicked, this, [this, list] { passOn(list); });
        row->add(pass);
    }
    auto* gone = makeButton(tr("Unfollow"), {}, Emphasis::normal, box);
    gone->setObjectName(QStringLiteral("listUnfollow"));
    gone->setAccessibleName(tr("Unfollow %1").arg(titleOf(list)));
    connect(gone, &QPushButton::clicked, this,
            [this, key = list.key] { m_client.call(UnfollowList{key}, [this](const Done&) { emit listsChanged(); }); });
    row->add(gone);
    m_rows->addWidget(box);
}

void ListsCard::setLists(const std::vector<FollowedRow>& lists) {
    if (m_filled && std::ranges::equal(lists, m_lists, isSame)) return;
    m_filled = true;
    m_lists = lists;
    while (QLayoutItem* item = m_rows->takeAt(0)) {
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    QStringList expired;
    for (const FollowedRow& list : lists) {
        addRow(list);
        if (list.expired) expired << tr("“%1”").arg(titleOf(list));
    }
    m_rowsBox->setVisible(!lists.empty());
    m_unfold->setText(tr("Lists that you follow (%1)…").arg(lists.size()));
    showOrHide(m_expired, expired.isEmpty() ? QString()
                                            : tr("Expired, so it vouches for nothing until its maker renews it: %1.")
                                                  .arg(expired.join(QStringLiteral(", "))));
    refresh();
}

void ListsCard::offer(const QString& link) {
    m_unfold->setChecked(true);
    m_link->setText(link.trimmed().left(link_characters_max));
    m_link->setCursorPosition(0);
    setRole(m_outcome, "muted");
    showOrHide(m_outcome, tr("This link came from outside Potluck; nothing is followed before you press Follow."));
    m_follow->setFocus();
}

void ListsCard::follow() {
    if (!m_follow->isEnabled()) return;
    showOrHide(m_outcome, {});
    m_client.call(FollowList{m_link->text().simplified().toStdString()}, [this](const FollowedRow& list) {
        m_link->clear();
        setRole(m_outcome, "good");
        showOrHide(m_outcome, tr("You follow “%1”.").arg(titleOf(list)));
        emit listsChanged();
    });
    refresh();
}

void ListsCard::passOn(const FollowedRow& list) {
    QGuiApplication::clipboard()->setText(linkOf(list));
    m_code->show(linkOf(list));
    m_code->setAccessibleName(tr("QR code of the list's link"));
    setRole(m_outcome, "good");
    showOrHide(m_outcome, tr("The link to “%1” is on the clipboard.").arg(titleOf(list)));
}

QWidget* ListsCard::tabAfter(QWidget* before) const {
    for (QWidget* one : std::initializer_list<QWidget*>{m_unfold, m_link, m_follow}) {
        setTabOrder(before, one);
        before = one;
    }
    return before;
}

void ListsCard::refresh() {
    const bool up = m_client.view().link.state == Link::State::up;
    const bool waits = m_client.waitsFor(method_of<FollowList>);
    m_follow->setText(waits ? tr("Fetching…") : tr("Foll&ow"));
    m_follow->setEnabled(up && !waits && !m_link->text().trimmed().isEmpty());
}

}  // namespace potluck::ui

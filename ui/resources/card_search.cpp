#include "ui/resources/card_search.h"

#include <algorithm>
#include <utility>

#include <QAbstractButton>
#include <QComboBox>
#include <QKeyEvent>
#include <QLabel>
#include <QShortcut>

namespace potluck::ui {

namespace {

/// All that a person can read of `card`, without the marks of keys.
QString wordsOf(const QWidget& card) {
    QStringList words;
    for (const auto* label : card.findChildren<QLabel*>()) words << label->text();
    for (const auto* button : card.findChildren<QAbstractButton*>()) words << button->text();
    for (const auto* choice : card.findChildren<QComboBox*>()) {
        for (int i = 0; i < choice->count(); ++i) words << choice->itemText(i);
    }
    for (const auto* part : card.findChildren<QWidget*>()) words << part->accessibleName() << part->toolTip();
    return words.join(QLatin1Char('\n')).remove(QLatin1Char('&'));
}

}  // namespace

CardSearch::CardSearch(QWidget* parent) : QLineEdit(parent) {
    setObjectName(QStringLiteral("cardSearch"));
    setMaxLength(characters_max);
    setPlaceholderText(tr("Search the settings"));
    setAccessibleName(tr("Search the settings"));
    setClearButtonEnabled(true);
    connect(this, &QLineEdit::textChanged, this, &CardSearch::look);
    auto* find = new QShortcut(QKeySequence::Find, parent);
    connect(find, &QShortcut::activated, this, [this] {
        setFocus(Qt::ShortcutFocusReason);
        selectAll();
    });
}

void CardSearch::add(QWidget* heading, std::vector<QWidget*> cards) {
    m_sections.push_back({heading, std::move(cards)});
}

void CardSearch::setNothingFound(QLabel* label) {
    m_nothing = label;
    m_nothing->hide();
}

void CardSearch::keyPressEvent(QKeyEvent* event) {
    if (event->key() != Qt::Key_Escape) return QLineEdit::keyPressEvent(event);
    clear();
}

void CardSearch::look() {
    const QStringList words = text().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    bool found = false;
    for (const Section& section : m_sections) {
        bool any = false;
        for (QWidget* card : section.cards) {
            const QString held = words.isEmpty() ? QString() : wordsOf(*card);
            const bool fits = std::ranges::all_of(
                words, [&](const QString& word) { return held.contains(word, Qt::CaseInsensitive); });
            card->setVisible(fits);
            any |= fits;
        }
        section.heading->setVisible(any);
        found |= any;
    }
    if (m_nothing != nullptr) m_nothing->setVisible(!found);
}

}  // namespace potluck::ui

// Name, team, identity, pause, look, and where data lies. What belongs to the node is shown from its snapshot and
// changed by asking it; only the look is the window's own.
//
// Threads: Qt's main thread.
#pragma once

#include <initializer_list>

#include <QWidget>

#include "ui/client/node_client.h"
#include "ui/widgets/desktop.h"

class QBoxLayout;
class QFrame;
class QLabel;
class QLineEdit;
class QPushButton;
class QScrollArea;

namespace potluck::ui {

class CardSearch;
class ProxyCard;
class ResourcesCard;
class Theme;

class SettingsPage : public QWidget {
    Q_OBJECT

public:
    SettingsPage(NodeClient& client, Theme& theme, const Desktop& desktop, QWidget* parent);

    /// Where more of the disk can be allowed, with the cursor in it.
    void showDiskLimit();
    /// Scrolls to the proxy and puts the cursor there.
    void showProxy();

signals:
    void quitAsked();

private:
    /// A section has a heading, and a button above all that leads to it.
    [[nodiscard]] QPushButton* makeJump(const QString& section, const char* name);
    void addSection(const QPushButton& jump, std::initializer_list<QWidget*> cards);
    QFrame* makeNameCard();
    QFrame* makePauseCard();
    QFrame* makeLookCard(const Desktop& desktop);
    void addLanguages(QBoxLayout& column, const Desktop& desktop);
    void bringUp(QWidget* card);
    QFrame* makeStartCard(const Desktop& desktop);
    QFrame* makeDataCard(const Desktop& desktop);
    void saveName();
    void refresh();

    NodeClient& m_client;
    Theme& m_theme;
    QScrollArea* m_scroll = nullptr;
    QBoxLayout* m_cards = nullptr;
    CardSearch* m_search = nullptr;
    ResourcesCard* m_resources = nullptr;
    ProxyCard* m_proxy = nullptr;
    QLineEdit* m_name = nullptr;
    QPushButton* m_saveName = nullptr;
    QLabel* m_nameOutcome = nullptr;
    QLabel* m_pause = nullptr;
    QLabel* m_folder = nullptr;
    QLabel* m_device = nullptr;
};

}  // namespace potluck::ui

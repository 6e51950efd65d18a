// "Find a run": the runs that are announced, as cards. What a list that is followed vouches for stands first, then what
// comes from the local network, then, folded, everything else. Filters leave out what one does not look for, and a run
// or a host can be hidden for good.
//
// Does not: join; who owns the invite field does, because it asks for a name first.
//
// Threads: Qt's main thread.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <QFrame>

#include "ui/client/node_client.h"
#include "ui/widgets/desktop.h"

class QBoxLayout;
class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace potluck::ui {

class FoundRunCard;
class ListsCard;
class RunSearch;

class FindCard : public QFrame {
    Q_OBJECT

public:
    /// `desktop` outlives the card.
    FindCard(NodeClient& client, const Desktop& desktop, QWidget* parent);

    /// A link to a list of runs, which waits for a press.
    void offerList(const QString& link);

signals:
    void joinAsked(const QString& invite);
    /// The person wants to start a run of their own.
    void startAsked();

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    /// A run as one host announces it.
    using Key = std::pair<std::string, std::string>;
    struct Group {
        QWidget* box = nullptr;
        QLabel* title = nullptr;
        QVBoxLayout* cards = nullptr;
    };

    void addHead(QBoxLayout& column);
    void tryAlone();
    void refreshTry();
    QWidget* makeFilters();
    void addStrangers(QBoxLayout& column);
    Group addGroup(QBoxLayout& column, const char* name, const QString& title);
    void refresh();
    void refreshFilters();
    void placeCards(const std::vector<FoundRunCard*>& inOrder);
    void dropCards(const std::vector<FoundRunCard*>& kept);
    void refreshStatus(std::size_t shown, std::size_t hidden);
    void refreshStrangers(std::size_t count);
    [[nodiscard]] bool isWanted(const control::FoundRun& run) const;
    void focusAfterHiding();
    void showHiddenAgain();
    FoundRunCard* cardOf(const control::FoundRun& run);
    [[nodiscard]] Group& groupOf(const control::FoundRun& run);

    NodeClient& m_client;
    const Desktop& m_desktop;
    RunSearch* m_search = nullptr;
    ListsCard* m_lists = nullptr;
    QPushButton* m_try = nullptr;
    QLabel* m_status = nullptr;
    QLabel* m_problem = nullptr;
    QWidget* m_filters = nullptr;
    QComboBox* m_family = nullptr;
    QComboBox* m_language = nullptr;
    QCheckBox* m_fits = nullptr;
    Group m_listed, m_near, m_others;
    QPushButton* m_unfold = nullptr;
    QLabel* m_warning = nullptr;
    QPushButton* m_more = nullptr;
    QPushButton* m_unhide = nullptr;
    std::map<Key, FoundRunCard*> m_cards;
    std::vector<FoundRunCard*> m_order;  // as they stand
    std::size_t m_strangersShown = 0;
    bool m_unfolded = false;
    bool m_tries = false;  // this card has asked for a run
};

}  // namespace potluck::ui

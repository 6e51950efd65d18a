// What comes after a run: while it goes on a switch, whether this computer then helps another run that a followed list
// names; once it is complete up to three runs that this computer can train.
//
// Does not: join; it says what was pressed.
//
// Threads: Qt's main thread.
#pragma once

#include <vector>

#include <QFrame>

#include "ui/client/node_client.h"
#include "ui/widgets/desktop.h"

class QCheckBox;
class QLabel;
class QVBoxLayout;

namespace potluck::ui {

class FoundRunCard;
class RunSearch;

class AfterRunCard : public QFrame {
    Q_OBJECT

public:
    static constexpr std::size_t runs_shown_max = 3;

    /// `desktop` outlives the card.
    AfterRunCard(NodeClient& client, const Desktop& desktop, QWidget* parent);

    /// Those that go on, are not hidden, and that this computer can help, or may be able to; the best first.
    [[nodiscard]] static std::vector<control::FoundRun> fitting(const control::FoundRuns& found, const NodeView& view,
                                                                const Desktop& desktop);

signals:
    void joinAsked(const QString& invite);

private:
    void refresh();
    void refreshCards(bool over);

    NodeClient& m_client;
    const Desktop& m_desktop;
    RunSearch* m_search = nullptr;
    QWidget* m_offers = nullptr;
    QLabel* m_status = nullptr;
    QVBoxLayout* m_column = nullptr;
    std::vector<FoundRunCard*> m_cards;
    QCheckBox* m_goesOn = nullptr;
};

}  // namespace potluck::ui

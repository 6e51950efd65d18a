// Starting a run: the form with the plan beside it, then the progress while the node makes the run. What cannot stand
// is said beside its field; what is merely missing only once Start was pressed.
//
//   form --Start--> making --made--> started()
//     ^               | Cancel, or the node refuses
//     '---------------'
//
// Threads: Qt's main thread.
#pragma once

#include <QTimer>
#include <QWidget>

#include "ui/client/node_client.h"

class QBoxLayout;
class QLabel;
class QProgressBar;
class QPushButton;
class QScrollArea;
class QStackedWidget;

namespace potluck::ui {

class FormField;
class PlanCard;
class RunCrowdCard;
class RunSourceCard;
class RunTermsCard;

class StartPage : public QWidget {
    Q_OBJECT

public:
    StartPage(NodeClient& client, QWidget* parent);

signals:
    /// The run is made, and this node is in it.
    void started();

protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    QWidget* makeForm();
    QWidget* makeProgress();
    QWidget* makeFoot();
    void place();
    void edited();
    void ask();
    void start();
    void take(const control::RunEstimate& estimate);
    /// How many stand in the way of starting.
    int showProblems();
    /// What is wrong may be out of sight.
    void goToFirstProblem();
    [[nodiscard]] FormField* fieldOf(control::ChoiceField place) const;
    /// What to say of a field that is empty, which the node finds fault with, too; empty if it is not.
    [[nodiscard]] static QString missingIn(const control::RunChoices& choices, control::ChoiceField place);
    [[nodiscard]] control::EstimateRun question() const;
    [[nodiscard]] bool isMaking() const;
    void refresh();

    NodeClient& m_client;
    QStackedWidget* m_stack = nullptr;
    QWidget* m_formPage = nullptr;
    QScrollArea* m_form = nullptr;
    QBoxLayout* m_cards = nullptr;  // of the form, with the plan below them where there is no room beside
    QBoxLayout* m_beside = nullptr;
    QScrollArea* m_side = nullptr;
    RunSourceCard* m_source = nullptr;
    RunTermsCard* m_terms = nullptr;
    RunCrowdCard* m_crowd = nullptr;
    PlanCard* m_plan = nullptr;
    QLabel* m_problem = nullptr;
    QPushButton* m_start = nullptr;
    QLabel* m_stage = nullptr;
    QLabel* m_making = nullptr;
    QProgressBar* m_progress = nullptr;
    QTimer m_pause;           // in typing, after which the node is asked
    bool m_stale = false;     // edited since the node was asked
    bool m_asked = false;     // this page has asked for the run that is being made
    bool m_insisted = false;  // Start was pressed: what is missing is said of every field
    control::RunEstimate m_estimate;
};

}  // namespace potluck::ui

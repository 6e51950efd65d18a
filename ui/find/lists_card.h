// The lists of runs that the person follows: what each is called, until when it holds, and the ways to follow one more,
// to pass one on and to follow one no longer. Folded until it is asked for; a list that has expired says so outside.
//
// Does not: fetch; the node does.
//
// Threads: Qt's main thread.
#pragma once

#include <vector>

#include <QFrame>

#include "ui/client/node_client.h"

class QBoxLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QVBoxLayout;

namespace potluck::ui {

class QrCode;

/// Whether a text from outside is a link to a list of runs.
[[nodiscard]] bool looksLikeList(const QString& link);

class ListsCard : public QFrame {
    Q_OBJECT

public:
    ListsCard(NodeClient& client, QWidget* parent);

    void setLists(const std::vector<control::FollowedRow>& lists);
    /// The link waits in the field for the person's press.
    void offer(const QString& link);
    /// The Tab key comes to its controls after `before`; returns the last of them.
    QWidget* tabAfter(QWidget* before) const;

signals:
    /// The node follows other lists than before.
    void listsChanged();

private:
    QWidget* makeInside();
    void addRow(const control::FollowedRow& list);
    void follow();
    void passOn(const control::FollowedRow& list);
    void refresh();

    NodeClient& m_client;
    std::vector<control::FollowedRow> m_lists;
    bool m_filled = false;
    QPushButton* m_unfold = nullptr;
    QLabel* m_expired = nullptr;
    QWidget* m_inside = nullptr;
    QVBoxLayout* m_rows = nullptr;
    QWidget* m_rowsBox = nullptr;
    QLineEdit* m_link = nullptr;
    QPushButton* m_follow = nullptr;
    QLabel* m_outcome = nullptr;
    QrCode* m_code = nullptr;
};

}  // namespace potluck::ui

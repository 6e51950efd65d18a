// The members of the run on the page of the run: how many they are, and who, as a list or as a picture.
//
// Threads: Qt's main thread.
#pragma once

#include <QFrame>

#include "ui/client/node_client.h"
#include "ui/widgets/desktop.h"

class QLabel;
class QListView;

namespace potluck::ui {

class MemberModel;
class SwarmPicture;

class MembersCard : public QFrame {
    Q_OBJECT

public:
    /// The choice of the picture is remembered by the desktop, which outlives the card.
    MembersCard(NodeClient& client, const Desktop& desktop, QWidget* parent);

signals:
    /// The picture takes the list's place, or the other way round; it likes to be wider.
    void pictureShown(bool shown);

private:
    void choose(bool picture);
    void refresh();

    NodeClient& m_client;
    QLabel* m_count;
    MemberModel* m_model;
    QListView* m_list;
    SwarmPicture* m_picture;
};

}  // namespace potluck::ui

// The proxy through which this computer dials out, and whether it lets it through. What a person types is taken when
// the button is pressed; the node's news leave it alone until then.
//
// Does not: know the password. It is sent once and never shown again.
// Threads: Qt's main thread.
#pragma once

#include <QFrame>

#include "ui/client/node_client.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace potluck::ui {

class ProxyCard : public QFrame {
    Q_OBJECT

public:
    ProxyCard(NodeClient& client, QWidget* parent);
    /// The cursor is in the choice of the kind then.
    void edit();

private:
    void addFields();
    void showFields();
    void refresh();
    void showKnown(const control::ProxyState& proxy);
    void touched();
    void save();

    NodeClient& m_client;
    QComboBox* m_kind = nullptr;
    QWidget* m_fields = nullptr;
    QLineEdit* m_host = nullptr;
    QSpinBox* m_port = nullptr;
    QLineEdit* m_username = nullptr;
    QLineEdit* m_password = nullptr;
    QPushButton* m_save = nullptr;
    QLabel* m_state = nullptr;
    QLabel* m_problem = nullptr;
    bool m_touched = false;  // since it was saved or shown
};

}  // namespace potluck::ui

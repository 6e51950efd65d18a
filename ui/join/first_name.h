// The name that others will see, asked where the first run is joined or started, with a suggestion that says nothing of
// the person. Hidden once the node has a name; Settings change it. Threads: Qt's main thread.
#pragma once

#include <QWidget>

#include "ui/client/node_client.h"

class QLineEdit;

namespace potluck::ui {

class FirstName : public QWidget {
    Q_OBJECT

public:
    /// `name` is the line's object name.
    FirstName(NodeClient& client, const char* name, QWidget* parent);

    /// Tells the node what stands in the field; nothing if it is hidden or empty.
    void save();

private:
    void refresh();

    NodeClient& m_client;
    QLineEdit* m_line = nullptr;
};

/// A name that follows from a member's key, such as "Curious Kettle"; empty for an empty one.
[[nodiscard]] QString suggestedName(const std::string& peer);

}  // namespace potluck::ui

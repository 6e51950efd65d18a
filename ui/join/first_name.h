// The name that others will see, asked where the first run is joined or started, with a suggestion that says nothing of
// the person; one whose key comes from another computer may leave it to the run, which knows its name. Hidden once the
// node has a name; Settings change it. Threads: Qt's main thread.
#pragma once

#include <QWidget>

#include "ui/client/node_client.h"

class QLineEdit;

namespace potluck::ui {

class FormField;

class FirstName : public QWidget {
    Q_OBJECT

public:
    enum class Run { joined, begun };
    /// `name` is the line's object name.
    FirstName(NodeClient& client, const char* name, Run run, QWidget* parent);

    /// Tells the node what stands in the field; nothing if it is hidden or empty.
    void save();

private:
    void refresh();

    NodeClient& m_client;
    const Run m_run;
    QLineEdit* m_line = nullptr;
    FormField* m_field = nullptr;
};

/// A name that follows from a member's key, such as "Curious Kettle"; empty for an empty one.
[[nodiscard]] QString suggestedName(const std::string& peer);

}  // namespace potluck::ui

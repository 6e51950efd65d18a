// Which changes of the node's state are worth a notification, and what it says. Few are: what needs the person, what is
// over, and once in a session that training makes way by itself, since that is what people wonder about.
//
// Does not: show anything, or know the desktop. Threads: a value of Qt's main thread.
#pragma once

#include <optional>

#include <QString>

#include "ui/client/node_client.h"

namespace potluck::ui {

struct Notice {
    /// `quiet` makes no sound and is not kept in lists.
    enum class Weight { quiet, normal } weight = Weight::normal;
    QString title, text;  // plain text
};

class Notices {
public:
    /// What to tell after the view changed. The first view tells nothing: the window shows it.
    [[nodiscard]] std::optional<Notice> next(const NodeView& view);

private:
    std::optional<control::Activity> m_before;
    bool m_toldOfPause = false;
};

}  // namespace potluck::ui

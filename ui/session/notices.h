// Which changes of the node's state are worth a notification, and what it says. Few are: what needs the person, what is
// over, and once in a session that training makes way by itself, since that is what people wonder about. The end of a
// run is told once, however often the program starts after it: its caller keeps `endTold` between two starts.
//
// Does not: show anything, or know the desktop. Threads: a value of Qt's main thread.
#pragma once

#include <optional>
#include <string>
#include <utility>

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
    /// `endTold`: the run whose end was told the last time; empty if none was.
    explicit Notices(std::string endTold = {}) : m_endTold(std::move(endTold)) {}

    [[nodiscard]] const std::string& endTold() const { return m_endTold; }
    /// What to tell after the view changed. The first view tells nothing: the window shows it.
    [[nodiscard]] std::optional<Notice> next(const NodeView& view);

private:
    [[nodiscard]] bool isNewEnd(const NodeView& view);

    std::optional<control::Activity> m_before;
    std::string m_endTold;
    bool m_toldOfPause = false;
};

}  // namespace potluck::ui

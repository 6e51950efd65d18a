// What a host is told of leaving: who carries the run on, and whether data and checkpoints lie elsewhere. Pure
// functions of the snapshot, for the host's page and for the questions before leaving and quitting. Threads: functions
// of values.
#pragma once

#include <QString>

#include "core/control/node_protocol.h"
#include "ui/client/node_client.h"

namespace potluck::ui {

struct SuccessionText {
    QString text;
    bool safe = false;  // nothing is lost by leaving now
};
[[nodiscard]] SuccessionText carriersText(const control::Succession& succession);
[[nodiscard]] SuccessionText holdersText(const control::Succession& succession);
/// How many other volunteers are here that would have to wait if this computer stopped now; 0 where others can carry
/// the run on, where it has ended, and on computers that do not host it.
[[nodiscard]] int othersThatWouldStop(const NodeView& view);

}  // namespace potluck::ui

// What a host is told of leaving: who carries the run on, and whether data and checkpoints lie elsewhere. Pure
// functions of the snapshot, for the host's page and for the question before leaving. Threads: functions of values.
#pragma once

#include <QString>

#include "core/control/node_protocol.h"

namespace potluck::ui {

struct SuccessionText {
    QString text;
    bool safe = false;  // nothing is lost by leaving now
};
[[nodiscard]] SuccessionText carriersText(const control::Succession& succession);
[[nodiscard]] SuccessionText holdersText(const control::Succession& succession);

}  // namespace potluck::ui

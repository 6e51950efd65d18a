// What was measured with the validation loss, in the person's language, by the kind of the model, and how long things
// take. Pure, but for the locale.
#pragma once

#include <QString>

#include "core/control/node_protocol.h"

namespace potluck::ui {

/// "78 % of orders told rightly", "22.1 dB after coding", "38 of 100 clusters in use · …"; empty where there is
/// nothing. A model that has collapsed is told, with what helps.
[[nodiscard]] QString measuresText(const control::RunSnapshot& run);

/// "40 minutes", "3 hours" or "12 days", rounded down; empty for nothing.
[[nodiscard]] QString spanText(double days);
/// How long the run takes from here on, if its rounds last as long as the last one; empty where it has no last round.
[[nodiscard]] QString timeLeft(const control::RunSnapshot& run);

}  // namespace potluck::ui

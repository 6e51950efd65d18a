// What was measured with the validation loss, in the person's language, by the kind of the model. Pure, but for the
// locale.
#pragma once

#include <QString>

#include "core/control/node_protocol.h"

namespace potluck::ui {

/// "78 % of orders told rightly", "22.1 dB after coding", "38 of 100 clusters in use · …"; empty where there is
/// nothing. A model that has collapsed is told, with what helps.
[[nodiscard]] QString measuresText(const control::RunSnapshot& run);

}  // namespace potluck::ui

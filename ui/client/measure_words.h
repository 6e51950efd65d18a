// What was measured with the validation loss, in the person's language where a label is known, what a model looks like,
// and how long things take. Pure, but for the locale.
#pragma once

#include <QString>
#include <QStringList>

#include "core/control/node_protocol.h"

namespace potluck::ui {

/// "orders predicted 78 %", "PSNR 22.1 dB · codes used 40 %"; empty where there is
/// nothing. A model that has collapsed is told, with what helps.
[[nodiscard]] QString measuresText(const control::RunSnapshot& run);

/// "40 minutes", "3 hours" or "12 days", rounded down; empty for nothing.
[[nodiscard]] QString spanText(double days);
/// How long the run takes from here on, if its rounds last as long as the last one; empty where it has no last round.
[[nodiscard]] QString timeLeft(const control::RunSnapshot& run);

/// What a node says of a model's shape (app/node/member/view.h), in the person's language; another sentence stays as it
/// is. Marks and control characters are gone, and what is too long is cut.
[[nodiscard]] QString modelText(const std::string& model);

/// The labels that have translations.
[[nodiscard]] QStringList knownMeasures();

}  // namespace potluck::ui

// What is said of a member of the run. Pure functions.
#pragma once

#include <string>

#include <QString>

#include "core/control/node_protocol.h"

namespace potluck::ui {

/// "training", "relaying", "paused"
[[nodiscard]] QString phaseText(const control::MemberRow& member);
/// The same, with the word for who trains nothing: "backbone, relaying".
[[nodiscard]] QString partText(const control::MemberRow& member);
/// "Ada (you)"
[[nodiscard]] QString memberName(const control::MemberRow& member);
[[nodiscard]] const std::string& personOf(const control::MemberRow& member);
/// Whose it is, if `way` does not tell: "training, your other computer". `ownPerson` is this computer's.
[[nodiscard]] QString withOwner(const control::MemberRow& member, const QString& way, const std::string& ownPerson);
/// "9.20 k tok/s"; empty for who trains nothing.
[[nodiscard]] QString speedText(const control::MemberRow& member);

}  // namespace potluck::ui

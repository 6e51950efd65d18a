// What is said of a member of the run, in the list and in the picture alike. Pure functions.
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
/// "12.4 kB/s to it, 3.1 kB/s from it"
[[nodiscard]] QString flowText(const control::MemberRow& member);
/// All of that, for who points at a member: "Bela, training, 11.8 k tok/s, direct, 12.4 kB/s to it, 3.1 kB/s from it".
/// `through`: the name of the neighbour that tells of it; may be empty.
[[nodiscard]] QString memberLine(const control::MemberRow& member, const QString& through,
                                 const std::string& ownPerson);

}  // namespace potluck::ui

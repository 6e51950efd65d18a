// A first look at an invite, enough to show what it claims to be. Whether it is valid is the node's decision; the name
// in a link is the sender's word only.
#pragma once

#include <QString>

namespace potluck::ui {

/// Longest link that is taken from outside the window; the node's own limit is the same.
inline constexpr int invite_characters_max = 4096;

/// Starts with `potluck:` or `magnet:` and is not longer than a link may be.
[[nodiscard]] bool looksLikeInvite(const QString& text);
/// The invite in a text around it, as a chat or a mail has it; the text itself, in one line, if none can be told apart.
[[nodiscard]] QString inviteWithin(const QString& text);
/// The run's name in the link as plain text; empty if there is none.
[[nodiscard]] QString claimedName(const QString& link);
/// Whether it is an invite to the run with this id, in hexadecimal digits.
[[nodiscard]] bool namesRun(const QString& link, const QString& run);

}  // namespace potluck::ui

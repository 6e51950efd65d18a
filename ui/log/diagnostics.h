// What is copied for a person who helps: version, state, trainer, counters and the log's lines. What is private is
// taken out: the name of the home folder, addresses, keys but for their first digits, invites, and anything that looks
// like recovery words.
//
// Pure: values in, text out. It is in English whatever the window's language is, since a stranger reads it.
#pragma once

#include <string>
#include <vector>

#include <QString>

#include "core/control/node_protocol.h"

namespace potluck::ui {

inline constexpr qsizetype recovery_words_min = 12;  // so many plain words in a row are not left in a text

/// One line without secrets. `home` is the home folder, which becomes ~; empty: none.
[[nodiscard]] QString withoutSecrets(const QString& line, const QString& home);
[[nodiscard]] QString diagnostics(const control::NodeSnapshot& node, const std::vector<std::string>& log,
                                  const QString& system, const QString& home);

}  // namespace potluck::ui

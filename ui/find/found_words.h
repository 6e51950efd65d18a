// What a card says of a run, in the person's language: progress, and whether this computer can help with it. Pure, but
// for the locale. Strangers' texts come out as one line of plain text.
#pragma once

#include <QString>

#include "ui/client/node_client.h"

namespace potluck::ui {

/// By what its host says that the weights, gradients and moments take; what a batch takes comes on top, which only the
/// run's preview knows. perhaps: it fits only if part of it lies in the computer's memory.
enum class Fit { unknown, yes, perhaps, no };
[[nodiscard]] Fit fitOf(const control::FoundRun& run, const FoundDevices& devices);

/// "Your RTX 3060: about 9,000 tokens per second, and 2.1 GB of its 12 GB and what a batch takes.", or why not, or what
/// is not known yet. The speed follows from what was measured of the device and what the host says that a token costs.
[[nodiscard]] QString helpText(const control::FoundRun& run, const NodeView& view);

/// "Round 12 of 400 · loss 3.21 (baseline 3.50) · about 3 days left · 4 volunteers now"; of a host that has been silent
/// also how long ago it said so. `now` in Unix seconds.
[[nodiscard]] QString progressText(const control::FoundRun& run, std::int64_t now);

/// "by Béa (0505050505050505)": names can be chosen by anybody, keys cannot.
[[nodiscard]] QString hostText(const control::FoundRun& run);

/// "Deutsch", as its speakers say; the tag itself where the language is not known, and empty for none.
[[nodiscard]] QString languageText(const std::string& tag);

}  // namespace potluck::ui

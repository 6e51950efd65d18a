// Text that strangers chose and people will read: names, purposes. Tells whether it is fit to be shown at all.
// Does not: shorten or repair; the reader of a message refuses what is not plain.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace potluck::run {

enum class LineBreaks { refused, allowed };

/// Number of characters (code points) of `text`; nothing if it is not valid UTF-8 (shortest form, no surrogates) or
/// holds a control character, a line or paragraph separator, or a mark that overrides the direction of writing.
/// `allowed` lets line feeds and tabs pass.
[[nodiscard]] std::optional<std::size_t> plain_text_length(std::string_view text, LineBreaks breaks);

}  // namespace potluck::run

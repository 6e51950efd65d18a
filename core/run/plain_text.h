// Text that strangers chose and people will read: names, purposes. Tells whether it is fit to be shown at all.
// The reader of a message refuses text that is not plain; the writer sends what is plain of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace potluck::run {

enum class LineBreaks { refused, allowed };

/// Number of characters (code points) of `text`; nothing if it is not valid UTF-8 (shortest form, no surrogates) or
/// holds a control character, a line or paragraph separator, or a mark that overrides the direction of writing.
/// `allowed` lets line feeds and tabs pass.
[[nodiscard]] std::optional<std::size_t> plain_text_length(std::string_view text, LineBreaks breaks);

/// `text` without what is not plain, cut between two characters to at most `bytes_max` bytes.
[[nodiscard]] std::string plain_text_of(std::string_view text, std::size_t bytes_max, LineBreaks breaks);

}  // namespace potluck::run

// Text that strangers chose and people will read: names, purposes. Tells whether it is fit to be shown at all.
// The reader of a message refuses text that is not plain; the writer sends what is plain of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.h"

namespace potluck::run {

enum class LineBreaks { refused, allowed };

/// Number of characters (code points) of `text`; nothing if it is not valid UTF-8 (shortest form, no surrogates) or
/// holds a control character, a line or paragraph separator, or a mark that overrides the direction of writing.
/// `allowed` lets line feeds and tabs pass.
[[nodiscard]] std::optional<std::size_t> plain_text_length(std::string_view text, LineBreaks breaks);

/// `text` without what is not plain, cut between two characters to at most `bytes_max` bytes.
[[nodiscard]] std::string plain_text_of(std::string_view text, std::size_t bytes_max, LineBreaks breaks);

/// A field of one line of plain text, behind its length in bytes. What is not plain of it is not written.
struct PlainText {
    std::size_t bytes_min, bytes_max;

    void write(ByteWriter& out, const std::string& text) const;
    void read(ByteReader& in, std::string& text) const;
    template <class Value>
    [[nodiscard]] std::string type() const {
        return "string (" + std::to_string(bytes_min) + " to " + std::to_string(bytes_max) + " bytes, plain)";
    }
};

}  // namespace potluck::run

// The tokenizer's files beside an exported model, in the form that Hugging Face transformers opens, or a note that says
// how text becomes tokens where there is no such form.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/node/models/held_model.h"

namespace potluck::node {

/// tokenizer_config.json for byte-level BPE. `reader` is the class of transformers that opens the files; `separator` is
/// the text of the token between documents, or empty.
[[nodiscard]] std::string tokenizer_config(const char* reader, const std::string& separator, std::uint32_t context);

/// Appends the paths of what it wrote to `files`. `unavailable` if the tokenizer's files are not here.
[[nodiscard]] Status export_tokenizer(const HeldModel& model, const std::filesystem::path& folder,
                                      std::vector<std::string>& files);

}  // namespace potluck::node

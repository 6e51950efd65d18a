// Pictures with captions as records for a model that draws:
//
//   picture --square of the coder's side--> coder's record --coder--> codes
//   record := model::caption_begin, `text` tokens of the caption and model::caption_fill behind it,
//             then text_vocabulary + code of each place, row by row
//
// A picture's caption is the first line of the .txt beside it, or its "text" in a metadata.jsonl above or beside it
// (Hugging Face's image folders: one object a line, with "file_name"). Pictures without a caption of at least three
// characters, more than twice as long as wide or wide as long, or that cannot be read are counted and left out.
//
// Held out is what lies in folders named "validation"; where there is none, a twentieth as of pictures alone
// (picture_records.h). The coder is run by the caller, some thousand pictures at a time: this room knows no tensors.
// Threads: one at a time. Needs disk for the pictures of one such stretch while it works.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/pictures/picture_records.h"
#include "core/data/text_packer.h"
#include "core/model/model_spec.h"

namespace potluck::data {

inline constexpr std::size_t caption_characters_min = 3;
inline constexpr std::size_t caption_bytes_max = 4'096;  // a longer one is cut
inline constexpr std::uint64_t metadata_bytes_max = 256ULL << 20U;

/// Reads `records` of the coder's from the file `pictures` (picture_records.h, 16 bits a token) and writes the codes of
/// each, row by row, to `codes`, 16 bits each.
using CodePictures = std::function<Status(const std::filesystem::path& pictures, std::uint64_t records,
                                          const std::filesystem::path& codes)>;

/// Whose records they are, and what makes them.
struct CaptionPlan {
    model::ModelSpec drawer, coder;
    const Tokenizer& tokenizer;
    CodePictures code;
};

struct CaptionedPicture {
    std::filesystem::path file;
    std::string caption;
    enum class Use { training, validation } use = Use::training;
};

struct CaptionedPictures {
    std::vector<CaptionedPicture> pictures;  // in the order of their paths
    std::uint64_t without_caption = 0;
    HeldOut held_out = HeldOut::drawn;  // named: by a folder
};

/// A caption without control characters and blanks at its ends; of text, its first line.
[[nodiscard]] std::string caption_of(std::string_view text);

[[nodiscard]] Result<CaptionedPictures> find_captioned_pictures(const std::filesystem::path& folder);

/// Exactly caption_shape(drawer).text tokens; those that mean something else to the model are left out, and what is too
/// long is cut.
[[nodiscard]] std::vector<model::Token> caption_tokens(const model::ModelSpec& drawer, const Tokenizer& tokenizer,
                                                       std::string_view caption);

/// Both streams are whole records of the drawer's.
[[nodiscard]] Result<SplitTokens> split_captions(const SplitPlan& plan, const CaptionPlan& captions,
                                                 const PackProgress& progress);
/// From a folder of captioned pictures; plan.context and plan.model_vocabulary are the drawer's.
[[nodiscard]] Result<PackedText> pack_captions(const PackPlan& plan, const CaptionPlan& captions,
                                               const PackProgress& progress);
/// From token files that hold such records. `malformed` if one of them is another.
[[nodiscard]] Result<PackedText> pack_caption_tokens(const PackPlan& plan, const model::ModelSpec& drawer,
                                                     const PackProgress& progress);

/// What a model that draws must beat: each place's token by how often it stood there in the training records
/// (add-one-smoothed among captions' tokens or codes), measured on the validation records.
class PlaceBaseline {
public:
    /// Records are the drawer's, whole; one that is not is remembered and counts for nothing.
    PlaceBaseline(const model::ModelSpec& drawer, std::span<const model::Token> validation);

    void count(std::span<const model::Token> record);
    [[nodiscard]] bool has_seen_others() const { return m_others > 0; }

    struct Losses {
        double text = 0, codes = 0;  // nats per token
    };
    [[nodiscard]] Losses losses() const;
    [[nodiscard]] double loss() const;

private:
    /// Where the count of a token at a place of the record, from 1 on, stands.
    [[nodiscard]] std::size_t cell(std::size_t place, model::Token token) const;

    model::ModelSpec m_drawer;
    std::vector<model::Token> m_validation;
    std::vector<std::uint32_t> m_counts;
    std::uint64_t m_records = 0, m_others = 0;
};

}  // namespace potluck::data

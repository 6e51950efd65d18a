// Pictures as records, for a model that codes them or one that embeds them:
//
//   folder --PNG, PPM, tables (picture_folder.h)--> square of `side` pixels --> record := 3 side^2 values, then 0 or
//   its class
//
// The values are red, green and blue of each pixel, row by row.
//
// A twentieth of the pictures is held out, at least 64 and at most as many as fit 2 MiB; which follows from the key.
// Files that are no such picture are counted and left out. Also the baseline that a coder must beat: every picture
// shown as the mean colour of the training pictures.
//
// Only a model that embeds pictures is given classes, and only to be measured by them: a picture's is the name of the
// folder that it lies in, numbered from 1 on in the order of their bytes. Where all lie in one folder, or in more than
// 255, none has a class. For such a model, what lies in folders named "validation" is held out where there are some.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "core/data/text_packer.h"

namespace potluck::pictures {
struct Picture;
}

namespace potluck::data {

inline constexpr std::uint64_t pictures_min = validation_records_min + training_records_min;
inline constexpr std::uint64_t picture_files_max = 10'000'000;
inline constexpr std::uint64_t picture_bytes_max = 64ULL << 20U;
inline constexpr std::size_t picture_classes_max = model::coder_values - 1;  // what a record's last value has room for

/// The files of a folder and those below it whose names say that they are pictures, in the order of their paths.
[[nodiscard]] Result<std::vector<std::filesystem::path>> find_pictures(const std::filesystem::path& folder);

/// Which pictures are taken: all, whose middle is cut out, or only those at most twice as long as wide or wide as long.
enum class Proportions { any, up_to_double };
/// Nothing where the file is no picture that can be read, or none of these proportions.
[[nodiscard]] std::optional<std::vector<model::Token>> picture_record(const std::filesystem::path& file,
                                                                      std::uint32_t side, Proportions proportions);

/// The square in the middle of a picture, with no class.
[[nodiscard]] std::vector<model::Token> record_of(const pictures::Picture& picture, std::uint32_t side);

/// Whether a picture lies below a folder of `folder` that is named "validation".
[[nodiscard]] bool is_for_validation(const std::filesystem::path& picture, const std::filesystem::path& folder);

enum class HeldOut { drawn, named };
/// How many of `pictures` are held out at most: where folders or tables name them all that fit the plan's validation
/// file, else a twentieth, but not fewer than are needed.
[[nodiscard]] std::uint64_t held_out_pictures(std::uint64_t pictures, const SplitPlan& plan, HeldOut which);

/// From a folder of pictures, each a square of `side` pixels; plan.context is its values.
[[nodiscard]] Result<PackedText> pack_pictures(const PackPlan& plan, std::uint32_t side, const PackProgress& progress);

/// The same with classes, for a model with so many prototypes; its baseline is to think all of them alike.
[[nodiscard]] Result<PackedText> pack_classed_pictures(const PackPlan& plan, std::uint32_t side,
                                                       std::uint32_t prototypes, const PackProgress& progress);

enum class Classes { none, by_folder };
/// The class of each of `files`, or 0 where they have none.
[[nodiscard]] std::vector<model::Token> classes_of(const std::vector<std::filesystem::path>& files);
/// Both streams are whole records of `plan.record_tokens` tokens, 3 side^2 + 1.
[[nodiscard]] Result<SplitTokens> split_pictures(const SplitPlan& plan, std::uint32_t side, Classes classes,
                                                 const PackProgress& progress);

/// A coder's loss on one picture, both of values from 0 to 1 (model::coder_loss_of has the weights).
class MeanColourBaseline {
public:
    /// `records` are those of the validation data.
    MeanColourBaseline(std::uint32_t side, std::span<const model::Token> records)
        : m_side(side), m_records(records.begin(), records.end()) {}

    void count(std::span<const model::Token> record);
    [[nodiscard]] double loss() const;

private:
    std::uint32_t m_side;
    std::vector<model::Token> m_records;
    std::uint64_t m_sums[3] = {}, m_pixels = 0;
};

}  // namespace potluck::data

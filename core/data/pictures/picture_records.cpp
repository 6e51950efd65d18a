// One pass over the files in the order of a keyed permutation: decode, cut the square, write the record to one of two
// streams, and count what cannot be read. Which stream is decided when a picture has been read, so that a broken file
// takes the place of none that is held out, unless folders decide it. Memory is the list of files and one picture.
//
// Classes are numbered before anything is read, from the names of folders alone: they do not change with what of it
// can be read.
#include "core/data/pictures/picture_records.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <system_error>

#include "core/base/check.h"
#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/base/text.h"
#include "core/data/pictures/picture_folder.h"
#include "core/data/token_file.h"
#include "core/pictures/picture.h"

namespace potluck::data {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t held_out_key = 0x70696374757265ULL;
constexpr std::uint64_t held_out_every = 20;
constexpr const char* validation_name = "validation";

bool is_picture(const fs::path& file) {
    const std::string ending = file.extension().string();
    return same_letters(ending, ".png") || same_letters(ending, ".ppm");
}

}  // namespace

std::vector<model::Token> record_of(const pictures::Picture& picture, std::uint32_t side) {
    const pictures::Picture square = pictures::squared(picture, side);
    std::vector<model::Token> record(square.rgb.begin(), square.rgb.end());
    record.push_back(0);
    return record;
}

std::optional<std::vector<model::Token>> picture_record(const fs::path& file, std::uint32_t side,
                                                        Proportions proportions) {
    const auto bytes = read_file(file, picture_bytes_max);
    if (!bytes) return std::nullopt;
    const auto picture = pictures::decode_picture(*bytes);
    if (!picture) return std::nullopt;
    const auto [shorter, longer] = std::minmax(picture->width, picture->height);
    if (proportions == Proportions::up_to_double && longer > 2 * shorter) return std::nullopt;
    return record_of(*picture, side);
}

bool is_for_validation(const fs::path& picture, const fs::path& folder) {
    const fs::path within = picture.lexically_relative(folder).parent_path();
    return std::ranges::any_of(within, [](const fs::path& part) { return part == validation_name; });
}

std::vector<model::Token> classes_of(const std::vector<fs::path>& files) {
    std::map<std::string, model::Token> numbers;
    for (const fs::path& file : files) numbers[file.parent_path().filename().string()] = 0;
    std::vector<model::Token> classes(files.size(), 0);
    if (numbers.size() < 2 || numbers.size() > picture_classes_max) return classes;
    model::Token next = 0;
    for (auto& [name, number] : numbers) number = ++next;
    for (std::size_t i = 0; i < files.size(); ++i) classes[i] = numbers[files[i].parent_path().filename().string()];
    return classes;
}

std::uint64_t held_out_pictures(std::uint64_t pictures, const SplitPlan& plan, HeldOut which) {
    const std::uint64_t room = validation_bytes_max / model::bytes_of(plan.width) / plan.record_tokens;
    return std::max(validation_records_min, which == HeldOut::named ? room : std::min(pictures / held_out_every, room));
}

Result<std::vector<fs::path>> find_pictures(const fs::path& folder) {
    std::error_code failed;
    std::vector<fs::path> files;
    fs::recursive_directory_iterator entries(folder, fs::directory_options::skip_permission_denied, failed);
    if (failed)
        return Error{ErrorCode::not_found, "There is no folder " + folder.string() + "; name one that holds pictures."};
    for (const auto end = fs::end(entries); entries != end && !failed; entries.increment(failed)) {
        if (entries->is_regular_file(failed) && is_picture(entries->path())) files.push_back(entries->path());
        if (files.size() > picture_files_max)
            return Error{ErrorCode::invalid_argument, "The folder holds more than 10,000,000 pictures; take fewer."};
    }
    if (files.empty()) {
        return Error{ErrorCode::invalid_argument,
                     folder.string() + " holds no PNG or PPM picture and no table of MNIST's form; at least " +
                         std::to_string(pictures_min) + " are needed."};
    }
    std::ranges::sort(files);
    return files;
}

Result<SplitTokens> split_pictures(const SplitPlan& plan, std::uint32_t side, Classes classes,
                                   const PackProgress& progress) {
    POTLUCK_CHECK(plan.record_tokens == 3ULL * side * side + 1);
    const auto found = PictureFolder::open(plan.source);
    if (!found) return found.error();
    const std::uint64_t count = found->size();
    const bool classed = classes == Classes::by_folder;
    const std::vector<model::Token> class_of = classed ? found->classes() : std::vector<model::Token>(count);
    const auto is_named = [&](std::uint64_t number) { return classed && found->is_for_validation(number); };
    bool named = false;
    for (std::uint64_t i = 0; i < count && !named; ++i) named = is_named(i);
    const std::uint64_t held_out_max = held_out_pictures(count, plan, named ? HeldOut::named : HeldOut::drawn);
    TokenWriter training(plan.training, plan.format, plan.width), validation(plan.validation, plan.format, plan.width);
    const KeyedPermutation order(mix64(plan.key ^ held_out_key), count);
    SplitTokens split;
    std::uint64_t held_out = 0;
    // Where none is named, the first that can be read are held out, so that a broken file takes the place of none.
    for (std::uint64_t i = 0; i < count; ++i) {
        if (progress && !progress(PackStage::tokenizing, static_cast<double>(i) / static_cast<double>(count)))
            return packing_stopped();
        const auto at = static_cast<std::size_t>(order.at(i));
        const bool wanted = named ? is_named(at) : held_out < held_out_max;
        auto record = wanted && held_out >= held_out_max ? std::nullopt : found->record(at, side);
        if (!record) {
            ++split.files_left_out;
            continue;
        }
        record->back() = class_of[at];
        const Status written = (wanted ? validation : training).write(*record);
        if (!written) return written.error();
        if (wanted) ++held_out;
        ++split.text_files;
        split.text_bytes += plan.record_tokens - 1;
    }
    for (TokenWriter* writer : {&training, &validation}) {
        if (const Status closed = writer->close(); !closed) return closed.error();
    }
    split.training = training.tokens();
    split.validation = validation.tokens();
    return split;
}

Result<PackedText> pack_pictures(const PackPlan& plan, std::uint32_t side, const PackProgress& progress) {
    POTLUCK_CHECK(plan.context == 3ULL * side * side);
    std::optional<MeanColourBaseline> baseline;
    const RecordBaseline compared{
        .begin = [&](std::span<const model::Token> validation) { baseline.emplace(side, validation); },
        .count = [&](std::span<const model::Token> record) { baseline->count(record); },
        .loss = [&] { return baseline->loss(); }};
    return pack_records(
        plan, model::coder_values,
        [&](const SplitPlan& split) { return split_pictures(split, side, Classes::none, progress); }, compared,
        progress);
}

Result<PackedText> pack_classed_pictures(const PackPlan& plan, std::uint32_t side, std::uint32_t prototypes,
                                         const PackProgress& progress) {
    POTLUCK_CHECK(plan.context == 3ULL * side * side && prototypes > 0);
    const RecordBaseline compared{.begin = [](std::span<const model::Token>) {},
                                  .count = [](std::span<const model::Token>) {},
                                  .loss = [&] { return std::log(static_cast<double>(prototypes)); }};
    return pack_records(
        plan, model::coder_values,
        [&](const SplitPlan& split) { return split_pictures(split, side, Classes::by_folder, progress); }, compared,
        progress);
}

void MeanColourBaseline::count(std::span<const model::Token> record) {
    for (std::size_t i = 0; i + 1 < record.size(); ++i) m_sums[i % 3] += record[i];
    m_pixels += record.size() / 3;
}

double MeanColourBaseline::loss() const {
    const std::size_t size = std::size_t{3} * m_side * m_side, row = std::size_t{3} * m_side;
    const std::size_t records = m_records.size() / (size + 1);
    if (m_pixels == 0 || records == 0) return 0;
    double absolute = 0, squares = 0, steps = 0;
    for (std::size_t record = 0; record < records; ++record) {
        const std::span values = std::span(m_records).subspan(record * (size + 1), size);
        for (std::size_t i = 0; i < size; ++i) {
            const double mean = static_cast<double>(m_sums[i % 3]) / static_cast<double>(m_pixels);
            const double apart = (values[i] - mean) / 255;
            absolute += std::abs(apart);
            squares += apart * apart;
            const auto step_to = [&](std::size_t other) {
                return std::abs(static_cast<double>(values[other]) - static_cast<double>(values[i])) / 255;
            };
            if (i % row + 3 < row) steps += step_to(i + 3);
            if (i + row < size) steps += step_to(i + row);
        }
    }
    const double pictures = static_cast<double>(records), side = m_side;
    return model::coder_loss_of({.absolute = absolute / pictures / static_cast<double>(size),
                                 .squares = squares / pictures / static_cast<double>(size),
                                 .steps = steps / pictures / (6 * side * (side - 1))});
}

}  // namespace potluck::data

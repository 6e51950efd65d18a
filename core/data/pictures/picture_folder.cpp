#include "core/data/pictures/picture_folder.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "core/base/check.h"
#include "core/base/files.h"
#include "core/data/pictures/picture_records.h"
#include "core/pictures/picture.h"

namespace potluck::data {

namespace {

namespace fs = std::filesystem;

// Both ways in which MNIST's mirrors write the names.
constexpr std::array<std::string_view, 2> picture_parts = {"images-idx3-ubyte", "images.idx3-ubyte"};
constexpr std::array<std::string_view, 2> label_parts = {"labels-idx1-ubyte", "labels.idx1-ubyte"};

/// The file of the labels of a table of pictures; empty where the name is not of one.
fs::path labels_beside(const fs::path& file) {
    std::string name = file.filename().string();
    for (std::size_t way = 0; way < picture_parts.size(); ++way) {
        const std::size_t at = name.find(picture_parts[way]);
        if (at == std::string::npos) continue;
        name.replace(at, picture_parts[way].size(), label_parts[way]);
        return file.parent_path() / name;
    }
    return {};
}

std::vector<fs::path> tables_in(const fs::path& folder) {
    std::error_code failed;
    std::vector<fs::path> files;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
        if (entry->is_regular_file(failed) && !labels_beside(entry->path()).empty()) files.push_back(entry->path());
    }
    std::ranges::sort(files);
    return files;
}

Error unfit(const fs::path& file) {
    return {ErrorCode::malformed, file.string() + " is no table of pictures, or its labels are not as many."};
}

Result<pictures::IdxTable> read_table(const fs::path& file) {
    const auto bytes = read_file(file, pictures::idx_bytes_max);
    if (!bytes) return bytes.error();
    auto table = pictures::read_idx(*bytes);
    if (!table) return Error{table.error().code, file.string() + ": " + table.error().message};
    return table;
}

}  // namespace

Status PictureFolder::add_table(const fs::path& file) {
    auto pictures = read_table(file);
    if (!pictures) return pictures.error();
    const std::vector<std::uint32_t>& sizes = pictures->sizes;
    if (sizes.size() != 3 || std::max(sizes[1], sizes[2]) > pictures::side_max) return unfit(file);
    const std::string name = file.filename().string();
    Table table{.pictures = *std::move(pictures),
                .labels = {},
                .first = m_table_pictures,
                .is_for_validation = name.starts_with("t10k") || name.starts_with("test")};
    std::error_code unknown;
    if (const fs::path beside = labels_beside(file); fs::exists(beside, unknown)) {
        auto labels = read_table(beside);
        if (!labels) return labels.error();
        if (labels->sizes != std::vector{table.pictures.sizes[0]}) return unfit(file);
        table.labels = std::move(labels->values);
    }
    m_table_pictures += table.pictures.sizes[0];
    m_table_bytes += table.pictures.values.size() + table.labels.size();
    m_tables.push_back(std::move(table));
    return {};
}

Result<PictureFolder> PictureFolder::open(const fs::path& folder) {
    PictureFolder found(folder);
    auto files = find_pictures(folder);
    if (files) {
        found.m_files = *std::move(files);
        return found;
    }
    const std::vector<fs::path> tables = tables_in(folder);
    if (tables.size() > picture_tables_max)
        return Error{ErrorCode::invalid_argument,
                     folder.string() + " holds more than 64 tables of pictures; take fewer."};
    for (const fs::path& table : tables) {
        if (Status added = found.add_table(table); !added) return added.error();
    }
    if (found.m_tables.empty()) return files.error();
    return found;
}

std::uint64_t PictureFolder::bytes() const {
    std::uint64_t sum = m_table_bytes;
    for (const fs::path& file : m_files) {
        std::error_code unknown;
        const std::uint64_t bytes = fs::file_size(file, unknown);
        if (!unknown) sum += bytes;
    }
    return sum;
}

const PictureFolder::Table& PictureFolder::table_of(std::uint64_t number) const {
    POTLUCK_CHECK(number < m_table_pictures);
    const auto behind = std::ranges::upper_bound(m_tables, number, {}, &Table::first);
    return *(behind - 1);
}

std::optional<std::vector<model::Token>> PictureFolder::record(std::uint64_t number, std::uint32_t side) const {
    if (!m_files.empty()) return picture_record(m_files.at(number), side, Proportions::any);
    const Table& table = table_of(number);
    const std::uint32_t height = table.pictures.sizes[1], width = table.pictures.sizes[2];
    const std::uint64_t pixels = std::uint64_t{height} * width;
    pictures::Picture picture{width, height, {}};
    picture.rgb.reserve(3 * pixels);
    for (const std::byte grey : ByteSpan(table.pictures.values).subspan((number - table.first) * pixels, pixels))
        picture.rgb.insert(picture.rgb.end(), 3, std::to_integer<std::uint8_t>(grey));
    return record_of(picture, side);
}

std::vector<model::Token> PictureFolder::classes() const {
    if (!m_files.empty()) return classes_of(m_files);
    std::vector<model::Token> classes;
    for (const Table& table : m_tables) {
        classes.resize(table.first, 0);
        for (const std::byte label : table.labels)
            classes.push_back(std::min<model::Token>(std::to_integer<model::Token>(label) + 1, picture_classes_max));
    }
    classes.resize(m_table_pictures, 0);
    return classes;
}

bool PictureFolder::is_for_validation(std::uint64_t number) const {
    if (!m_files.empty()) return data::is_for_validation(m_files.at(number), m_folder);
    return table_of(number).is_for_validation;
}

}  // namespace potluck::data

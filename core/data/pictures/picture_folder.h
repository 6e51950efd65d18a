// The pictures of a folder, whatever its files are: one picture each, PNG or PPM, or where there is none of these,
// tables of many, in which MNIST and Fashion-MNIST come ("train-images-idx3-ubyte.gz" and its labels beside it).
//
// Numbers of pictures do not change with what of them can be read. Tables are held in memory, files are read one by
// one. Threads: one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/model/token.h"
#include "core/pictures/idx.h"

namespace potluck::data {

inline constexpr std::size_t picture_tables_max = 64;

class PictureFolder {
public:
    /// `not_found` without the folder, `invalid_argument` without a picture or with too many tables in it, `malformed`
    /// for a damaged table.
    [[nodiscard]] static Result<PictureFolder> open(const std::filesystem::path& folder);

    [[nodiscard]] std::uint64_t size() const { return m_files.empty() ? m_table_pictures : m_files.size(); }
    /// The sum over all files, tables unpacked.
    [[nodiscard]] std::uint64_t bytes() const;
    /// A record with no class; nothing where the picture cannot be read.
    [[nodiscard]] std::optional<std::vector<model::Token>> record(std::uint64_t number, std::uint32_t side) const;
    /// Each picture's class, from 1 on, by the folder that its file lies in or its label in the table; 0: none.
    [[nodiscard]] std::vector<model::Token> classes() const;
    /// Whether it lies below a folder named "validation", or in a table whose name begins with "t10k" or "test".
    [[nodiscard]] bool is_for_validation(std::uint64_t number) const;

private:
    struct Table {
        pictures::IdxTable pictures;    // (N, height, width)
        std::vector<std::byte> labels;  // N, or none
        std::uint64_t first = 0;        // number of its first picture
        bool is_for_validation = false;
    };
    explicit PictureFolder(std::filesystem::path folder) : m_folder(std::move(folder)) {}
    [[nodiscard]] Status add_table(const std::filesystem::path& file);
    [[nodiscard]] const Table& table_of(std::uint64_t number) const;

    std::filesystem::path m_folder;
    std::vector<std::filesystem::path> m_files;  // pictures; empty where tables hold them
    std::vector<Table> m_tables;
    std::uint64_t m_table_pictures = 0, m_table_bytes = 0;
};

}  // namespace potluck::data

#include "core/training/vector_file.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/base/files.h"

namespace potluck::training {

static_assert(std::endian::native == std::endian::little, "vector files are little-endian and copied as they are");

Status read_vector(const control::VectorFile& file, std::span<float> out) {
    const Result<MappedFile> mapped = MappedFile::open_read(file.path);
    if (!mapped.ok()) return mapped.error();
    const ByteSpan bytes = mapped->bytes();
    if (file.offset > bytes.size() || bytes.size() - file.offset < out.size_bytes()) {
        return Error{ErrorCode::malformed, "The file " + file.path + " is shorter than the model; fetch it again."};
    }
    std::memcpy(out.data(), bytes.data() + file.offset, out.size_bytes());
    for (const float value : out) {
        if (!std::isfinite(value)) {
            return Error{ErrorCode::malformed,
                         "The file " + file.path + " holds a value that is not a number; fetch it again."};
        }
    }
    return {};
}

Status write_vector(const control::VectorFile& file, std::span<const float> values) {
    const Error failure{ErrorCode::io,
                        "The file " + file.path + " cannot be written; check the disk and its free space."};
    std::error_code ignored;
    if (!std::filesystem::exists(file.path, ignored)) std::ofstream(file.path, std::ios::binary).flush();
    std::fstream stream(file.path, std::ios::binary | std::ios::in | std::ios::out);
    if (!stream.is_open()) return failure;
    stream.seekp(static_cast<std::streamoff>(file.offset));
    stream.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
    stream.close();
    if (stream.fail()) return failure;
    return {};
}

}  // namespace potluck::training

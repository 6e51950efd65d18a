#include "core/training/vector_file.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <vector>

namespace potluck::training {

static_assert(std::endian::native == std::endian::little, "vector files are little-endian and copied as they are");

namespace {

constexpr std::uint32_t exponent_bits = 0x7F80'0000;  // all set: infinite or NaN

}  // namespace

Result<VectorReader> VectorReader::open(const control::VectorFile& file, std::uint64_t size) {
    std::error_code failed;
    const std::uint64_t bytes = std::filesystem::file_size(file.path, failed);
    if (failed) return Error{ErrorCode::not_found, "The file " + file.path + " cannot be opened; fetch it again."};
    if (file.offset > bytes || (bytes - file.offset) / sizeof(float) < size) {
        return Error{ErrorCode::malformed, "The file " + file.path + " is shorter than the model; fetch it again."};
    }
    std::ifstream stream(file.path, std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(file.offset));
    if (!stream) return Error{ErrorCode::io, "The file " + file.path + " cannot be read; check the disk."};
    return VectorReader(std::move(stream), file.path);
}

Status VectorReader::read(std::span<float> out) {
    m_owner.check();
    m_stream.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size_bytes()));
    if (!m_stream) return Error{ErrorCode::io, "The file " + m_path + " cannot be read; check the disk."};
    bool finite = true;
    for (const float value : out) finite &= (std::bit_cast<std::uint32_t>(value) & exponent_bits) != exponent_bits;
    if (finite) return {};
    return Error{ErrorCode::malformed, "The file " + m_path + " holds a value that is not a number; fetch it again."};
}

Status for_each_piece(const control::VectorFile& file, std::uint64_t size,
                      const std::function<Status(std::uint64_t begin, std::span<const float> values)>& take) {
    Result<VectorReader> reader = VectorReader::open(file, size);
    if (!reader.ok()) return reader.error();
    std::vector<float> piece(std::min<std::uint64_t>(vector_piece, size));
    for (std::uint64_t begin = 0; begin < size; begin += piece.size()) {
        const std::span<float> values = std::span(piece).first(std::min<std::uint64_t>(piece.size(), size - begin));
        if (const Status status = reader->read(values); !status.ok()) return status;
        if (const Status status = take(begin, values); !status.ok()) return status;
    }
    return {};
}

Status check_vector(const control::VectorFile& file, std::uint64_t size) {
    return for_each_piece(file, size, [](std::uint64_t, std::span<const float>) { return Status(); });
}

Error VectorWriter::failure() const {
    return {ErrorCode::io, "The file " + m_path + " cannot be written; check the disk and its free space."};
}

Result<VectorWriter> VectorWriter::open(const control::VectorFile& file) {
    std::error_code ignored;
    if (!std::filesystem::exists(file.path, ignored)) std::ofstream(file.path, std::ios::binary).flush();
    VectorWriter writer(std::fstream(file.path, std::ios::binary | std::ios::in | std::ios::out), file.path);
    if (!writer.m_stream.is_open()) return writer.failure();
    writer.m_stream.seekp(static_cast<std::streamoff>(file.offset));
    return writer;
}

Status VectorWriter::write(std::span<const float> values) {
    m_owner.check();
    m_stream.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
    if (!m_stream) return failure();
    return {};
}

Status VectorWriter::close() {
    m_owner.check();
    m_stream.close();
    if (m_stream.fail()) return failure();
    return {};
}

}  // namespace potluck::training

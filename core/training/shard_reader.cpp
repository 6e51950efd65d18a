#include "core/training/shard_reader.h"

#include "core/base/check.h"
#include "core/run/sample_order.h"

namespace potluck::training {

Result<Shard> Shard::open(const std::filesystem::path& path, const ShardShape& shape) {
    Result<MappedFile> file = MappedFile::open_read(path);
    if (!file.ok()) return file.error();
    const std::uint64_t record_bytes =
        (std::uint64_t{shape.context} + 1) * model::bytes_of(model::token_width(shape.vocabulary));
    if (shape.records == 0 || file->bytes().size() % record_bytes != 0 ||
        file->bytes().size() / record_bytes != shape.records) {
        return Error{ErrorCode::malformed,
                     "The data file " + path.string() + " does not have the size the run states; fetch it again."};
    }
    return Shard(*std::move(file), shape, path);
}

Status Shard::append_record(std::uint64_t index, std::vector<model::Token>& out) const {
    POTLUCK_CHECK(index < m_shape.records);
    const std::size_t length = std::size_t{m_shape.context} + 1;
    const std::size_t start = out.size();
    out.resize(start + length);
    const model::TokenWidth width = model::token_width(m_shape.vocabulary);
    const std::size_t bytes = length * model::bytes_of(width);
    const ByteSpan record = m_file.bytes().subspan(static_cast<std::size_t>(index) * bytes, bytes);
    model::load_tokens(record, width, std::span(out).subspan(start));
    for (std::size_t i = start; i < out.size(); ++i) {
        if (out[i] >= m_shape.vocabulary) {
            return Error{ErrorCode::malformed, "The data file " + m_path.string() +
                                                   " holds a token beyond the run's vocabulary; fetch it again."};
        }
    }
    return {};
}

Status SampleReader::read(std::uint32_t count, std::vector<model::Token>& out) {
    m_owner.check();
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint64_t records = m_shard.shape().records;
        const std::uint64_t index = run::record_at(m_key.seed, m_key.round, m_key.peer, records, m_position);
        if (const Status status = m_shard.append_record(index, out); !status.ok()) return status;
        ++m_position;
    }
    return {};
}

}  // namespace potluck::training

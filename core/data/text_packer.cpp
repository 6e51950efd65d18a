#include "core/data/text_packer.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "core/base/check.h"
#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/data/bigram.h"
#include "core/data/text_source.h"
#include "core/run/manifest.h"

namespace potluck::data {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t held_out_key = 0x76616c6964617465ULL;
constexpr std::uint64_t shuffle_key = 0x73687566666c6521ULL;
constexpr std::uint64_t held_out_divisor = 20;    // 5% of the text
constexpr std::uint64_t held_out_share_most = 4;  // never more than a quarter of it
constexpr std::size_t sample_bytes = 1 << 20;     // to estimate bytes per token

const Error stopped{ErrorCode::cancelled, "Packing the text was stopped."};

/// Appends tokens to a file as little-endian uint16.
class TokenWriter {
public:
    explicit TokenWriter(const fs::path& file) : m_out(file, std::ios::binary | std::ios::trunc), m_file(file) {}

    Status write(std::span<const std::uint16_t> tokens) {
        m_bytes.clear();
        for (const std::uint16_t token : tokens) {
            m_bytes.push_back(static_cast<char>(token & 0xFFU));
            m_bytes.push_back(static_cast<char>(token >> 8U));
        }
        m_out.write(m_bytes.data(), static_cast<std::streamsize>(m_bytes.size()));
        m_tokens += tokens.size();
        return check();
    }
    Status close() {
        m_out.close();
        return check();
    }
    [[nodiscard]] std::uint64_t tokens() const { return m_tokens; }

private:
    Status check() {
        if (m_out) return {};
        return Error{ErrorCode::no_space,
                     "Writing " + m_file.string() + " failed; free some disk space and try again."};
    }
    std::ofstream m_out;
    fs::path m_file;
    std::vector<char> m_bytes;
    std::uint64_t m_tokens = 0;
};

std::uint64_t shard_count(std::uint64_t records, std::uint64_t record_bytes) {
    const std::uint64_t wanted = (records * record_bytes + shard_bytes_aimed - 1) / shard_bytes_aimed;
    return std::clamp<std::uint64_t>(wanted, 1, std::min<std::uint64_t>(run::shards_most, records));
}

void remove_quietly(const fs::path& file) {
    std::error_code ignored;
    fs::remove(file, ignored);
}

class Packer {
public:
    Packer(const PackPlan& plan, const Tokenizer& tokenizer, const PackProgress& progress)
        : m_plan(plan), m_tokenizer(tokenizer), m_progress(progress), m_record_tokens(plan.context + 1) {}

    Result<PackedText> pack() {
        const std::vector<std::function<Status()>> passes = {
            [this] { return make_folder(); },     [this] { return scan(); },
            [this] { return choose_held_out(); }, [this] { return tokenize(); },
            [this] { return read_validation(); }, [this] { return shuffle(); }};
        for (const auto& pass : passes) {
            if (const Status done = pass(); !done) {
                remove_quietly(sequential_file());
                return done.error();
            }
        }
        remove_quietly(sequential_file());
        return std::move(m_packed);
    }

private:
    [[nodiscard]] fs::path sequential_file() const { return m_plan.folder / "train.tokens.partial"; }
    [[nodiscard]] fs::path validation_file() const { return m_plan.folder / "validation.tokens"; }
    [[nodiscard]] bool told(PackStage stage, std::uint64_t done, std::uint64_t of) const {
        return !m_progress || m_progress(stage, of == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(of));
    }

    Status make_folder();
    Status scan();
    Status choose_held_out();
    Status tokenize();
    Status read_validation();
    Status shuffle();
    Result<std::vector<MappedFile>> create_shards(std::uint64_t records);

    const PackPlan& m_plan;
    const Tokenizer& m_tokenizer;
    const PackProgress& m_progress;
    std::size_t m_record_tokens;
    TextScan m_scan;
    std::uint64_t m_held_out_segments = 0;
    std::optional<BigramBaseline> m_bigram;
    PackedText m_packed;
};

Status Packer::make_folder() {
    std::error_code failed;
    fs::create_directories(m_plan.folder, failed);
    if (failed)
        return Error{ErrorCode::permission,
                     "The folder " + m_plan.folder.string() + " cannot be made (" + failed.message() + ")."};
    return {};
}

Status Packer::scan() {
    auto scan = scan_text(m_plan.text, [this](std::uint64_t done) {
        // The size is known only afterwards: a fraction that approaches one without promising anything.
        const double megabytes = static_cast<double>(done) / 1e6;
        return !m_progress || m_progress(PackStage::reading, megabytes / (megabytes + 100.0));
    });
    if (!scan) return scan.error();
    m_scan = std::move(*scan);
    m_packed.text_bytes = m_scan.bytes;
    m_packed.text_files = m_scan.files.size();
    m_packed.files_left_out = m_scan.files_left_out;
    return {};
}

/// How many segments are held out: 5% of the text, at least 64 records' worth, at most 2 MiB of tokens.
Status Packer::choose_held_out() {
    std::uint64_t seen = 0;
    std::vector<std::uint16_t> tokens;
    const Status sampled = for_each_segment(m_scan, [&](std::uint64_t, std::string_view text) -> Status {
        m_tokenizer.encode(text, tokens);
        seen += text.size();
        if (seen >= sample_bytes) return stopped;
        return {};
    });
    if (!sampled && seen < sample_bytes) return sampled;
    const double bytes_per_token =
        static_cast<double>(seen) / static_cast<double>(std::max<std::size_t>(tokens.size(), 1));
    const auto bytes_of = [&](std::uint64_t count) {
        return static_cast<std::uint64_t>(static_cast<double>(count) * bytes_per_token);
    };
    // A quarter more than the least, because tokens per byte differ between segments.
    const std::uint64_t least = bytes_of(validation_records_least * m_record_tokens * 5 / 4);
    const std::uint64_t most = std::max(least, bytes_of(validation_bytes_most / 2));
    const std::uint64_t wanted = std::clamp(m_scan.bytes / held_out_divisor, least, most);
    if (wanted > m_scan.bytes / held_out_share_most) {
        return Error{ErrorCode::invalid_argument, "The text is too small for a context of " +
                                                      std::to_string(m_plan.context) +
                                                      " tokens; give more text or a shorter context."};
    }
    m_held_out_segments = std::max<std::uint64_t>(1, wanted * m_scan.segments / m_scan.bytes);
    // Files shorter than a segment make segments smaller than their nominal size; the least must be met all the same.
    while (m_held_out_segments * (m_scan.bytes / m_scan.segments) < least) ++m_held_out_segments;
    return {};
}

Status Packer::tokenize() {
    const KeyedPermutation order(mix64(m_plan.key ^ held_out_key), m_scan.segments);
    TokenWriter training(sequential_file());
    TokenWriter validation(validation_file());
    std::vector<std::uint16_t> tokens;
    const std::uint64_t validation_tokens_most = validation_bytes_most / 2 / m_record_tokens * m_record_tokens;
    const Status done = for_each_segment(m_scan, [&](std::uint64_t index, std::string_view text) -> Status {
        if (!told(PackStage::tokenizing, index, m_scan.segments)) return stopped;
        tokens.clear();
        m_tokenizer.encode(text, tokens);
        if (order.at(index) >= m_held_out_segments) return training.write(tokens);
        const std::uint64_t room =
            std::max(validation_tokens_most, validation_records_least * m_record_tokens) - validation.tokens();
        if (tokens.size() > room) tokens.resize(static_cast<std::size_t>(room));
        return validation.write(tokens);
    });
    if (!done) return done;
    if (const Status closed = training.close(); !closed) return closed;
    if (const Status closed = validation.close(); !closed) return closed;
    m_packed.training_tokens = training.tokens();
    m_packed.validation = {validation_file(), validation.tokens() / m_record_tokens};
    const std::uint64_t records = training.tokens() / m_record_tokens;
    if (records < training_records_least || m_packed.validation.records < validation_records_least) {
        return Error{ErrorCode::invalid_argument, "The text gives only " + std::to_string(records) +
                                                      " training records of " + std::to_string(m_record_tokens) +
                                                      " tokens; give more text or a shorter context."};
    }
    return {};
}

/// Cuts the validation file to whole records and starts the baseline from it.
Status Packer::read_validation() {
    const std::uint64_t size = m_packed.validation.records * m_record_tokens * 2;
    std::error_code failed;
    fs::resize_file(validation_file(), size, failed);
    if (failed)
        return Error{ErrorCode::io, validation_file().string() + " cannot be written (" + failed.message() + ")."};
    if (Status synced = sync_file(validation_file()); !synced) return synced;
    const auto bytes = read_file(validation_file(), size);
    if (!bytes) return bytes.error();
    ByteReader reader(*bytes);
    std::vector<std::uint16_t> tokens(static_cast<std::size_t>(size / 2));
    for (std::uint16_t& token : tokens) token = reader.u16();
    m_bigram.emplace(m_tokenizer.vocabulary(), tokens, m_record_tokens);
    return {};
}

Result<std::vector<MappedFile>> Packer::create_shards(std::uint64_t records) {
    const std::uint64_t record_bytes = m_record_tokens * 2;
    const std::uint64_t shards = shard_count(records, record_bytes);
    std::vector<MappedFile> files;
    for (std::uint64_t shard = 0; shard < shards; ++shard) {
        const std::string number = std::to_string(shard);
        const std::string name =
            "shard-" + std::string(4 - std::min<std::size_t>(number.size(), 4), '0') + number + ".tokens";
        const std::uint64_t count = records / shards + (shard < records % shards ? 1 : 0);
        auto file = MappedFile::create(m_plan.folder / name, count * record_bytes);
        if (!file) return file.error();
        files.push_back(std::move(*file));
        m_packed.shards.push_back({m_plan.folder / name, count});
    }
    return files;
}

Status Packer::shuffle() {
    auto source = MappedFile::open_read(sequential_file());
    if (!source) return source.error();
    const std::uint64_t record_bytes = m_record_tokens * 2;
    const std::uint64_t records = source->bytes().size() / record_bytes;
    auto shards = create_shards(records);
    if (!shards) return shards.error();

    // The first `records % shards` shards hold one record more than the others.
    const std::uint64_t small = records / shards->size();
    const std::uint64_t larger = records % shards->size();
    const KeyedPermutation order(mix64(m_plan.key ^ shuffle_key), records);
    std::vector<std::uint16_t> tokens(m_record_tokens);
    for (std::uint64_t record = 0; record < records; ++record) {
        if (record % 4096 == 0 && !told(PackStage::shuffling, record, records)) return stopped;
        const ByteSpan bytes = source->bytes().subspan(static_cast<std::size_t>(record * record_bytes),
                                                       static_cast<std::size_t>(record_bytes));
        const std::uint64_t position = order.at(record);
        const std::uint64_t boundary = larger * (small + 1);
        const std::uint64_t shard =
            position < boundary ? position / (small + 1) : larger + (position - boundary) / small;
        const std::uint64_t within = position < boundary ? position % (small + 1) : (position - boundary) % small;
        std::memcpy((*shards)[static_cast<std::size_t>(shard)].writable().data() + within * record_bytes, bytes.data(),
                    bytes.size());
        ByteReader reader(bytes);
        for (std::uint16_t& token : tokens) token = reader.u16();
        m_bigram->count(tokens);
    }
    for (MappedFile& shard : *shards) {
        if (Status synced = shard.sync(); !synced) return synced;
    }
    m_packed.bigram_loss = m_bigram->loss();
    if (!told(PackStage::shuffling, records, records)) return stopped;
    return {};
}

}  // namespace

Result<PackedText> pack_text(const PackPlan& plan, const Tokenizer& tokenizer, const PackProgress& progress) {
    POTLUCK_CHECK(plan.context >= 1);
    return Packer(plan, tokenizer, progress).pack();
}

}  // namespace potluck::data

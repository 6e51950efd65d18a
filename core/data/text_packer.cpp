// Four passes, each of which can fail or be stopped: make the folder, split the source into two token files, cut and
// read the validation file, shuffle records into shards. Whatever happens, the sequential file of the second pass is
// removed; shards of a failed call stay behind.
//
// The shuffle reads the sequential file once from front to back and copies record i to position order(i) of the shards
// laid end to end. All of them are memory maps, so memory is the page cache's affair, and the keyed permutation needs
// no table. The bigram baseline counts in the same sweep, in the order of the text. Tokens behind the last whole record
// are left out.
#include "core/data/text_packer.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <variant>

#include "core/base/check.h"
#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/data/bigram.h"
#include "core/data/unigram.h"
#include "core/run/manifest.h"

namespace potluck::data {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t shuffle_key = 0x73687566666c6521ULL;

std::uint64_t shard_count(std::uint64_t records, std::uint64_t record_bytes) {
    const std::uint64_t wanted = (records * record_bytes + shard_bytes_aimed - 1) / shard_bytes_aimed;
    return std::clamp<std::uint64_t>(wanted, 1, std::min<std::uint64_t>(run::shards_max, records));
}

void remove_quietly(const fs::path& file) {
    std::error_code ignored;
    fs::remove(file, ignored);
}

class Packer {
public:
    Packer(const PackPlan& plan, std::uint32_t vocabulary, const PackProgress& progress,
           std::optional<PairMarks> marks = {}, const RecordBaseline* baseline = nullptr)
        : m_plan(plan),
          m_vocabulary(vocabulary),
          m_width(model::token_width(std::max(vocabulary, plan.model_vocabulary))),
          m_progress(progress),
          m_record_tokens(std::size_t{plan.context} + 1),
          m_marks(marks),
          m_baseline(baseline) {}

    Result<PackedText> pack(const RecordSplit& split_source) {
        const std::vector<std::function<Status()>> passes = {
            [this] { return make_folder(); }, [&] { return split(split_source); }, [this] { return read_validation(); },
            [this] { return shuffle(); }};
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
    [[nodiscard]] fs::path validation_file() const { return m_plan.folder / validation_file_name; }
    [[nodiscard]] std::uint64_t record_bytes() const { return m_record_tokens * model::bytes_of(m_width); }
    [[nodiscard]] bool told(std::uint64_t done, std::uint64_t of) const {
        return !m_progress || m_progress(PackStage::shuffling, static_cast<double>(done) / static_cast<double>(of));
    }

    Status make_folder();
    Status split(const RecordSplit& split_source);
    Status read_validation();
    Status shuffle();
    Result<std::vector<MappedFile>> create_shards(std::uint64_t records);
    void begin_baseline(std::span<const model::Token> validation);
    void count(std::span<const model::Token> record);
    [[nodiscard]] double baseline() const;

    const PackPlan& m_plan;
    std::uint32_t m_vocabulary;
    model::TokenWidth m_width;
    const PackProgress& m_progress;
    std::size_t m_record_tokens;
    std::optional<PairMarks> m_marks;  // of records that are pairs
    const RecordBaseline* m_baseline;  // of records that are neither pairs nor text
    std::optional<BigramBaseline> m_bigram;
    std::optional<UnigramBaseline> m_unigram;
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

Status Packer::split(const RecordSplit& split_source) {
    const auto split = split_source({m_plan.source, sequential_file(), validation_file(), TokenFormat::nanogpt, m_width,
                                     m_record_tokens, m_plan.key});
    if (!split) return split.error();
    m_packed.text_bytes = split->text_bytes;
    m_packed.text_files = split->text_files;
    m_packed.files_left_out = split->files_left_out;
    m_packed.training_tokens = split->training;
    m_packed.validation = {validation_file(), split->validation / m_record_tokens};
    const std::uint64_t records = split->training / m_record_tokens;
    if (records < training_records_min || m_packed.validation.records < validation_records_min) {
        return Error{ErrorCode::invalid_argument, "There are only " + std::to_string(records) + " training and " +
                                                      std::to_string(m_packed.validation.records) +
                                                      " validation records of " + std::to_string(m_record_tokens) +
                                                      " tokens; 64 are needed: give more or a shorter context."};
    }
    return {};
}

/// Cuts the validation file to whole records and starts the baseline from it.
Status Packer::read_validation() {
    const std::uint64_t size = m_packed.validation.records * record_bytes();
    std::error_code failed;
    fs::resize_file(validation_file(), size, failed);
    if (failed)
        return Error{ErrorCode::io, validation_file().string() + " cannot be written (" + failed.message() + ")."};
    if (Status synced = sync_file(validation_file()); !synced) return synced;
    const auto bytes = read_file(validation_file(), size);
    if (!bytes) return bytes.error();
    std::vector<model::Token> tokens(static_cast<std::size_t>(m_packed.validation.records) * m_record_tokens);
    model::load_tokens(*bytes, m_width, tokens);
    const std::uint64_t compared = std::min(m_packed.validation.records, m_plan.records_compared);
    begin_baseline(std::span(tokens).first(static_cast<std::size_t>(compared) * m_record_tokens));
    return {};
}

void Packer::begin_baseline(std::span<const model::Token> validation) {
    if (m_baseline) {
        m_baseline->begin(validation);
    } else if (m_marks) {
        m_unigram.emplace(m_vocabulary, *m_marks, validation);
    } else {
        m_bigram.emplace(m_vocabulary, validation, m_record_tokens);
    }
}

void Packer::count(std::span<const model::Token> record) {
    if (m_baseline) m_baseline->count(record);
    if (m_unigram) m_unigram->count(record);
    if (m_bigram) m_bigram->count(record);
}

double Packer::baseline() const {
    return m_baseline ? m_baseline->loss() : m_unigram ? m_unigram->loss() : m_bigram->loss();
}

Result<std::vector<MappedFile>> Packer::create_shards(std::uint64_t records) {
    const std::uint64_t shards = shard_count(records, record_bytes());
    std::vector<MappedFile> files;
    for (std::uint64_t shard = 0; shard < shards; ++shard) {
        const std::string number = std::to_string(shard);
        const std::string name =
            "shard-" + std::string(4 - std::min<std::size_t>(number.size(), 4), '0') + number + ".tokens";
        const std::uint64_t count = records / shards + (shard < records % shards ? 1 : 0);
        auto file = MappedFile::create(m_plan.folder / name, count * record_bytes());
        if (!file) return file.error();
        files.push_back(std::move(*file));
        m_packed.shards.push_back({m_plan.folder / name, count});
    }
    return files;
}

Status Packer::shuffle() {
    auto source = MappedFile::open_read(sequential_file());
    if (!source) return source.error();
    const std::uint64_t size = record_bytes();
    const std::uint64_t records = source->bytes().size() / size;
    auto shards = create_shards(records);
    if (!shards) return shards.error();

    // The first `records % shards` shards hold one record more than the others.
    const std::uint64_t small = records / shards->size();
    const std::uint64_t larger = records % shards->size();
    const KeyedPermutation order(mix64(m_plan.key ^ shuffle_key), records);
    std::vector<model::Token> tokens(m_record_tokens);
    for (std::uint64_t record = 0; record < records; ++record) {
        if (record % 4096 == 0 && !told(record, records)) return packing_stopped();
        const ByteSpan bytes =
            source->bytes().subspan(static_cast<std::size_t>(record * size), static_cast<std::size_t>(size));
        const std::uint64_t position = order.at(record);
        const std::uint64_t boundary = larger * (small + 1);
        const std::uint64_t shard =
            position < boundary ? position / (small + 1) : larger + (position - boundary) / small;
        const std::uint64_t within = position < boundary ? position % (small + 1) : (position - boundary) % small;
        std::memcpy((*shards)[static_cast<std::size_t>(shard)].writable().data() + within * size, bytes.data(),
                    bytes.size());
        model::load_tokens(bytes, m_width, tokens);
        count(tokens);
    }
    for (MappedFile& shard : *shards) {
        if (Status synced = shard.sync(); !synced) return synced;
    }
    m_packed.bigram_loss = baseline();
    if (!told(records, records)) return packing_stopped();
    return {};
}

}  // namespace

Result<PackedText> pack_text(const PackPlan& plan, const Tokenizer& tokenizer, const PackProgress& progress) {
    POTLUCK_CHECK(plan.context >= 1);
    return Packer(plan, tokenizer.vocabulary(), progress).pack([&](const SplitPlan& split) {
        return split_text(split, tokenizer, progress);
    });
}

Result<PackedText> pack_pairs(const PackPlan& plan, const Tokenizer& tokenizer, const PairMarks& marks,
                              const PackProgress& progress) {
    POTLUCK_CHECK(plan.context >= 8 && plan.model_vocabulary > std::max({marks.pad, marks.cls, marks.sep, marks.mask}));
    return Packer(plan, plan.model_vocabulary, progress, marks).pack([&](const SplitPlan& split) {
        return split_pairs(split, tokenizer, marks, progress);
    });
}

Result<PackedText> pack_records(const PackPlan& plan, std::uint32_t vocabulary, const RecordSplit& split,
                                const RecordBaseline& baseline, const PackProgress& progress) {
    POTLUCK_CHECK(plan.context >= 1 && vocabulary <= vocabulary_max);
    return Packer(plan, vocabulary, progress, {}, &baseline).pack(split);
}

Result<PackedText> pack_tokens(const PackPlan& plan, std::uint32_t vocabulary, const PackProgress& progress) {
    POTLUCK_CHECK(plan.context >= 1 && vocabulary <= vocabulary_max);
    return Packer(plan, vocabulary, progress).pack([&](const SplitPlan& split) {
        return split_tokens(split, vocabulary, progress);
    });
}

}  // namespace potluck::data

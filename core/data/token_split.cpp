// The source is cut into segments (a hundred or more, so that 5% is a fair sample), and segment i is held out if a
// keyed permutation sends i below the number wanted. That needs no list of segments, and a second run with the same key
// holds out the same ones. Text and tokens differ only in how a segment is read and in the unit its size is counted in.
//
// Invariant: a segment's tokens go to one of the two files, never to both. Validation stops at 2 MiB; what is held out
// beyond that is dropped and not trained on, since a model that has seen it would look better than it is. Text is
// tokenized segment by segment, which changes nothing where segments end between words (text_source.h).
#include "core/data/token_split.h"

#include <algorithm>
#include <string>

#include "core/base/check.h"
#include "core/base/rng.h"
#include "core/data/text_source.h"

namespace potluck::data {

namespace {

constexpr std::uint64_t held_out_key = 0x76616c6964617465ULL;
constexpr std::uint64_t held_out_divisor = 20;   // 5% of the source
constexpr std::uint64_t held_out_share_max = 4;  // never more than a quarter of it
constexpr std::size_t sample_bytes = 1 << 20;    // to estimate bytes per token
constexpr std::uint64_t token_segments_wanted = 256;
constexpr std::uint64_t segment_tokens_min = 256;
constexpr std::uint64_t segment_tokens_max = 32 * 1024;

bool told(const PackProgress& progress, PackStage stage, std::uint64_t done, std::uint64_t of) {
    return !progress || progress(stage, of == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(of));
}

/// A source in segments; `amount` counts bytes or tokens.
struct Extent {
    std::uint64_t amount = 0, segments = 0;
    double amount_per_token = 1;
    model::TokenWidth width = model::TokenWidth::bits16;
};

/// How many segments are held out: 5% of the source, at least 64 records' worth, at most 2 MiB of tokens.
Result<std::uint64_t> held_out_segments(const Extent& extent, std::uint64_t record_tokens) {
    const auto amount_of = [&](std::uint64_t tokens) {
        return static_cast<std::uint64_t>(static_cast<double>(tokens) * extent.amount_per_token);
    };
    // A quarter more than the least, because tokens per byte differ between segments.
    const std::uint64_t least = amount_of(validation_records_min * record_tokens * 5 / 4);
    const std::uint64_t most = std::max(least, amount_of(validation_bytes_max / model::bytes_of(extent.width)));
    const std::uint64_t wanted = std::clamp(extent.amount / held_out_divisor, least, most);
    if (wanted > extent.amount / held_out_share_max) {
        return Error{ErrorCode::invalid_argument, "There is too little for a context of " +
                                                      std::to_string(record_tokens - 1) +
                                                      " tokens; give more text or a shorter context."};
    }
    std::uint64_t held_out = std::max<std::uint64_t>(1, wanted * extent.segments / extent.amount);
    // Files shorter than a segment make segments smaller than their nominal size; the least must be met all the same.
    while (held_out < extent.segments && held_out * (extent.amount / extent.segments) < least) ++held_out;
    return held_out;
}

/// The two files.
class Streams {
public:
    Streams(const SplitPlan& plan, std::optional<model::Token> separator)
        : m_training{TokenWriter(plan.training, plan.format, plan.width), no_file},
          m_validation{TokenWriter(plan.validation, plan.format, plan.width), no_file},
          m_separator(separator) {
        const std::uint64_t whole_records =
            validation_bytes_max / model::bytes_of(plan.width) / plan.record_tokens * plan.record_tokens;
        m_validation_max = std::max(whole_records, validation_records_min * plan.record_tokens);
    }

    enum class To { training, validation };
    /// `tokens` are of the document number `file`; validation takes no more than it may hold.
    Status write(To to, std::size_t file, std::span<const model::Token> tokens) {
        Stream& stream = to == To::training ? m_training : m_validation;
        if (stream.file != file && m_separator) {
            const model::Token separator[] = {*m_separator};
            if (const Status written = write_some(to, separator); !written) return written;
        }
        stream.file = file;
        return write_some(to, tokens);
    }
    [[nodiscard]] bool validation_is_full() const { return m_validation.writer.tokens() >= m_validation_max; }

    Status close(SplitTokens& split) {
        if (const Status closed = m_training.writer.close(); !closed) return closed;
        if (const Status closed = m_validation.writer.close(); !closed) return closed;
        split.training = m_training.writer.tokens();
        split.validation = m_validation.writer.tokens();
        return {};
    }

private:
    static constexpr std::size_t no_file = SIZE_MAX;
    struct Stream {
        TokenWriter writer;
        std::size_t file = no_file;  // of what was written last
    };
    Status write_some(To to, std::span<const model::Token> tokens) {
        if (to == To::training) return m_training.writer.write(tokens);
        const std::uint64_t room = m_validation_max - m_validation.writer.tokens();
        return m_validation.writer.write(
            tokens.first(static_cast<std::size_t>(std::min<std::uint64_t>(tokens.size(), room))));
    }
    Stream m_training, m_validation;
    std::optional<model::Token> m_separator;
    std::uint64_t m_validation_max = 0;
};

Result<double> bytes_per_token(const TextScan& scan, const Tokenizer& tokenizer) {
    std::uint64_t seen = 0;
    std::vector<model::Token> tokens;
    const Status sampled = for_each_segment(scan, [&](const Segment& segment) -> Status {
        tokenizer.encode(segment.text, tokens);
        seen += segment.text.size();
        if (seen >= sample_bytes) return packing_stopped();
        return {};
    });
    if (!sampled && seen < sample_bytes) return sampled.error();
    return static_cast<double>(seen) / static_cast<double>(std::max<std::size_t>(tokens.size(), 1));
}

/// Calls `take` with the tokens of each segment, each at most `segment_tokens` and of one file.
template <class Take>
Status for_each_token_segment(const std::vector<std::filesystem::path>& files, std::uint64_t segment_tokens,
                              std::uint32_t vocabulary, const Take& take) {
    std::vector<model::Token> tokens;
    for (const auto& file : files) {
        auto reader = TokenReader::open(file, vocabulary);
        if (!reader) return reader.error();
        for (std::uint64_t left = reader->tokens(); left > 0; left -= tokens.size()) {
            if (const Status read = reader->read(static_cast<std::size_t>(segment_tokens), tokens); !read) return read;
            if (const Status taken = take(tokens); !taken) return taken;
        }
    }
    return {};
}

struct TokenCounts {
    std::uint64_t tokens = 0, bytes = 0;
    std::vector<std::uint64_t> by_file;
};
Result<TokenCounts> tokens_in(const std::vector<std::filesystem::path>& files, std::uint32_t vocabulary) {
    TokenCounts counts;
    for (const auto& file : files) {
        const auto reader = TokenReader::open(file, vocabulary);
        if (!reader) return reader.error();
        counts.tokens += reader->tokens();
        counts.bytes += reader->tokens() * model::bytes_of(reader->width());
        counts.by_file.push_back(reader->tokens());
    }
    return counts;
}

std::uint64_t segments_of(const TokenCounts& counts, std::uint64_t segment_tokens) {
    std::uint64_t segments = 0;
    for (const std::uint64_t tokens : counts.by_file) segments += (tokens + segment_tokens - 1) / segment_tokens;
    return segments;
}

/// Turns a segment's text into what is written of it.
using Encode = std::function<void(const Segment& segment, std::vector<model::Token>& out)>;

Result<SplitTokens> split_segments(const SplitPlan& plan, const Tokenizer& tokenizer,
                                   std::optional<model::Token> separator, const Encode& encode,
                                   const PackProgress& progress) {
    const auto scan = scan_text(plan.source, [&](std::uint64_t done) {
        // The size is known only afterwards: a fraction that approaches one without promising anything.
        return told(progress, PackStage::reading, done, done + 100'000'000);
    });
    if (!scan) return scan.error();
    const auto per_token = bytes_per_token(*scan, tokenizer);
    if (!per_token) return per_token.error();
    const auto held_out = held_out_segments({scan->bytes, scan->segments, *per_token, plan.width}, plan.record_tokens);
    if (!held_out) return held_out.error();

    const KeyedPermutation order(mix64(plan.key ^ held_out_key), scan->segments);
    Streams streams(plan, separator);
    std::vector<model::Token> tokens;
    const Status done = for_each_segment(*scan, [&](const Segment& segment) -> Status {
        if (!told(progress, PackStage::tokenizing, segment.index, scan->segments)) return packing_stopped();
        tokens.clear();
        encode(segment, tokens);
        const bool is_held_out = order.at(segment.index) < *held_out;
        return streams.write(is_held_out ? Streams::To::validation : Streams::To::training, segment.file, tokens);
    });
    if (!done) return done.error();
    SplitTokens split{0, 0, scan->bytes, scan->files.size(), scan->files_left_out};
    if (const Status closed = streams.close(split); !closed) return closed.error();
    return split;
}

}  // namespace

Result<SplitTokens> split_text(const SplitPlan& plan, const Tokenizer& tokenizer, const PackProgress& progress) {
    POTLUCK_CHECK(plan.width >= model::token_width(tokenizer.vocabulary()));
    const Encode encode = [&](const Segment& segment, std::vector<model::Token>& out) {
        tokenizer.encode(segment.text, out);
    };
    return split_segments(plan, tokenizer, tokenizer.separator(), encode, progress);
}

Result<SplitTokens> split_pairs(const SplitPlan& plan, const Tokenizer& tokenizer, const PairMarks& marks,
                                const PackProgress& progress) {
    PairRecords records(tokenizer, marks, static_cast<std::uint32_t>(plan.record_tokens - 1));
    const Encode encode = [&](const Segment& segment, std::vector<model::Token>& out) {
        Rng rng(mix64(plan.key ^ mix64(segment.index)));
        records.append(segment.text, rng, out);
    };
    return split_segments(plan, tokenizer, std::nullopt, encode, progress);
}

Result<SplitTokens> split_tokens(const SplitPlan& plan, std::uint32_t vocabulary, const PackProgress& progress) {
    POTLUCK_CHECK(plan.width >= model::token_width(vocabulary));
    const auto files = find_token_files(plan.source);
    if (!files) return files.error();
    const auto total = tokens_in(files->training, vocabulary);
    if (!total) return total.error();
    const std::uint64_t segment_tokens =
        std::clamp(total->tokens / token_segments_wanted, segment_tokens_min, segment_tokens_max);
    const std::uint64_t segments = segments_of(*total, segment_tokens);
    std::uint64_t held_out = 0;
    Streams streams(plan, {});
    if (files->validation.empty()) {
        const auto chosen = held_out_segments({total->tokens, segments, 1.0, plan.width}, plan.record_tokens);
        if (!chosen) return chosen.error();
        held_out = *chosen;
    } else {
        const Status copied =
            for_each_token_segment(files->validation, segment_tokens, vocabulary, [&](const auto& tokens) -> Status {
                return streams.validation_is_full() ? Status() : streams.write(Streams::To::validation, 0, tokens);
            });
        if (!copied) return copied.error();
    }
    const KeyedPermutation order(mix64(plan.key ^ held_out_key), segments);
    std::uint64_t index = 0;
    const Status done =
        for_each_token_segment(files->training, segment_tokens, vocabulary, [&](const auto& tokens) -> Status {
            if (!told(progress, PackStage::reading, index, segments)) return packing_stopped();
            const bool is_held_out = order.at(index++) < held_out;
            return streams.write(is_held_out ? Streams::To::validation : Streams::To::training, 0, tokens);
        });
    if (!done) return done.error();
    SplitTokens split{0, 0, total->bytes, files->training.size(), 0};
    if (const Status closed = streams.close(split); !closed) return closed.error();
    return split;
}

}  // namespace potluck::data

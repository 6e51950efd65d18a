#include "core/data/vocabulary/train_vocabulary.h"

#include <algorithm>
#include <exception>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sentencepiece_trainer.h>

namespace potluck::data {

namespace {

/// Lines that are in memory.
class Lines final : public sentencepiece::SentenceIterator {
public:
    explicit Lines(std::vector<std::string> lines) : m_lines(std::move(lines)) {}
    bool done() const override { return m_next == m_lines.size(); }
    void Next() override { ++m_next; }
    const std::string& value() const override { return m_lines[m_next]; }
    sentencepiece::util::Status status() const override { return {}; }

private:
    std::vector<std::string> m_lines;
    std::size_t m_next = 0;
};

void append_lines(std::string_view text, std::vector<std::string>& lines) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (end > 0) lines.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

Result<std::vector<std::string>> read_lines(const std::filesystem::path& text, const ReadProgress& progress) {
    const auto scan = scan_text(text, progress);
    if (!scan) return scan.error();
    const std::uint64_t every = (scan->bytes + vocabulary_bytes_max - 1) / vocabulary_bytes_max;
    std::vector<std::string> lines;
    const Status read = for_each_segment(*scan, [&](const Segment& segment) -> Status {
        if (segment.index % every == 0) append_lines(segment.text, lines);
        return {};
    });
    if (!read) return read.error();
    return lines;
}

/// The options of Google's own script, but for the size.
std::unordered_map<std::string, std::string> options_for(std::uint32_t pieces) {
    return {{"model_type", "unigram"},
            {"vocab_size", std::to_string(pieces)},
            {"hard_vocab_limit", "false"},
            {"normalization_rule_name", "nmt_nfkc_cf"},
            {"character_coverage", "0.99995"},
            {"pad_id", "0"},
            {"unk_id", "1"},
            {"bos_id", "-1"},
            {"eos_id", "-1"},
            {"control_symbols", "[CLS],[SEP],[MASK]"},
            {"max_sentence_length", std::to_string(segment_bytes_max)},
            {"num_threads", "4"},  // sums depend on how many there are, not on the computer's cores
            {"minloglevel", "2"}};
}

}  // namespace

Result<std::string> train_vocabulary(const std::filesystem::path& text, std::uint32_t pieces,
                                     const ReadProgress& progress) {
    auto read = read_lines(text, progress);
    if (!read) return read.error();
    Lines lines(*std::move(read));
    std::string model;
    try {
        const auto trained = sentencepiece::SentencePieceTrainer::Train(options_for(pieces), &lines, &model);
        if (trained.ok()) return model;
    } catch (const std::exception&) {
        // Answered below: the library says in no other way that a text does not suit it.
    }
    return Error{ErrorCode::invalid_argument, "No vocabulary of " + std::to_string(pieces) + " pieces can be made of " +
                                                  text.string() + "; give a larger number, or more text."};
}

}  // namespace potluck::data

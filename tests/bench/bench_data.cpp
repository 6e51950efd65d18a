// How fast text becomes tokens: byte-level BPE on one core, with a vocabulary learned here from the same text.
//
//   bench_data --text FILE-OR-FOLDER [--merges n] [--report FILE]
//
// The learner is the textbook one (Sennrich et al. 2016): count the pairs of neighbours in all words, merge the most
// frequent pair, and again. It is slow and need not be fast; only encoding is timed.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/data/byte_bpe.h"

namespace {

namespace fs = std::filesystem;
using Symbols = std::vector<std::string>;
using Pair = std::pair<std::string, std::string>;

constexpr std::size_t text_bytes_max = 8U << 20U, sample_bytes = 1U << 18U;
constexpr int repeats = 7;

std::string read_text(const fs::path& path) {
    std::string text;
    const auto add = [&](const fs::path& file) {
        std::ostringstream out;
        out << std::ifstream(file, std::ios::binary).rdbuf();
        text += out.str();
    };
    if (fs::is_regular_file(path)) add(path);
    if (fs::is_directory(path)) {
        for (const auto& entry : fs::recursive_directory_iterator(path)) {
            if (entry.is_regular_file() && text.size() < text_bytes_max) add(entry.path());
        }
    }
    text.resize(std::min(text.size(), text_bytes_max));
    return text;
}

/// Words of the sample as symbols of single bytes, with how often each occurs; a word keeps the space before it.
std::map<Symbols, std::size_t> words_of(const std::string& sample) {
    std::map<Symbols, std::size_t> words;
    Symbols word;
    for (const char letter : sample) {
        if (letter == ' ' || letter == '\n') {
            if (!word.empty()) ++words[word];
            word.clear();
        }
        word.push_back(potluck::data::byte_symbol(static_cast<unsigned char>(letter)));
    }
    return words;
}

Symbols merged(const Symbols& word, const Pair& pair) {
    Symbols out;
    for (std::size_t i = 0; i < word.size(); ++i) {
        const bool here = i + 1 < word.size() && word[i] == pair.first && word[i + 1] == pair.second;
        out.push_back(here ? word[i] + word[i + 1] : word[i]);
        if (here) ++i;
    }
    return out;
}

std::vector<Pair> learn(std::map<Symbols, std::size_t> words, std::size_t merges) {
    std::vector<Pair> learned;
    while (learned.size() < merges) {
        std::map<Pair, std::size_t> counts;
        for (const auto& [word, count] : words) {
            for (std::size_t i = 0; i + 1 < word.size(); ++i) counts[{word[i], word[i + 1]}] += count;
        }
        if (counts.empty()) break;
        const auto best = std::max_element(counts.begin(), counts.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        learned.push_back(best->first);
        std::map<Symbols, std::size_t> next;
        for (const auto& [word, count] : words) next[merged(word, best->first)] += count;
        words = std::move(next);
    }
    return learned;
}

}  // namespace

int main(int argc, char** argv) {
    using namespace potluck;
    std::map<std::string, std::string> options{{"--text", "."}, {"--merges", "500"}};
    for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
    const std::string text = read_text(options["--text"]);
    if (text.size() < sample_bytes) {
        std::fprintf(stderr, "bench_data: --text needs at least %zu bytes of text\n", sample_bytes);
        return 1;
    }
    nlohmann::json vocabulary = nlohmann::json::object();
    for (unsigned byte = 0; byte < 256; ++byte) vocabulary[data::byte_symbol(static_cast<unsigned char>(byte))] = byte;
    std::string merges = "#version: 0.2\n";
    for (const auto& [left, right] : learn(words_of(text.substr(0, sample_bytes)), std::stoul(options["--merges"]))) {
        merges.append(left).append(" ").append(right).append("\n");
        if (!vocabulary.contains(left + right)) vocabulary[left + right] = vocabulary.size();
    }
    const auto model = data::parse_byte_bpe(vocabulary.dump(), merges);
    if (!model) {
        std::fprintf(stderr, "bench_data: %s\n", model.error().message.c_str());
        return 1;
    }
    double best = 1e9;
    std::vector<model::Token> tokens;
    for (int i = 0; i < repeats; ++i) {
        tokens.clear();
        const auto began = std::chrono::steady_clock::now();
        (*model)->encode(text, tokens);
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    }
    const nlohmann::json report = {
        {"bpe_megabytes_per_second", static_cast<double>(text.size()) / best * 1e-6},
        {"bytes", text.size()},
        {"bytes_per_token", static_cast<double>(text.size()) / static_cast<double>(tokens.size())},
        {"vocabulary", (*model)->vocabulary()}};
    std::printf("%s\n", report.dump(2).c_str());
    if (options.contains("--report")) std::ofstream(options["--report"]) << report.dump(2) << '\n';
    return 0;
}

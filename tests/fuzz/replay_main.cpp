// Replays a corpus as a test: every file as it stands, then up to 2,000 mutations of each, until the time is over. The
// mutations follow from a seed, which is printed: the same one always, or that of POTLUCK_FUZZ_SEED, so that CI tries
// others every time. A fault is a crash or an abort, as for libFuzzer; the input that caused it is written to
// fuzz-fault.bin in the working folder first.
//
//   fuzz_<name> <corpus folder or single file>...
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "core/base/rng.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using Input = std::vector<std::uint8_t>;
using SteadyClock = std::chrono::steady_clock;

constexpr int mutations_per_file = 2'000;
constexpr std::size_t input_bytes_max = 1 << 20;
constexpr auto time_max = std::chrono::seconds(20);
constexpr std::uint64_t usual_seed = 0x706f746c75636bULL;

Input current;  // what is being run, for the handler of a crash

extern "C" void write_fault(int signal_number) {
    if (std::FILE* file = std::fopen("fuzz-fault.bin", "wb"); file != nullptr) {
        std::fwrite(current.data(), 1, current.size(), file);
        std::fclose(file);
    }
    std::signal(signal_number, SIG_DFL);
    std::raise(signal_number);
}

void run(const Input& input) {
    current = input;
    // A copy of exactly this size on the heap, so that a sanitizer sees a read past its end.
    const Input exact(input.begin(), input.end());
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

Input read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::filesystem::path> files_of(int count, char** arguments) {
    std::vector<std::filesystem::path> files;
    for (int i = 1; i < count; ++i) {
        std::error_code failed;
        if (std::filesystem::is_directory(arguments[i], failed)) {
            for (const auto& entry : std::filesystem::directory_iterator(arguments[i], failed)) {
                if (entry.is_regular_file(failed)) files.push_back(entry.path());
            }
        } else {
            files.emplace_back(arguments[i]);
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// Overwrites up to eight bytes with a number that parsers trip over.
void plant_number(Input& input, potluck::Rng& rng) {
    static constexpr std::uint64_t numbers[] = {0,
                                                1,
                                                0x7f,
                                                0x80,
                                                0xff,
                                                0x7fff,
                                                0xffff,
                                                0x7fffffff,
                                                0xffffffff,
                                                1ULL << 40U,
                                                ~0ULL >> 1U,
                                                ~0ULL,
                                                0x7ff0000000000000,
                                                0x7fc00000};
    std::uint64_t number = numbers[rng.below(std::size(numbers))];
    const std::uint64_t width = 1ULL << rng.below(4);
    std::size_t at = rng.below(input.size());
    for (std::uint64_t i = 0; i < width && at < input.size(); ++i, ++at, number >>= 8U) {
        input[at] = static_cast<std::uint8_t>(number);
    }
}

/// As the target itself changes inputs.
void mutate_by_target(Input& input, potluck::Rng& rng) {
    const std::size_t size = input.size();
    input.resize(std::min(input_bytes_max, 2 * size + 4'096));
    input.resize(LLVMFuzzerCustomMutator(input.data(), size, input.size(), static_cast<unsigned>(rng.next())));
}

void mutate_once(Input& input, const Input& other, potluck::Rng& rng) {
    if (input.empty()) input.push_back(0);
    const std::size_t at = rng.below(input.size());
    const std::size_t length = std::min<std::size_t>(1 + rng.below(32), input.size() - at);
    const auto from = input.begin() + static_cast<std::ptrdiff_t>(at);
    const auto to = from + static_cast<std::ptrdiff_t>(length);
    switch (rng.below(8)) {
        case 0: input[at] = static_cast<std::uint8_t>(input[at] ^ (1U << rng.below(8))); break;
        case 1: input[at] = static_cast<std::uint8_t>(rng.next()); break;
        case 2: input.erase(from, to); break;
        case 3: input.resize(at); break;
        case 4: {  // say something twice
            const Input piece(from, to);
            input.insert(from, piece.begin(), piece.end());
            break;
        }
        case 5: plant_number(input, rng); break;
        case 6: {  // go on as another file of the corpus does
            const std::size_t rest = other.empty() ? 0 : rng.below(other.size());
            input.resize(at);
            input.insert(input.end(), other.begin() + static_cast<std::ptrdiff_t>(rest), other.end());
            break;
        }
        default: {
            static constexpr char spelling[] = "0123456789-+.eE\"{}[]:,\\ %&=nulltrfas";
            input[at] = static_cast<std::uint8_t>(spelling[rng.below(sizeof spelling - 1)]);
        }
    }
    if (input.size() > input_bytes_max) input.resize(input_bytes_max);
}

/// One to six changes.
Input mutation_of(const Input& input, const std::vector<Input>& corpus, potluck::Rng& rng) {
    Input mutated = input;
    const std::uint64_t steps = 1 + rng.below(6);
    const bool by_target = LLVMFuzzerCustomMutator != nullptr && rng.below(8) != 0;
    for (std::uint64_t step = 0; step < steps; ++step) {
        if (by_target) {
            mutate_by_target(mutated, rng);
        } else {
            mutate_once(mutated, corpus[rng.below(corpus.size())], rng);
        }
    }
    return mutated;
}

std::uint64_t chosen_seed() {
    const char* text = std::getenv("POTLUCK_FUZZ_SEED");
    return text == nullptr || *text == '\0' ? usual_seed : std::strtoull(text, nullptr, 0);
}

}  // namespace

int main(int count, char** arguments) {
    std::vector<Input> corpus;
    for (const auto& file : files_of(count, arguments)) corpus.push_back(read(file));
    if (corpus.empty()) {
        std::fprintf(stderr, "No corpus: name a folder with files to replay.\n");
        return EXIT_FAILURE;
    }
    for (const int signal_number : {SIGABRT, SIGSEGV, SIGFPE, SIGILL}) std::signal(signal_number, write_fault);
    for (const Input& input : corpus) run(input);

    const std::uint64_t seed = chosen_seed();
    std::printf("POTLUCK_FUZZ_SEED=%llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    // Rounds over all files, so that a short time is shared fairly.
    const auto deadline = SteadyClock::now() + time_max;
    potluck::Rng rng(seed);
    std::size_t mutations = 0;
    for (int round = 0; round < mutations_per_file && SteadyClock::now() < deadline; ++round) {
        for (const Input& input : corpus) {
            run(mutation_of(input, corpus, rng));
            ++mutations;
        }
    }
    if (potluck_fuzz_came_far_enough != nullptr && !potluck_fuzz_came_far_enough()) {
        std::fprintf(stderr, "Too few inputs came far enough to test anything.\n");
        return EXIT_FAILURE;
    }
    std::printf("%zu files, %zu mutations, no fault\n", corpus.size(), mutations);
    return EXIT_SUCCESS;
}

// Both formats are little-endian tokens; llm.c puts 1,024 bytes before them, which say whether a token has 16 or 32
// bits. Which format a file has is decided by its first 32 bits. A nanoGPT file that begins with llm.c's magic number
// would hold the tokens 55432 and 308, and the first is beyond GPT-2's vocabulary; a file that is taken for the wrong
// format is refused, because llm.c's count must match the size. A nanoGPT file of 16-bit tokens that is read with a
// larger vocabulary is refused by its size or at a token beyond the vocabulary.
//
// llm.c's header says zero tokens until the file is closed, because only then is the count known: a file that was cut
// short is refused, since its size and its count do not fit. Reading checks every token against the vocabulary: a file
// made by another tokenizer fails at its first foreign token, with the position, instead of training on noise.
//
// Source: data/openwebtext/prepare.py of karpathy/nanoGPT; dev/data/data_common.py of karpathy/llm.c.
#include "core/data/token_file.h"

#include <algorithm>
#include <limits>
#include <string>
#include <system_error>

#include "core/base/bytes.h"

namespace potluck::data {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t llmc_header_bytes = 256 * 4;

/// How llm.c's headers begin: of GPT-2's tokens and of Llama 3's.
struct LlmcKind {
    std::uint32_t magic, version;
    model::TokenWidth width;
};
constexpr LlmcKind llmc_kinds[] = {{20240520, 1, model::TokenWidth::bits16}, {20240801, 7, model::TokenWidth::bits32}};

Error unreadable_tokens(const fs::path& file, const std::string& why) {
    return {ErrorCode::io, "The token file " + file.string() + " cannot be read (" + why +
                               "); check that it exists and that you may read it."};
}
Error damaged(const fs::path& file, const std::string& what) {
    return {ErrorCode::malformed, file.string() + " " + what + "; make it again."};
}

/// The first three fields of llm.c's header. The others are zero.
std::string llmc_header(model::TokenWidth width, std::uint32_t tokens) {
    const LlmcKind& kind = llmc_kinds[width == model::TokenWidth::bits16 ? 0 : 1];
    ByteWriter header;
    for (const std::uint32_t value : {kind.magic, kind.version, tokens}) header.u32(value);
    return std::string(as_text(header.bytes()));
}

bool is_validation(const fs::path& file) {
    const std::string name = file.filename().string();
    return name.starts_with("val") || name.find("_val") != std::string::npos;
}

/// "x_train_y.bin" becomes "x_val_y.bin".
fs::path counterpart(const fs::path& file) {
    std::string name = file.filename().string();
    const std::size_t at = name.rfind("train");
    return at == std::string::npos ? fs::path() : file.parent_path() / name.replace(at, 5, "val");
}

Result<std::vector<fs::path>> token_files_in(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code failed;
    fs::directory_iterator walk(folder, failed);
    if (failed) return unreadable_tokens(folder, failed.message());
    for (; walk != fs::directory_iterator(); walk.increment(failed)) {
        if (failed) return unreadable_tokens(folder, failed.message());
        if (walk->path().extension() == ".bin" && walk->is_regular_file(failed)) found.push_back(walk->path());
        if (found.size() > token_files_max) {
            return Error{ErrorCode::invalid_argument,
                         folder.string() + " holds more than 100000 token files; give fewer and larger ones."};
        }
    }
    if (failed) return unreadable_tokens(folder, failed.message());
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace

TokenWriter::TokenWriter(const fs::path& file, TokenFormat format, model::TokenWidth width)
    : m_out(file, std::ios::binary | std::ios::trunc), m_file(file), m_format(format), m_width(width) {
    if (format == TokenFormat::llmc) m_out << llmc_header(width, 0) << std::string(llmc_header_bytes - 12, '\0');
}

Status TokenWriter::check() const {
    if (m_out) return {};
    return Error{ErrorCode::no_space, "Writing " + m_file.string() + " failed; free some disk space and try again."};
}

Status TokenWriter::write(std::span<const model::Token> tokens) {
    m_tokens += tokens.size();
    if (m_format == TokenFormat::llmc && m_tokens > llmc_tokens_max) {
        return Error{ErrorCode::invalid_argument,
                     "A file of llm.c holds at most 2147483647 tokens; give less text or choose the format nanogpt."};
    }
    const Bytes bytes = model::stored_tokens(tokens, m_width);
    m_out.write(as_text(bytes).data(), static_cast<std::streamsize>(bytes.size()));
    return check();
}

Status TokenWriter::close() {
    if (m_format == TokenFormat::llmc) {
        m_out.seekp(0);
        m_out << llmc_header(m_width, static_cast<std::uint32_t>(m_tokens));
    }
    m_out.close();
    return check();
}

Result<TokenReader> TokenReader::open(const fs::path& file, std::uint32_t vocabulary) {
    TokenReader reader;
    reader.m_file = file;
    reader.m_vocabulary = vocabulary;
    reader.m_width = model::token_width(vocabulary);
    reader.m_in.open(file, std::ios::binary);
    std::error_code failed;
    const std::uint64_t bytes = fs::file_size(file, failed);
    if (!reader.m_in || failed) return unreadable_tokens(file, failed ? failed.message() : "opening failed");
    char start[12] = {};
    reader.m_in.read(start, sizeof start);
    ByteReader header(as_bytes({start, static_cast<std::size_t>(reader.m_in.gcount())}));
    reader.m_in.clear();
    std::size_t begin = 0;
    const std::uint32_t magic = header.u32();
    for (const LlmcKind& kind : llmc_kinds) {
        if (magic != kind.magic) continue;
        reader.m_format = TokenFormat::llmc;
        reader.m_width = kind.width;
        const std::uint32_t version = header.u32();
        reader.m_tokens = header.u32();
        if (version != kind.version)
            return damaged(file, "is a token file of llm.c in another version than " + std::to_string(kind.version));
        begin = llmc_header_bytes;
        if (bytes != llmc_header_bytes + model::bytes_of(kind.width) * reader.m_tokens)
            return damaged(file, "does not hold as many tokens as its header says");
    }
    const std::uint64_t width = model::bytes_of(reader.m_width);
    if (reader.m_format == TokenFormat::nanogpt) reader.m_tokens = bytes / width;
    if (bytes % width != 0) {
        return damaged(file, width == 2 ? "is no file of 16-bit tokens: its size is odd"
                                        : "is no file of 32-bit tokens: its size is not a multiple of four");
    }
    if (reader.m_tokens == 0) return damaged(file, "holds no tokens");
    if (reader.m_tokens > token_file_tokens_max)
        return Error{ErrorCode::invalid_argument, file.string() + " holds more than 2^40 tokens; give a part of it."};
    reader.m_in.seekg(static_cast<std::streamoff>(begin));
    return reader;
}

Status TokenReader::read(std::size_t most, std::vector<model::Token>& out) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(most, m_tokens - m_read));
    m_bytes.resize(model::bytes_of(m_width) * count);
    m_in.read(reinterpret_cast<char*>(m_bytes.data()), static_cast<std::streamsize>(m_bytes.size()));
    if (static_cast<std::size_t>(m_in.gcount()) != m_bytes.size())
        return unreadable_tokens(m_file, "it changed meanwhile");
    out.resize(count);
    model::load_tokens(m_bytes, m_width, out);
    for (std::size_t i = 0; i < count; ++i) {
        if (out[i] < m_vocabulary) continue;
        return Error{ErrorCode::malformed, m_file.string() + " holds the token " + std::to_string(out[i]) +
                                               " at position " + std::to_string(m_read + i) +
                                               ", beyond the vocabulary of " + std::to_string(m_vocabulary) +
                                               "; name the tokenizer or vocabulary that it was made with."};
    }
    m_read += count;
    return {};
}

Result<TokenFiles> find_token_files(const fs::path& path) {
    TokenFiles files;
    std::error_code failed;
    const bool single = fs::is_regular_file(path, failed);
    if (!single && !fs::is_directory(path, failed)) return unreadable_tokens(path, "it is neither a file nor a folder");
    auto found = token_files_in(single ? path.parent_path() / "." : path);
    if (!found) return found.error();
    if (single) files.training = {path};
    const fs::path partner = single ? counterpart(path) : fs::path();
    for (fs::path& file : *found) {
        const bool begins = file.filename().string().starts_with("val");
        if (!single) {
            (is_validation(file) ? files.validation : files.training).push_back(std::move(file));
        } else if (file.filename() != path.filename() && (begins || file.filename() == partner.filename())) {
            files.validation.push_back(std::move(file));
        }
    }
    if (files.training.empty()) {
        return Error{ErrorCode::not_found,
                     path.string() +
                         " holds no token files to train on; give a folder with train.bin or other .bin "
                         "files, or one such file."};
    }
    return files;
}

}  // namespace potluck::data

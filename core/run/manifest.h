// The manifest: what a run is, signed by its host. One blob; the v2 info-hash of that blob's torrent is the RunId.
//
//   file := "PLKMAN6\n" | 64-byte Ed25519 signature | JSON (UTF-8, at most 1 MiB, closed set of fields)
//
// The digit is the version of the protocol that the run's members speak: another one is answered with a sentence.
//
// The signature covers the JSON bytes exactly as they stand (domain "manifest"). Parsing checks every field and limit;
// verifying the signature is the caller's (core/run knows no keys).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/model_spec.h"
#include "core/run/blob_ref.h"
#include "core/run/device.h"
#include "core/run/recipe.h"

namespace potluck::run {

inline constexpr std::size_t manifest_bytes_max = 1 << 20;
inline constexpr std::size_t shards_max = 4096;
inline constexpr std::size_t backbones_max = 16;
inline constexpr std::size_t allowed_max = 4096;
inline constexpr std::size_t run_name_characters_max = 80;
inline constexpr std::size_t purpose_characters_max = 2'000;
inline constexpr std::size_t licence_bytes_max = 120;
inline constexpr std::uint64_t tokenizer_bytes_max = 64ULL << 20U;
inline constexpr std::uint64_t coder_bytes_max = 400'000'000;
inline constexpr std::uint64_t bpe_file_bytes_max = 8ULL << 20U;  // vocab.json, merges.txt
inline constexpr std::uint64_t tokenizer_json_bytes_max = 32ULL << 20U;
inline constexpr std::uint64_t validation_tokens = 8192, validation_records_min = 4;
inline constexpr std::uint64_t pictures_measured = 256;  // a record of which has thousands of values
/// The protocol that this program speaks.
[[nodiscard]] std::uint32_t protocol_version();
/// The protocol that the members of a manifest's run speak, this one or another; nothing if it is no manifest.
[[nodiscard]] std::optional<std::uint32_t> protocol_of(ByteSpan file);
/// Whether `text` can be an SPDX expression: which letters it has and how many, not what they mean.
[[nodiscard]] bool is_licence(std::string_view text);
/// Domain under which the host signs the JSON.
inline constexpr std::string_view manifest_domain = "manifest";

enum class TokenizerKind {
    bytes,           // token = byte value, vocabulary 256
    sentencepiece,   // one model file
    bpe,             // byte-level BPE: GPT-2's vocab.json and merges.txt
    tokenizer_json,  // byte-level BPE: one tokenizer.json
    none,            // the shards were given as tokens, and nobody said what they stand for
};

/// What made the codes of a run whose model draws, and makes pictures of those that it draws.
struct PictureCoder {
    model::ModelSpec model;
    BlobRef state;  // its state file (core/model/state_layout.h)
    bool operator==(const PictureCoder&) const = default;
};

struct Tokenizer {
    TokenizerKind kind = TokenizerKind::bytes;
    BlobRef model = {};   // of a sentencepiece model file, vocab.json or tokenizer.json; unused for bytes and none
    BlobRef merges = {};  // of merges.txt; unused but for bpe
    std::optional<PictureCoder> pictures = {};  // of a model that draws, and of no other
    bool operator==(const Tokenizer&) const = default;

    /// What has to be fetched before text can be read or written, and pictures drawn: the coder's is the last.
    [[nodiscard]] std::vector<BlobRef> blobs() const;
};

/// A file of little-endian tokens in records of context + 1, each of which can be trained on alone. Its size is exactly
/// records * (context + 1) * 2, or * 4 where the vocabulary is larger than 65,536.
struct Shard {
    BlobRef blob;
    std::uint64_t records = 0;
    bool operator==(const Shard&) const = default;
};

/// How many of `records` of a validation shard, from the first on, model and baseline are measured on: about
/// validation_tokens tokens, or pictures_measured pictures. 0 where they are too few for the model.
[[nodiscard]] std::uint64_t records_measured(const model::ModelSpec& model, std::uint64_t records);

struct Manifest {
    std::string name;     // 1..80 characters
    std::string purpose;  // at most 2,000 characters
    std::string licence;  // SPDX expression of the resulting model
    PeerId host;
    std::optional<Device> host_device{};  // the computer that hosts it, if the host's key is not its own
    std::vector<PeerId> backbones;        // lead before all others, in this order
    model::ModelSpec model;
    Tokenizer tokenizer;
    std::vector<Shard> shards;  // at least one
    Shard validation;
    double bigram_loss = 0;  // nats per token of the training text's add-one bigram model, on validation
    Recipe recipe;
    BlobRef initial_state;        // theta[0]
    std::vector<PeerId> allowed;  // empty: anybody may join
    std::int64_t created = 0;     // seconds since 1970
    bool operator==(const Manifest&) const = default;

    [[nodiscard]] std::string to_json_text() const;
    /// Those that the model's loss is measured on.
    [[nodiscard]] std::uint64_t records_measured() const;
    /// The tokens, or values of pictures, in them.
    [[nodiscard]] std::uint64_t tokens_measured() const { return records_measured() * model.context; }
};

/// A manifest file in its parts. `json` points into the file's bytes.
struct SignedManifest {
    Manifest manifest;
    std::array<std::byte, 64> signature{};
    ByteSpan json;
};

[[nodiscard]] Bytes manifest_file(ByteSpan json, const std::array<std::byte, 64>& signature);
[[nodiscard]] Result<SignedManifest> parse_manifest_file(ByteSpan file);

}  // namespace potluck::run

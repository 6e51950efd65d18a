// The host signs bytes, not fields: parsing keeps the JSON as it stood, and nothing is ever serialised again to check a
// signature. Fields are read from top to bottom, the model before the tokenizer, the shards and the initial state,
// because their sizes must fit it; a manifest that parses describes a run that can be trained.
//
// The set of fields is closed and every list has a limit (json.h), so what a stranger's manifest costs is bounded by
// its 1 MiB. An error within a part is raised to the whole with its own sentence. Keys that occur twice are refused: a
// backbone listed twice would lead twice in every order.
#include "core/run/manifest.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/model/state_layout.h"
#include "core/model/token.h"
#include "core/model/traits.h"
#include "core/run/plain_text.h"

namespace potluck::run {

namespace {

constexpr std::string_view magic = "PLKMAN6\n";
constexpr std::string_view oldest_magic = "PLKMAN1\n";
constexpr std::string_view magic_name = "PLKMAN";
constexpr std::size_t prefix_bytes = magic.size() + 64;
constexpr std::uint64_t created_max = 1ULL << 40U;
constexpr std::uint64_t records_max = 1ULL << 40U;
constexpr std::uint32_t byte_values = 256;

nlohmann::json to_json(const BlobRef& blob) {
    nlohmann::json object = {{"root", blob.root.hex()}, {"size", blob.size}};
    object["kind"] = blob.kind == BlobKind::plain ? "plain" : "open";
    if (blob.kind == BlobKind::open) object["info_hash"] = blob.info_hash.hex();
    return object;
}

nlohmann::json to_json(const Shard& shard) { return {{"blob", to_json(shard.blob)}, {"records", shard.records}}; }

nlohmann::json text_json(const Tokenizer& tokenizer) {
    switch (tokenizer.kind) {
        case TokenizerKind::bytes: return {{"kind", "bytes"}};
        case TokenizerKind::none: return {{"kind", "none"}};
        case TokenizerKind::sentencepiece: return {{"kind", "sentencepiece"}, {"model", to_json(tokenizer.model)}};
        case TokenizerKind::tokenizer_json: return {{"kind", "tokenizer_json"}, {"model", to_json(tokenizer.model)}};
        case TokenizerKind::bpe: break;
    }
    return {{"kind", "bpe"}, {"model", to_json(tokenizer.model)}, {"merges", to_json(tokenizer.merges)}};
}

nlohmann::json to_json(const Tokenizer& tokenizer) {
    nlohmann::json object = text_json(tokenizer);
    if (const auto& coder = tokenizer.pictures)
        object["pictures"] = {{"model", coder->model.to_json()}, {"state", to_json(coder->state)}};
    return object;
}

nlohmann::json to_json(const std::vector<PeerId>& peers) {
    nlohmann::json array = nlohmann::json::array();
    for (const PeerId& peer : peers) array.push_back(peer.hex());
    return array;
}

/// Makes the error of a part the error of the whole, still as one sentence.
void adopt(Fields& whole, const Error& error) {
    whole.fail(error.message.substr(0, error.message.find_last_not_of('.') + 1));
}

/// A 32-byte id in hexadecimal. Fails `fields` on anything else.
template <class Id>
Id read_id(Fields& fields, std::string_view name) {
    const std::optional<Id> id = Id::parse(fields.text(name, 64));
    if (!id) fields.fail(std::string(name) + " is not 64 hexadecimal digits");
    return id.value_or(Id{});
}

std::string read_plain(Fields& fields, std::string_view name, std::size_t characters, LineBreaks breaks) {
    std::string text = fields.text(name, 4 * characters);
    const std::optional<std::size_t> length = plain_text_length(text, breaks);
    if (!length || *length > characters) fields.fail(std::string(name) + " is too long or holds control characters");
    return text;
}

std::string read_licence(Fields& fields) {
    std::string text = fields.text("licence", licence_bytes_max);
    if (!is_licence(text)) fields.fail("licence is not an SPDX expression");
    return text;
}

BlobRef read_blob(const nlohmann::json& object, Fields& parent) {
    Fields fields(object, "blob");
    BlobRef blob;
    blob.root = read_id<BlobId>(fields, "root");
    blob.size = fields.integer("size", 1, blob_bytes_max);
    const std::string kind = fields.text("kind", 8);
    if (kind == "open") {
        blob.kind = BlobKind::open;
        blob.info_hash = read_id<Digest>(fields, "info_hash");
        if (blob.info_hash.is_zero()) fields.fail("info_hash of an open blob is zero");
    } else if (kind != "plain") {
        fields.fail("kind is neither plain nor open");
    }
    if (const Status status = fields.finish(); !status) adopt(parent, status.error());
    return blob;
}

Shard read_shard(const nlohmann::json& object, Fields& parent, const model::ModelSpec& model) {
    Fields fields(object, "shard");
    Shard shard;
    shard.blob = read_blob(fields.object("blob"), fields);
    shard.records = fields.integer("records", 1, records_max);
    const std::uint64_t token_bytes = model::bytes_of(model::token_width(model.vocabulary));
    const std::uint64_t record_bytes = token_bytes * (std::uint64_t{model.context} + 1);
    if (shard.blob.size != shard.records * record_bytes) fields.fail("the blob's size does not fit the records");
    if (const Status status = fields.finish(); !status) adopt(parent, status.error());
    return shard;
}

/// The coder of a model that draws: its codes are that model's, place by place.
PictureCoder read_coder(const nlohmann::json& object, Fields& parent, const model::ModelSpec& drawer) {
    Fields fields(object, "picture coder");
    PictureCoder coder;
    const Result<model::ModelSpec> spec = model::ModelSpec::from_json(fields.object("model"));
    coder.state = read_blob(fields.object("state"), fields);
    if (!spec) {
        adopt(fields, spec.error());
    } else if (!model::fits_drawer(*spec, drawer)) {
        fields.fail("model is no picture coder with the codes of the model that draws");
    } else if (coder.state.size != model::state_layout(*spec).file_size() || coder.state.size > coder_bytes_max) {
        fields.fail("state does not have the size of the coder's, or is larger than 400 MB");
    }
    if (spec) coder.model = *spec;
    if (const Status status = fields.finish(); !status) adopt(parent, status.error());
    return coder;
}

Tokenizer read_tokenizer(const nlohmann::json& object, Fields& parent, const model::ModelSpec& model) {
    Fields fields(object, "tokenizer");
    Tokenizer tokenizer;
    const std::string kind = fields.text("kind", 16);
    if (kind == "sentencepiece") {
        tokenizer.kind = TokenizerKind::sentencepiece;
        tokenizer.model = read_blob(fields.object("model"), fields);
        if (tokenizer.model.size > tokenizer_bytes_max) fields.fail("model is larger than 64 MiB");
    } else if (kind == "bpe") {
        tokenizer.kind = TokenizerKind::bpe;
        tokenizer.model = read_blob(fields.object("model"), fields);
        tokenizer.merges = read_blob(fields.object("merges"), fields);
        if (std::max(tokenizer.model.size, tokenizer.merges.size) > bpe_file_bytes_max)
            fields.fail("model or merges is larger than 8 MiB");
    } else if (kind == "tokenizer_json") {
        tokenizer.kind = TokenizerKind::tokenizer_json;
        tokenizer.model = read_blob(fields.object("model"), fields);
        if (tokenizer.model.size > tokenizer_json_bytes_max) fields.fail("model is larger than 32 MiB");
    } else if (kind == "none") {
        tokenizer.kind = TokenizerKind::none;
    } else if (kind != "bytes") {
        fields.fail("kind is not bytes, sentencepiece, bpe, tokenizer_json or none");
    } else if (model::is_drawer(model)
                   ? model::caption_shape(model).vocabulary != byte_values
                   : model.vocabulary != byte_values + (model::text_marks(model) ? model::text_marks_count : 0)) {
        fields.fail("bytes needs a model whose vocabulary is 256, or 260 with an encoder's marks");
    }
    if (model::reads_pictures(model) && tokenizer.kind != TokenizerKind::none)
        fields.fail("kind is not none, which is what pictures have");
    if (model::is_drawer(model)) tokenizer.pictures = read_coder(fields.object("pictures"), fields, model);
    if (const Status status = fields.finish(); !status) adopt(parent, status.error());
    return tokenizer;
}

std::vector<PeerId> read_peers(Fields& fields, std::string_view name, std::size_t most) {
    std::vector<PeerId> peers;
    for (const nlohmann::json& item : fields.array(name, most)) {
        const auto* text = item.get_ptr<const std::string*>();
        const std::optional<PeerId> peer = text == nullptr ? std::nullopt : PeerId::parse(*text);
        if (!peer) {
            fields.fail(std::string(name) + " holds something that is not a key");
            return {};
        }
        peers.push_back(*peer);
    }
    std::vector<PeerId> sorted = peers;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
        fields.fail(std::string(name) + " names somebody twice");
    }
    return peers;
}

std::vector<Shard> read_shards(Fields& fields, const model::ModelSpec& model) {
    std::vector<Shard> shards;
    for (const nlohmann::json& item : fields.array("shards", shards_max)) {
        if (fields.failed()) break;
        shards.push_back(read_shard(item, fields, model));
    }
    if (shards.empty()) fields.fail("shards is empty");
    return shards;
}

/// Parses a part that has a parser of its own; its error becomes the manifest's.
template <class Part>
Part read_part(Fields& fields, std::string_view name) {
    Result<Part> part = Part::from_json(fields.object(name));
    if (part) return std::move(*part);
    adopt(fields, part.error());
    return Part{};
}

/// Two empty texts if the host's key is its computer's.
std::optional<Device> read_host_device(Fields& fields, const PeerId& host) {
    const std::string key = fields.text("host_device", 64);
    const std::string signature = fields.text("host_device_signature", 128);
    if (key.empty() && signature.empty()) return std::nullopt;
    Device device;
    device.certificate.person = host;
    const bool is_one = from_hex(key, device.key.bytes) && from_hex(signature, device.certificate.signature);
    if (!is_one || device.key == host) fields.fail("host_device is no computer's key with its signature");
    return device;
}

Result<Manifest> parse_manifest(const nlohmann::json& object) {
    Fields fields(object, "manifest");
    Manifest manifest;
    manifest.name = read_plain(fields, "name", run_name_characters_max, LineBreaks::refused);
    if (manifest.name.empty()) fields.fail("name is empty");
    manifest.purpose = read_plain(fields, "purpose", purpose_characters_max, LineBreaks::allowed);
    manifest.licence = read_licence(fields);
    manifest.host = read_id<PeerId>(fields, "host");
    manifest.host_device = read_host_device(fields, manifest.host);
    manifest.backbones = read_peers(fields, "backbones", backbones_max);
    manifest.model = read_part<model::ModelSpec>(fields, "model");
    if (model::has_code_book(manifest.model)) fields.fail("model has a code book, which no run trains");
    manifest.tokenizer = read_tokenizer(fields.object("tokenizer"), fields, manifest.model);
    manifest.shards = read_shards(fields, manifest.model);
    manifest.validation = read_shard(fields.object("validation"), fields, manifest.model);
    manifest.bigram_loss = fields.number("bigram_loss", 0.0, 1'000.0);
    manifest.recipe = read_part<Recipe>(fields, "recipe");
    manifest.initial_state = read_blob(fields.object("initial_state"), fields);
    manifest.allowed = read_peers(fields, "allowed", allowed_max);
    manifest.created = static_cast<std::int64_t>(fields.integer("created", 0, created_max));
    if (!fields.failed() && manifest.initial_state.size != model::state_layout(manifest.model).file_size()) {
        fields.fail("initial_state does not have the size of the model's state");
    }
    if (const Status status = fields.finish(); !status) return status.error();
    return manifest;
}

}  // namespace

bool is_licence(std::string_view text) {
    static constexpr std::string_view characters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-+(): ";
    return !text.empty() && text.size() <= licence_bytes_max &&
           text.find_first_not_of(characters) == std::string_view::npos;
}

std::vector<BlobRef> Tokenizer::blobs() const {
    std::vector<BlobRef> all;
    if (kind != TokenizerKind::bytes && kind != TokenizerKind::none) all.push_back(model);
    if (kind == TokenizerKind::bpe) all.push_back(merges);
    if (pictures) all.push_back(pictures->state);
    return all;
}

std::string Manifest::to_json_text() const {
    nlohmann::json shard_array = nlohmann::json::array();
    for (const Shard& shard : shards) shard_array.push_back(to_json(shard));
    const nlohmann::json object = {
        {"name", name},
        {"purpose", purpose},
        {"licence", licence},
        {"host", host.hex()},
        {"host_device", host_device ? host_device->key.hex() : ""},
        {"host_device_signature", host_device ? to_hex(host_device->certificate.signature) : ""},
        {"backbones", to_json(backbones)},
        {"model", model.to_json()},
        {"tokenizer", to_json(tokenizer)},
        {"shards", std::move(shard_array)},
        {"validation", to_json(validation)},
        {"bigram_loss", bigram_loss},
        {"recipe", recipe.to_json()},
        {"initial_state", to_json(initial_state)},
        {"allowed", to_json(allowed)},
        {"created", created}};
    return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::uint64_t records_measured(const model::ModelSpec& model, std::uint64_t records) {
    const std::uint64_t together = model::records_together(model);
    const std::uint64_t most = model::reads_pictures(model)
                                   ? std::max(pictures_measured, together)
                                   : std::max(validation_records_min, validation_tokens / model.context);
    const std::uint64_t measured = std::min(records, most);
    return measured - measured % together;
}

std::uint64_t Manifest::records_measured() const { return run::records_measured(model, validation.records); }

Bytes manifest_file(ByteSpan json, const std::array<std::byte, 64>& signature) {
    ByteWriter out;
    out.raw(as_bytes(magic));
    out.raw(signature);
    out.raw(json);
    return out.take();
}

std::uint32_t protocol_version() { return *protocol_of(as_bytes(magic)); }

std::optional<std::uint32_t> protocol_of(ByteSpan file) {
    const std::string_view begin = as_text(file).substr(0, magic.size());
    const bool manifest = begin.starts_with(magic_name) && begin.size() == magic.size() && begin.ends_with('\n');
    const char digit = manifest ? begin[magic_name.size()] : ' ';
    return is_digit(digit) ? std::optional(static_cast<std::uint32_t>(digit - '0')) : std::nullopt;
}

Result<SignedManifest> parse_manifest_file(ByteSpan file) {
    if (file.size() > prefix_bytes + manifest_bytes_max) {
        return Error{ErrorCode::malformed, "This manifest is larger than 1 MiB; ask the host for a valid invite."};
    }
    ByteReader in(file);
    const std::string_view begin = as_text(in.raw(magic.size()));
    if (begin.starts_with(magic_name) && begin >= oldest_magic && begin < magic) {
        return Error{ErrorCode::unavailable,
                     "This run was started with an older Potluck, whose protocol is no longer spoken; ask its host to "
                     "start it again with this version."};
    }
    if (begin.starts_with(magic_name) && begin > magic) {
        return Error{ErrorCode::unavailable, "This run needs a newer Potluck; update this one to join it."};
    }
    if (begin != magic) {
        return Error{ErrorCode::malformed, "This is not a manifest of Potluck; ask the host for a valid invite."};
    }
    SignedManifest parsed;
    in.array(parsed.signature);
    if (in.failed()) return Error{ErrorCode::malformed, "This manifest is cut short; fetch it again."};
    parsed.json = in.raw(in.remaining());
    const Result<nlohmann::json> json = parse_json(as_text(parsed.json), manifest_bytes_max);
    if (!json) return json.error();
    Result<Manifest> manifest = parse_manifest(*json);
    if (!manifest) return manifest.error();
    parsed.manifest = std::move(*manifest);
    return parsed;
}

}  // namespace potluck::run

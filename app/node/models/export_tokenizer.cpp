#include "app/node/models/export_tokenizer.h"

#include <nlohmann/json.hpp>

#include "app/node/models/picture_coding.h"
#include "core/base/files.h"
#include "core/model/hf_config.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr const char* bytes_note =
    "This model reads and writes bytes: token n is the byte n of UTF-8 text, and the vocabulary is 256.\n"
    "Encode with list(text.encode()), decode with bytes(tokens).decode(errors=\"replace\").\n";
constexpr const char* marks_note =
    "The four tokens behind it are <pad>, [CLS], [SEP] and [MASK]; a text stands between [CLS] and [SEP].\n";
constexpr const char* sentencepiece_note =
    "This model's tokens are those of tokenizer.model, a sentencepiece model. It was trained line by line: encode "
    "each\n"
    "line alone, and put the token of the line break (\"\\n\" or \"<0x0A>\"), where the model has one, between "
    "lines. The\n"
    "token </s>, where the model has one, stands before every document.\n";
constexpr const char* pictures_note =
    "This model codes square pictures of config.json's side. Their red, green and blue of 0..1, less one half and\n"
    "doubled, go through encoder.*, are rounded to whole numbers (finite scalar quantisation, levels in config.json),\n"
    "and go through decoder.*; what comes out is halved, and one half is added. Convolutions are torch.nn.Conv2d's;\n"
    "norms are GroupNorm of 8 groups, before a SiLU. The tensors stand in the order in which they are applied.\n";
constexpr const char* embedder_note =
    "This model makes embeddings of square pictures, red, green and blue of 0..1, less (.485, .456, .406) and divided\n"
    "by (.229, .224, .225). torchvision.safetensors is its residual network with what norms remember of the run's\n"
    "held-out pictures; it is missing where those or a trainer were not on the computer that exported. width, stages,\n"
    "block and stem are in config.json (basic or bottleneck; a small stem is one convolution of 3 x 3):\n\n"
    "    class Network(torchvision.models.ResNet):\n"
    "        def _make_layer(self, block, planes, blocks, stride=1, dilate=False):\n"
    "            if planes == 64: self.inplanes = width\n"
    "            return super()._make_layer(block, planes * width // 64, blocks, stride, dilate)\n"
    "    network = Network(torchvision.models.resnet.BasicBlock, stages)   # or Bottleneck\n"
    "    network.bn1, network.fc = torch.nn.BatchNorm2d(width), torch.nn.Identity()\n"
    "    network.conv1 = torch.nn.Conv2d(3, width, 3, padding=1, bias=False)   # small stem; large: 7, stride=2, "
    "padding=3\n"
    "    network.maxpool = torch.nn.Identity()                                 # small stem only\n"
    "    network.load_state_dict(safetensors.torch.load_file(\"torchvision.safetensors\"))\n"
    "    network.eval()\n";
constexpr const char* drawer_note =
    "This model draws: behind 0, the tokens of a caption and 1 up to config.json's text, it goes on with the codes of\n"
    "a picture, row by row, each text_vocabulary and the code. The picture coder in coder/ makes a picture of "
    "them.\n\n";
constexpr const char* none_note =
    "The host of this run gave tokens without a tokenizer; ask there what the tokens stand for.\n";

Status write(const fs::path& file, ByteSpan bytes, std::vector<std::string>& files) {
    files.push_back(file.string());
    return write_file_atomically(file, bytes);
}

Status write_byte_bpe(const data::Tokenizer& tokenizer, const char* reader, std::uint32_t context,
                      const fs::path& folder, std::vector<std::string>& files) {
    std::string separator;
    if (const auto token = tokenizer.separator()) separator = tokenizer.decode(std::vector<std::uint32_t>{*token});
    return write(folder / "tokenizer_config.json", as_bytes(tokenizer_config(reader, separator, context)), files);
}

/// The picture coder of a model that draws, as a checkpoint of its own; its state file is one as it stands.
Status export_coder(const HeldModel& model, const fs::path& folder, std::vector<std::string>& files) {
    const auto coder = open_coder(model);
    if (!coder) return coder.error();
    const fs::path home = folder / coder_folder_name;
    std::error_code failed;
    fs::create_directories(home, failed);
    if (failed) return Error{ErrorCode::permission, home.string() + " cannot be made (" + failed.message() + ")."};
    const std::string config = model::hugging_face_config(coder->model).dump(2) + "\n";
    if (Status written = write(home / "config.json", as_bytes(config), files); !written) return written;
    const auto weights = MappedFile::open_read(coder->file);
    if (!weights) return weights.error();
    return write(home / "model.safetensors", weights->bytes(), files);
}

}  // namespace

std::string tokenizer_config(const char* reader, const std::string& separator, std::uint32_t context) {
    const nlohmann::json special = separator.empty() ? nlohmann::json() : nlohmann::json(separator);
    const nlohmann::json config = {{"tokenizer_class", reader},   {"add_prefix_space", false},
                                   {"model_max_length", context}, {"bos_token", special},
                                   {"eos_token", special},        {"unk_token", special}};
    return config.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Status export_tokenizer(const HeldModel& model, const fs::path& folder, std::vector<std::string>& files) {
    const run::TokenizerKind kind = model.manifest.tokenizer.kind;
    const fs::path note = folder / "tokenizer.txt";
    const fs::path pictures = folder / "pictures.txt";
    if (model::is_coder(model.manifest.model)) return write(pictures, as_bytes(pictures_note), files);
    if (model::is_embedder(model.manifest.model)) return write(pictures, as_bytes(embedder_note), files);
    if (model::is_drawer(model.manifest.model)) {
        if (Status written = export_coder(model, folder, files); !written) return written;
    }
    if (kind == run::TokenizerKind::none) return write(note, as_bytes(none_note), files);
    if (kind == run::TokenizerKind::bytes) {
        const bool marks = model::is_encoder(model.manifest.model);
        const bool draws = model::is_drawer(model.manifest.model);
        const std::string text = std::string(draws ? drawer_note : "") + bytes_note + (marks ? marks_note : "");
        return write(note, as_bytes(text), files);
    }
    const auto tokenizer = open_tokenizer(model);
    if (!tokenizer) return tokenizer.error();
    const bool bpe = kind == run::TokenizerKind::bpe;
    std::vector<const char*> names{"tokenizer.model"};
    if (bpe) names = {"vocab.json", "merges.txt"};
    const bool json = kind == run::TokenizerKind::tokenizer_json;
    if (json) names = {"tokenizer.json"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto content = MappedFile::open_read(model.tokenizer_files.at(i));
        if (!content) return content.error();
        if (Status written = write(folder / names[i], content->bytes(), files); !written) return written;
    }
    const std::uint32_t context = model.manifest.model.context;
    if (bpe) return write_byte_bpe(*tokenizer, "GPT2Tokenizer", context, folder, files);
    if (json) return write_byte_bpe(*tokenizer, "PreTrainedTokenizerFast", context, folder, files);
    return write(note, as_bytes(sentencepiece_note), files);
}

}  // namespace potluck::node

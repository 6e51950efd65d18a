#include "app/node/export_model.h"

#include <system_error>

#include "app/node/export_tokenizer.h"
#include "app/node/sampler.h"
#include "core/base/files.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

Status write_text(const fs::path& file, const std::string& text) { return write_file_atomically(file, as_bytes(text)); }

}  // namespace

nlohmann::json hugging_face_config(const run::ModelSpec& model) {
    return {{"architectures", {"GPT2LMHeadModel"}},
            {"model_type", "gpt2"},
            {"vocab_size", model.vocabulary},
            {"n_positions", model.context},
            {"n_ctx", model.context},
            {"n_embd", model.width},
            {"n_layer", model.layers},
            {"n_head", model.heads},
            {"n_inner", 4 * model.width},
            {"activation_function", model.activation == run::Activation::relu ? "relu" : "gelu_new"},
            {"resid_pdrop", model.dropout},
            {"embd_pdrop", model.dropout},
            {"attn_pdrop", model.dropout},
            {"layer_norm_epsilon", 1e-5},
            {"initializer_range", 0.02},
            {"scale_attn_weights", true},
            {"tie_word_embeddings", true},
            {"use_cache", true},
            {"bos_token_id", nullptr},
            {"eos_token_id", nullptr},
            {"torch_dtype", "float32"}};
}

Result<std::vector<std::string>> export_model(const Node& node, const fs::path& folder) {
    const RunSession* session = node.session();
    if (session == nullptr)
        return Error{ErrorCode::not_found, "This node is in no run; join one with an invite first."};
    const auto round = newest_state(*session);
    if (!round) return round.error();
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed)
        return Error{ErrorCode::permission,
                     "The folder " + folder.string() + " cannot be made (" + failed.message() + ")."};
    const fs::path model = folder / "model.safetensors";
    if (fs::exists(model)) {
        return Error{ErrorCode::invalid_argument, folder.string() + " already holds a model; give another folder."};
    }
    if (Status written = write_file_atomically(model, session->store().state_bytes(*round)); !written)
        return written.error();
    std::vector<std::string> files{model.string(), (folder / "config.json").string()};
    const std::string config = hugging_face_config(session->plan().manifest.model).dump(2) + "\n";
    if (Status written = write_text(files.back(), config); !written) return written.error();
    if (Status written = export_tokenizer(*session, folder, files); !written) return written.error();
    return files;
}

}  // namespace potluck::node

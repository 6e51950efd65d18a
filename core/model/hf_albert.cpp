#include "core/model/hf_albert.h"

#include "core/base/json.h"
#include "core/model/hf_fields.h"

namespace potluck::model {

namespace {

constexpr double albert_epsilon = 1e-12;
constexpr std::uint32_t default_mask = 4;  // of ALBERT's and sahajBERT's vocabularies; configurations do not name it

}  // namespace

Result<ModelSpec> parse_albert_config(const nlohmann::json& config) {
    const nlohmann::json known =
        picked(config, {"vocab_size", "embedding_size", "hidden_size", "num_hidden_layers", "num_hidden_groups",
                        "inner_group_num", "num_attention_heads", "intermediate_size", "hidden_act",
                        "max_position_embeddings", "type_vocab_size", "layer_norm_eps", "position_embedding_type",
                        "pad_token_id", "bos_token_id", "eos_token_id", "mask_token_id", "tie_word_embeddings"});
    Fields fields(known, "config.json");
    const auto id = [&](const char* name, std::uint32_t usual) {
        return static_cast<std::uint32_t>(fields.integer_or(name, 0, count_max, usual));
    };
    ModelSpec model;
    model.family = Family::albert;
    model.vocabulary = count(fields, "vocab_size");
    model.context = count(fields, "max_position_embeddings");
    model.layers = count(fields, "num_hidden_layers");
    model.heads = count(fields, "num_attention_heads");
    model.width = count(fields, "hidden_size");
    model.albert.embedding = count(fields, "embedding_size");
    model.albert.inner = count(fields, "intermediate_size");
    model.albert.pad = id("pad_token_id", 0);
    model.albert.cls = id("bos_token_id", 2);
    model.albert.sep = id("eos_token_id", 3);
    model.albert.mask = id("mask_token_id", default_mask);
    for (const char* name : {"num_hidden_groups", "inner_group_num"}) {
        if (fields.integer_or(name, 1, count_max, 1) != 1) {
            fields.fail(std::string(name) + " is not 1, which this version cannot train");
        }
    }
    if (fields.integer_or("type_vocab_size", 1, count_max, albert_segments) != albert_segments) {
        fields.fail("type_vocab_size is not 2, which this version cannot train");
    }
    if (fields.text_or("hidden_act", 64, "gelu_new") != "gelu_new") {
        fields.fail("hidden_act is not gelu_new, which is the one this version trains");
    }
    if (fields.text_or("position_embedding_type", 64, "absolute") != "absolute") {
        fields.fail("position_embedding_type is not absolute, which is the one this version trains");
    }
    if (fields.number_or("layer_norm_eps", 0, 1, albert_epsilon) != albert_epsilon) {
        fields.fail("layer_norm_eps is not 1e-12, which is the one this version trains");
    }
    expect(fields, "tie_word_embeddings", true);
    return checked(fields, model);
}

nlohmann::json albert_config(const ModelSpec& model) {
    const AlbertShape& shape = model.albert;
    return {{"architectures", {"AlbertForPreTraining"}},
            {"model_type", "albert"},
            {"vocab_size", model.vocabulary},
            {"embedding_size", shape.embedding},
            {"hidden_size", model.width},
            {"num_hidden_layers", model.layers},
            {"num_hidden_groups", 1},
            {"inner_group_num", 1},
            {"num_attention_heads", model.heads},
            {"intermediate_size", shape.inner},
            {"hidden_act", "gelu_new"},
            {"hidden_dropout_prob", 0.0},
            {"attention_probs_dropout_prob", 0.0},
            {"classifier_dropout_prob", 0.1},
            {"max_position_embeddings", model.context},
            {"type_vocab_size", albert_segments},
            {"initializer_range", 0.02},
            {"layer_norm_eps", albert_epsilon},
            {"tie_word_embeddings", true},
            {"pad_token_id", shape.pad},
            {"bos_token_id", shape.cls},
            {"eos_token_id", shape.sep},
            {"mask_token_id", shape.mask},
            {"torch_dtype", "float32"}};
}

}  // namespace potluck::model

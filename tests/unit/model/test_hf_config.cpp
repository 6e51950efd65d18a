#include <QTest>

#include "core/base/json.h"
#include "core/model/hf_config.h"
#include "core/model/presets.h"

using namespace potluck;
using namespace potluck::model;
using nlohmann::json;

namespace {

Result<ModelSpec> parsed(const json& config) {
    const std::string text = config.dump();
    return parse_hugging_face_config(as_bytes(text));
}

/// As the hub has them, without what says nothing about the weights.
json gpt2_of_the_hub() {
    return {{"model_type", "gpt2"},
            {"vocab_size", 50257},
            {"n_positions", 1024},
            {"n_ctx", 1024},
            {"n_embd", 768},
            {"n_layer", 12},
            {"n_head", 12},
            {"activation_function", "gelu_new"},
            {"layer_norm_epsilon", 1e-05},
            {"resid_pdrop", 0.1},
            {"task_specific_params", {{"text-generation", {{"do_sample", true}}}}}};
}

json opt_350m_of_the_hub() {
    return {{"model_type", "opt"},
            {"vocab_size", 50272},
            {"max_position_embeddings", 2048},
            {"hidden_size", 1024},
            {"num_hidden_layers", 24},
            {"num_attention_heads", 16},
            {"ffn_dim", 4096},
            {"word_embed_proj_dim", 512},
            {"do_layer_norm_before", false},
            {"_remove_final_layer_norm", false},
            {"activation_function", "relu"},
            {"prefix", "</s>"},
            {"torch_dtype", "float16"}};
}

/// As version 4 of transformers wrote it.
json smollm2_135m_of_the_hub() {
    return {{"model_type", "llama"},
            {"vocab_size", 49152},
            {"max_position_embeddings", 2048},
            {"hidden_size", 576},
            {"intermediate_size", 1536},
            {"num_hidden_layers", 30},
            {"num_attention_heads", 9},
            {"num_key_value_heads", 3},
            {"hidden_act", "silu"},
            {"rms_norm_eps", 1e-05},
            {"rope_theta", 100000},
            {"rope_scaling", nullptr},
            {"rope_interleaved", false},
            {"attention_bias", false},
            {"mlp_bias", false},
            {"tie_word_embeddings", true},
            {"initializer_range", 0.041666666666666664},
            {"torch_dtype", "bfloat16"}};
}

/// As version 5 writes it.
json qwen_of_the_hub(const char* model_type) {
    return {{"model_type", model_type},
            {"vocab_size", 151936},
            {"max_position_embeddings", 40960},
            {"hidden_size", 1024},
            {"intermediate_size", 3072},
            {"num_hidden_layers", 28},
            {"num_attention_heads", 16},
            {"num_key_value_heads", 8},
            {"head_dim", 128},
            {"rms_norm_eps", 1e-06},
            {"rope_parameters", {{"rope_theta", 1e6}, {"rope_type", "default"}}},
            {"layer_types", {"full_attention", "full_attention"}},
            {"sliding_window", nullptr},
            {"use_sliding_window", false},
            {"tie_word_embeddings", true}};
}

}  // namespace

class HfConfigTest : public QObject {
    Q_OBJECT
private slots:
    void models_of_the_hub_are_the_presets() {
        const auto gpt2 = parsed(gpt2_of_the_hub());
        QVERIFY2(gpt2.ok(), gpt2.ok() ? "" : gpt2.error().message.c_str());
        QVERIFY(*gpt2 == *model_preset("gpt2"));
        const auto opt = parsed(opt_350m_of_the_hub());
        QVERIFY2(opt.ok(), opt.ok() ? "" : opt.error().message.c_str());
        QVERIFY(*opt == *model_preset("opt-350m"));
        const auto llama = parsed(smollm2_135m_of_the_hub());
        QVERIFY2(llama.ok(), llama.ok() ? "" : llama.error().message.c_str());
        QVERIFY(*llama == *model_preset("smollm2-135m"));
    }

    void qwens_differ_from_llama_by_biases_norms_and_head_width() {
        json config = qwen_of_the_hub("qwen3");
        const auto qwen3 = parsed(config);
        QVERIFY2(qwen3.ok(), qwen3.ok() ? "" : qwen3.error().message.c_str());
        QCOMPARE(qwen3->parameters(), std::uint64_t{596'049'920});
        QVERIFY(qwen3->llama.qk_norm && !qwen3->llama.qkv_bias);
        QCOMPARE(qwen3->context, 16'384U);  // context_max: angles have no weights
        config.erase("head_dim");
        QCOMPARE(parsed(config)->llama.head_width, 128U);
        config["model_type"] = "qwen2";
        QVERIFY(parsed(config)->llama.qkv_bias && !parsed(config)->llama.qk_norm);
        QCOMPARE(parsed(config)->llama.head_width, 64U);
        config["num_key_value_heads"] = nullptr;
        QCOMPARE(parsed(config)->llama.kv_heads, 16U);
        config["num_attention_heads"] = 32;
        config.erase("num_key_value_heads");
        QCOMPARE(parsed(config)->llama.kv_heads, 32U);
    }

    void albert_is_read_strictly() {
        json config = hugging_face_config(*model_preset("sahajbert"));
        QVERIFY(*parsed(config) == *model_preset("sahajbert"));
        config.erase("mask_token_id");  // the library does not write it
        QVERIFY(*parsed(config) == *model_preset("sahajbert"));
        for (const auto& [name, value] :
             std::vector<std::pair<const char*, json>>{{"num_hidden_groups", 2},
                                                       {"inner_group_num", 2},
                                                       {"type_vocab_size", 3},
                                                       {"hidden_act", "gelu"},
                                                       {"layer_norm_eps", 1e-5},
                                                       {"tie_word_embeddings", false},
                                                       {"position_embedding_type", "relative_key"}}) {
            json other = config;
            other[name] = value;
            QVERIFY(!parsed(other).ok());
            QVERIFY2(parsed(other).error().message.find(name) != std::string::npos, name);
        }
    }

    void fields_that_llama_omits_have_transformers_defaults() {
        json config = smollm2_135m_of_the_hub();
        for (const char* name : {"num_key_value_heads", "rms_norm_eps", "rope_theta", "tie_word_embeddings"}) {
            config.erase(name);
        }
        const LlamaShape shape = parsed(config)->llama;
        QCOMPARE(shape.kv_heads, 9U);
        QCOMPARE(shape.norm_epsilon, 1e-6);
        QCOMPARE(shape.rope_theta, 1e4);
        QVERIFY(!shape.tied);
    }

    void theta_is_read_from_where_either_version_keeps_it() {
        json config = smollm2_135m_of_the_hub();
        config["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 5e5}};
        QCOMPARE(parsed(config)->llama.rope_theta, 5e5);  // the newer place counts
        config["rope_parameters"] = {{"rope_type", "default"}};
        QCOMPARE(parsed(config)->llama.rope_theta, 1e5);
        for (const char* place : {"rope_parameters", "rope_scaling"}) {
            for (const json& angles : {json{{"rope_type", "llama3"}, {"factor", 8.0}}, json{{"type", "linear"}},
                                       json{{"partial_rotary_factor", 0.5}}, json::array()}) {
                config = smollm2_135m_of_the_hub();
                config[place] = angles;
                QVERIFY2(!parsed(config), angles.dump().c_str());
                QVERIFY(parsed(config).error().message.find(place) != std::string::npos);
            }
        }
    }

    void a_coder_that_diffusers_saved_is_known_and_no_other() {
        const json config = {
            {"_class_name", "VQModel"},
            {"_diffusers_version", "0.42.1"},
            {"block_out_channels", {128, 256, 512}},
            {"down_block_types", json::array({"DownEncoderBlock2D", "DownEncoderBlock2D", "DownEncoderBlock2D"})},
            {"layers_per_block", 2},
            {"latent_channels", 4},
            {"num_vq_embeddings", 8'192},
            {"sample_size", 64},
            {"scaling_factor", 0.18215},
            {"vq_embed_dim", nullptr}};
        const auto model = parsed(config);
        QVERIFY2(model.ok(), model ? "" : model.error().message.c_str());
        ModelSpec expected;
        expected.family = Family::coder;
        expected.vocabulary = coder_values;
        expected.heads = 1;
        expected.layers = 2;
        expected.width = 128;
        expected.dropout = 0;
        expected.coder = {.side = 64, .halvings = 2, .levels = {}, .book = {8'192, 4, 4, 32, true, {128, 256, 512}}};
        expected.context = coder_context(expected.coder);
        QVERIFY(*model == expected);
        QVERIFY(*parsed(hugging_face_config(expected)) == expected);
        for (const auto& [name, value] : std::vector<std::pair<const char*, json>>{
                 {"act_fn", "relu"},
                 {"norm_type", "spatial"},
                 {"in_channels", 4},
                 {"out_channels", 1},
                 {"down_block_types", json::array({"DownEncoderBlock2D", "AttnDownEncoderBlock2D"})},
                 {"up_block_types", json::array({7})},
                 {"block_out_channels", {64}},
                 {"block_out_channels", json::array({"64", 64})},
                 {"block_out_channels", {32, 64, 96, 128, 160, 192}},
                 {"norm_num_groups", 48},
                 {"sample_size", 512},
                 {"num_vq_embeddings", 70'000},
                 {"_class_name", "AutoencoderKL"}}) {
            json other = config;
            other[name] = value;
            QVERIFY2(!parsed(other), (name + value.dump()).c_str());
        }
    }

    void every_preset_survives_its_config() {
        for (const char* name :
             {"tiny",        "small",       "gpt2",         "gpt2-medium", "gpt2-large", "gpt2-xl",      "opt-125m",
              "opt-350m",    "opt-1.3b",    "opt-2.7b",     "opt-6.7b",    "llama-tiny", "smollm2-135m", "smollm2-360m",
              "albert-tiny", "albert-base", "albert-large", "sahajbert",   "swav-tiny",  "swav-resnet50"}) {
            ModelSpec model = *model_preset(name);
            const auto back = parsed(hugging_face_config(model));
            QVERIFY2(back.ok(), name);
            QVERIFY2(*back == model, name);
            model.dropout = 0.25F;  // how one trains, not what the weights are
            QCOMPARE(parsed(hugging_face_config(model))->dropout, 0.0F);
        }
        ModelSpec model = *model_preset("llama-tiny");
        model.llama.tied = false;
        model.llama.qkv_bias = true;
        QVERIFY(*parsed(hugging_face_config(model)) == model);
        model.llama.qkv_bias = false;
        model.llama.qk_norm = true;
        model.llama.head_width = 48;
        QVERIFY(*parsed(hugging_face_config(model)) == model);
        QVERIFY(!model_preset("gpt3"));
        QVERIFY(model_preset("gpt3").error().message.find("swav-tiny or swav-resnet50.") != std::string::npos);
        QVERIFY(model_preset_names().ends_with("dalle-emoji, dalle-ttt, swav-tiny or swav-resnet50"));
    }

    void a_reshaped_preset_keeps_its_proportions() {
        const ModelSpec tiny = *model_preset("llama-tiny");
        QVERIFY(reshaped(tiny, {}) == tiny);
        const ModelSpec wide = reshaped(*model_preset("smollm2-135m"), {.layers = 2, .heads = 6, .width = 192});
        QVERIFY(ModelSpec::from_json(wide.to_json()).ok());
        QCOMPARE(wide.layers, 2U);
        QCOMPARE(wide.llama.kv_heads, 2U);
        QCOMPARE(wide.llama.head_width, 32U);
        QCOMPARE(wide.llama.inner, 512U);
        QCOMPARE(reshaped(tiny, {.heads = 1}).llama.kv_heads, 1U);  // two to a key head does not divide one
        QCOMPARE(reshaped(*model_preset("gpt2"), {.layers = 3}).layers, 3U);
    }

    void null_and_missing_mean_the_default() {
        json config = gpt2_of_the_hub();
        config["n_inner"] = nullptr;
        config.erase("layer_norm_epsilon");
        config.erase("activation_function");
        QVERIFY(*parsed(config) == *model_preset("gpt2"));
    }

    void the_tanh_gelu_goes_by_two_names() {
        json config = gpt2_of_the_hub();
        config["activation_function"] = "gelu_pytorch_tanh";
        QVERIFY(*parsed(config) == *model_preset("gpt2"));
        config["activation_function"] = "relu";
        QVERIFY(parsed(config)->activation == Activation::relu);
    }

    void an_unsupported_config_field_is_named_data() {
        QTest::addColumn<bool>("opt");
        QTest::addColumn<QString>("field");
        QTest::addColumn<QString>("value");
        const auto row = [](bool opt, const char* field, const char* value) {
            QTest::addRow("%s %s=%s", opt ? "opt" : "gpt2", field, value) << opt << QString(field) << QString(value);
        };
        row(false, "model_type", "\"mistral\"");
        row(false, "model_type", "7");
        row(false, "activation_function", "\"gelu\"");
        row(false, "activation_function", "\"silu\"");
        row(false, "n_inner", "3000");
        row(false, "layer_norm_epsilon", "1e-6");
        row(false, "scale_attn_weights", "false");
        row(false, "scale_attn_by_inverse_layer_idx", "true");
        row(false, "add_cross_attention", "true");
        row(false, "tie_word_embeddings", "false");
        row(false, "vocab_size", "null");
        row(false, "vocab_size", "1e9");
        row(false, "n_embd", "-768");
        row(false, "n_layer", "\"12\"");
        row(true, "activation_function", "\"gelu\"");
        row(true, "ffn_dim", "1024");
        row(true, "enable_bias", "false");
        row(true, "layer_norm_elementwise_affine", "false");
        row(true, "tie_word_embeddings", "false");
        row(true, "hidden_size", "18446744073709551615");
        row(true, "do_layer_norm_before", "1");
    }
    void an_unsupported_config_field_is_named() {
        QFETCH(const bool, opt);
        QFETCH(const QString, field);
        QFETCH(const QString, value);
        json config = opt ? opt_350m_of_the_hub() : gpt2_of_the_hub();
        config[field.toStdString()] = json::parse(value.toStdString());
        const auto model = parsed(config);
        QVERIFY(!model.ok());
        QVERIFY2(model.error().message.find(field.toStdString()) != std::string::npos, model.error().message.c_str());
    }

    void an_unsupported_llama_field_is_named_data() {
        QTest::addColumn<QString>("field");
        QTest::addColumn<QString>("value");
        const auto row = [](const char* field, const char* value) {
            QTest::addRow("%s=%s", field, value) << QString(field) << QString(value);
        };
        row("hidden_act", "\"gelu\"");
        row("attention_bias", "true");
        row("mlp_bias", "true");
        row("use_sliding_window", "true");
        row("layer_types", "[\"full_attention\", \"sliding_attention\"]");
        row("intermediate_size", "null");
        row("num_key_value_heads", "4294967299");  // 3 when cut to 32 bits
        row("head_dim", "\"64\"");
        row("tie_word_embeddings", "1");
        row("rope_theta", "0");
    }
    void an_unsupported_llama_field_is_named() {
        QFETCH(const QString, field);
        QFETCH(const QString, value);
        json config = smollm2_135m_of_the_hub();
        config[field.toStdString()] = json::parse(value.toStdString());
        const auto model = parsed(config);
        QVERIFY(!model.ok());
        QVERIFY2(model.error().message.find(field.toStdString()) != std::string::npos, model.error().message.c_str());
    }

    void limits_of_our_models_hold_here_too() {
        json config = gpt2_of_the_hub();
        config["n_head"] = 7;
        QVERIFY(parsed(config).error().message.find("heads") != std::string::npos);
        config = gpt2_of_the_hub();
        config["n_layer"] = 100'000;
        QVERIFY(parsed(config).error().message.find("layers") != std::string::npos);
    }

    void a_count_that_32_bits_would_cut_is_refused() {
        json config = gpt2_of_the_hub();
        config["n_layer"] = (1ULL << 32U) + 12;  // count_max; 12 when cut
        const auto model = parsed(config);
        QVERIFY(!model.ok());
        QVERIFY2(model.error().message.find("n_layer") != std::string::npos, model.error().message.c_str());
        config = opt_350m_of_the_hub();
        config["word_embed_proj_dim"] = (1ULL << 32U) + 512;
        QVERIFY(parsed(config).error().message.find("word_embed_proj_dim") != std::string::npos);
    }

    void a_config_has_one_mebibyte_and_not_one_byte_more() {
        const auto reads = [](std::size_t size) {
            std::string text = gpt2_of_the_hub().dump();
            text.resize(size, ' ');
            return parse_hugging_face_config(as_bytes(text)).ok();
        };
        QCOMPARE(hf_config_bytes_max, std::size_t{1} << 20U);
        QVERIFY(reads(hf_config_bytes_max));
        QVERIFY(!reads(hf_config_bytes_max + 1));
    }

    void a_removed_last_norm_and_quantised_weights_are_refused() {
        json config = opt_350m_of_the_hub();
        config["_remove_final_layer_norm"] = true;  // there is none behind post-norm layers anyway
        QVERIFY(parsed(config).ok());
        config["do_layer_norm_before"] = true;
        QVERIFY(parsed(config).error().message.find("_remove_final_layer_norm") != std::string::npos);
        config = gpt2_of_the_hub();
        config["quantization_config"] = {{"bits", 4}};
        QVERIFY(parsed(config).error().message.find("quantised") != std::string::npos);
    }

    void something_that_is_no_config_is_refused() {
        for (const char* text : {"", "[]", "null", "{}", "{\"model_type\":\"gpt2\"}", "{\"model_type\":[\"gpt2\"]}"}) {
            QVERIFY(!parse_hugging_face_config(as_bytes(std::string_view(text))).ok());
        }
    }
};

QTEST_APPLESS_MAIN(HfConfigTest)
#include "test_hf_config.moc"

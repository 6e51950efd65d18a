#include <QTest>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/json.h"
#include "core/model/hf_checkpoint.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::model;

namespace {

struct Tensor {
    std::string name;
    std::vector<std::uint64_t> shape;
    std::vector<float> values;
    std::string dtype = "F32";
};
using Tensors = std::vector<Tensor>;

/// Tensors of the sample model; value i of the flat vector is i / 8.
Tensors sample_tensors(const ModelSpec& model = samples::model()) {
    Tensors tensors;
    for (const TensorSpec& spec : tensors_of(model)) {
        Tensor tensor{spec.name, spec.shape, {}};
        for (std::uint64_t i = 0; i < spec.elements(); ++i) {
            tensor.values.push_back(static_cast<float>(spec.offset + i) / 8);
        }
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

Tensor& tensor(Tensors& tensors, const std::string& name) {
    for (Tensor& each : tensors) {
        if (each.name == name) return each;
    }
    qFatal("no tensor");
}

/// A safetensors file of fp32 values; other types get bytes of their width.
Bytes file_of(const Tensors& tensors) {
    nlohmann::json header = nlohmann::json::object();
    Bytes content;
    for (const Tensor& each : tensors) {
        const std::size_t width = each.dtype == "F32" ? 4 : each.dtype == "F64" ? 8 : 1;
        const std::size_t begin = content.size();
        content.resize(begin + width * each.values.size());
        if (width == 4) std::memcpy(content.data() + begin, each.values.data(), content.size() - begin);
        header[each.name] = {{"dtype", each.dtype}, {"shape", each.shape}, {"data_offsets", {begin, content.size()}}};
    }
    const std::string text = header.dump();
    ByteWriter out;
    out.u64(text.size());
    out.raw(as_bytes(text));
    out.raw(content);
    return out.take();
}

struct Loaded {
    Status status;
    std::vector<float> values;
};

Loaded load(const std::vector<Bytes>& files, const ModelSpec& model = samples::model(), std::uint32_t context = 16) {
    std::vector<CheckpointFile> views;
    for (const Bytes& file : files) views.push_back({"model.safetensors", file});
    Loaded loaded;
    loaded.values.resize(model.parameters());
    loaded.status = read_checkpoint(model, context, views, loaded.values);
    return loaded;
}

bool is_count_by_eighths(const std::vector<float>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] != static_cast<float>(i) / 8) return false;
    }
    return true;
}

bool complains_of(const Loaded& loaded, const char* text) {
    return !loaded.status.ok() && loaded.status.error().code == ErrorCode::malformed &&
           loaded.status.error().message.find(text) != std::string::npos;
}

Result<std::vector<std::string>> files_in(const char* index) {
    return checkpoint_files(as_bytes(std::string_view(index)));
}

}  // namespace

class HfCheckpointTest : public QObject {
    Q_OBJECT
private slots:
    void names_with_and_without_the_wrapper_load_alike() {
        Tensors tensors = sample_tensors();
        const Loaded bare = load({file_of(tensors)});
        QVERIFY2(bare.status.ok(), bare.status.ok() ? "" : bare.status.error().message.c_str());
        QVERIFY(is_count_by_eighths(bare.values));
        for (Tensor& each : tensors) each.name = "transformer." + each.name;
        QVERIFY(is_count_by_eighths(load({file_of(tensors)}).values));
    }

    void opt_loads_under_its_three_names() {
        ModelSpec model = samples::model();
        model.family = Family::opt;
        model.norm = NormPlace::after;
        model.embedding = 4;
        for (const char* prefix : {"model.decoder.", "decoder.", ""}) {
            Tensors tensors = sample_tensors(model);
            for (Tensor& each : tensors) each.name = prefix + each.name.substr(std::strlen("model.decoder."));
            const Loaded loaded = load({file_of(tensors)}, model);
            QVERIFY2(loaded.status.ok(), prefix);
            QVERIFY(is_count_by_eighths(loaded.values));
        }
    }

    void llama_loads_with_its_own_head_or_the_embedding() {
        ModelSpec model = samples::model();
        model.family = Family::llama;
        model.activation = Activation::silu_gated;
        model.llama = {.kv_heads = 1, .head_width = 4, .inner = 12};
        Tensors tensors = sample_tensors(model);
        tensors.push_back({"model.layers.0.self_attn.rotary_emb.inv_freq", {2}, {1, 0.01F}});
        QVERIFY(is_count_by_eighths(load({file_of(tensors)}, model).values));
        for (Tensor& each : tensors) each.name = each.name.substr(std::strlen("model."));  // of a LlamaModel
        QVERIFY(is_count_by_eighths(load({file_of(tensors)}, model).values));
        tensors.front().name = "lm_head.weight";  // one name or the other for what is tied
        QVERIFY(is_count_by_eighths(load({file_of(tensors)}, model).values));

        model.llama.tied = false;
        QVERIFY(complains_of(load({file_of(tensors)}, model), "lacks the tensor model.embed_tokens.weight"));
        tensors = sample_tensors(model);
        QVERIFY(is_count_by_eighths(load({file_of(tensors)}, model).values));
        model.llama.tied = true;
        QVERIFY(complains_of(load({file_of(tensors)}, model), "lm_head.weight is not its embedding"));
    }

    void a_swav_loads_under_the_names_of_its_authors_with_what_norms_remember() {
        ModelSpec model = samples::model();
        model.family = Family::swav;
        model.swav = {.hidden = 8, .embedding = 8, .prototypes = 4};
        Tensors tensors = sample_tensors(model);
        for (Tensor& one : tensors) one.name = "module." + one.name;
        tensors.push_back({"module.bn1.running_mean", {8}, std::vector<float>(8, 0.5F)});
        tensors.push_back({"module.bn1.running_var", {8}, std::vector<float>(8, 2)});
        tensors.push_back({"module.bn1.num_batches_tracked", {1}, {7}, "BOOL"});
        QVERIFY(is_count_by_eighths(load({file_of(tensors)}, model).values));
        tensors.push_back({"module.fc.weight", {8}, std::vector<float>(8, 0.5F)});
        QVERIFY(complains_of(load({file_of(tensors)}, model), "fc.weight"));
    }

    void albert_loads_with_what_transformers_stores_twice() {
        ModelSpec model = samples::model();
        model.family = Family::albert;
        model.albert = {.embedding = 8, .inner = 12};
        Tensors tensors = sample_tensors(model);
        QVERIFY(is_count_by_eighths(load({file_of(tensors)}, model).values));
        tensors.push_back({"albert.embeddings.position_ids", {1, 2}, {0, 1}, "BOOL"});
        tensors.push_back({"predictions.decoder.weight", {256, 8}, tensors.front().values});
        tensors.push_back({"predictions.decoder.bias", {256}, tensors[tensors.size() - 3].values});
        QVERIFY(is_count_by_eighths(load({file_of(tensors)}, model).values));
        tensors.back().values[7] += 1;
        QVERIFY(complains_of(load({file_of(tensors)}, model), "predictions.decoder.bias is not its predictions.bias"));
        tensors.pop_back();
        tensors.back().values[7] += 1;
        QVERIFY(complains_of(load({file_of(tensors)}, model), "is not its embedding"));
        tensors = sample_tensors(model);  // of an AlbertForMaskedLM
        std::erase_if(tensors, [](const Tensor& one) { return one.name.starts_with("sop_classifier"); });
        QVERIFY(complains_of(load({file_of(tensors)}, model), "lacks the tensor sop_classifier.classifier.weight"));
    }

    void a_checkpoint_may_be_cut_into_files() {
        const Tensors tensors = sample_tensors();
        const Tensors first(tensors.begin(), tensors.begin() + 5), second(tensors.begin() + 5, tensors.end());
        QVERIFY(is_count_by_eighths(load({file_of(second), file_of(first)}).values));
        QVERIFY(complains_of(load({file_of(first)}), "lacks the tensor h.0.attn.c_attn.bias"));
        QVERIFY(complains_of(load({file_of(tensors), file_of(first)}), "twice"));
    }

    void masks_are_left_out_and_an_equal_head_is_none() {
        Tensors tensors = sample_tensors();
        tensors.push_back({"h.0.attn.bias", {1, 1, 2, 2}, {0, 0, 0, 0}, "BOOL"});
        tensors.push_back({"h.0.attn.masked_bias", {}, {-1e4F}});
        tensors.push_back({"lm_head.weight", {256, 8}, tensors.front().values});
        QVERIFY(is_count_by_eighths(load({file_of(tensors)}).values));
        tensors.back().values[77] += 1;
        QVERIFY(complains_of(load({file_of(tensors)}), "lm_head.weight is not its embedding wte.weight"));
        tensors.back() = {"lm_head.weight", {8, 256}, tensors.front().values};
        QVERIFY(complains_of(load({file_of(tensors)}), "lm_head.weight"));
    }

    void an_embedding_stored_as_the_head_is_found() {
        Tensors tensors = sample_tensors();
        tensors.front().name = "lm_head.weight";
        QVERIFY(is_count_by_eighths(load({file_of(tensors)}).values));
    }

    void positions_beyond_the_context_are_cut() {
        Tensors tensors = sample_tensors();
        Tensor& positions = tensor(tensors, "wpe.weight");
        positions.shape = {24, 8};
        positions.values.resize(std::size_t{24} * 8, 99.0F);
        const Loaded loaded = load({file_of(tensors)}, samples::model(), 24);
        QVERIFY2(loaded.status.ok(), loaded.status.ok() ? "" : loaded.status.error().message.c_str());
        QVERIFY(is_count_by_eighths(loaded.values));
        QVERIFY(complains_of(load({file_of(tensors)}), "wpe.weight"));
    }

    void a_tensor_that_does_not_fit_is_named() {
        Tensors tensors = sample_tensors();
        tensor(tensors, "h.0.mlp.c_fc.weight").shape = {32, 8};
        QVERIFY(complains_of(load({file_of(tensors)}), "h.0.mlp.c_fc.weight of the checkpoint is [32, 8]"));
        tensors = sample_tensors();
        tensors.push_back({"h.1.ln_1.weight", {8}, std::vector<float>(8)});
        QVERIFY(complains_of(load({file_of(tensors)}), "h.1.ln_1.weight"));
        tensors = sample_tensors();
        tensor(tensors, "ln_f.bias").dtype = "F64";
        QVERIFY(complains_of(load({file_of(tensors)}), "ln_f.bias of the checkpoint is F64"));
        for (const float value : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
            tensors = sample_tensors();
            tensor(tensors, "ln_f.bias").values[3] = value;
            QVERIFY(complains_of(load({file_of(tensors)}), "ln_f.bias of the checkpoint holds a value"));
        }
    }

    void a_damaged_file_is_refused_by_its_name() {
        Bytes file = file_of(sample_tensors());
        file.resize(file.size() - 1);
        QVERIFY(complains_of(load({file}), "model.safetensors"));
        QVERIFY(complains_of(load({Bytes{}}), "model.safetensors"));
        QVERIFY(complains_of(load({}), "lacks the tensor wte.weight"));
    }

    void an_index_names_each_file_once() {
        const auto files = files_in(R"({"metadata":{"total_size":9},"weight_map":{"a":"m-2.safetensors",)"
                                    R"("b":"m-1.safetensors","c":"m-2.safetensors"}})");
        QVERIFY(files.ok());
        QVERIFY(*files == std::vector<std::string>({"m-1.safetensors", "m-2.safetensors"}));
    }

    void an_index_ends_at_its_limits() {
        const auto names = [](std::size_t count) {
            nlohmann::json map = nlohmann::json::object();
            for (std::size_t i = 0; i < count; ++i) map[std::to_string(i)] = "m-" + std::to_string(i) + ".safetensors";
            const std::string text = nlohmann::json{{"weight_map", map}}.dump();
            return checkpoint_files(as_bytes(text));
        };
        QVERIFY(names(checkpoint_files_max).ok());
        QCOMPARE(names(checkpoint_files_max)->size(), std::size_t{4'096});
        QVERIFY(!names(checkpoint_files_max + 1).ok());

        const auto with_name_of = [](std::size_t bytes) {  // file_name_max
            const std::string name = std::string(bytes - 12, 'n') + ".safetensors";
            const std::string text = nlohmann::json{{"weight_map", {{"a", name}}}}.dump();
            return checkpoint_files(as_bytes(text)).ok();
        };
        QVERIFY(with_name_of(255));
        QVERIFY(!with_name_of(256));

        const auto of_size = [](std::size_t bytes) {
            std::string json = R"({"weight_map":{"a":"m.safetensors"}})";
            json.resize(bytes, ' ');
            return checkpoint_files(as_bytes(json)).ok();
        };
        QCOMPARE(checkpoint_index_bytes_max, std::size_t{16} << 20U);
        QVERIFY(of_size(checkpoint_index_bytes_max));
        QVERIFY(!of_size(checkpoint_index_bytes_max + 1));
    }

    void an_index_that_leads_out_of_its_folder_is_refused() {
        for (const char* index :
             {"", "[]", "{}", R"({"weight_map":[]})", R"({"weight_map":{}})", R"({"weight_map":{"a":7}})",
              R"({"weight_map":{"a":"../m.safetensors"}})", R"({"weight_map":{"a":"/m.safetensors"}})",
              R"({"weight_map":{"a":"d\\m.safetensors"}})", R"({"weight_map":{"a":"C:m.safetensors"}})",
              R"({"weight_map":{"a":".safetensors"}})", R"({"weight_map":{"a":"pytorch_model.bin"}})",
              R"({"weight_map":{"a":"m\u0000.safetensors"}})"}) {
            QVERIFY2(!files_in(index).ok(), index);
        }
    }
};

QTEST_APPLESS_MAIN(HfCheckpointTest)
#include "test_hf_checkpoint.moc"

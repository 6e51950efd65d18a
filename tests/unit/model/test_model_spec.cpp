#include <QTest>

#include "core/base/json.h"
#include "core/model/cost_model.h"
#include "core/model/presets.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::model;

namespace {

/// Whether `spec` is refused with another value in a field, of itself or of its part `within`. It goes through text, as
/// in a file: only numbers that were parsed are unsigned, and all others in a list would be refused for that.
bool is_refused(const ModelSpec& spec, const char* name, const nlohmann::json& value, const char* within = nullptr) {
    nlohmann::json other = spec.to_json();
    (within == nullptr ? other : other[within])[name] = value;
    return !ModelSpec::from_json(nlohmann::json::parse(other.dump())).ok();
}

ModelSpec gpt2(std::uint32_t layers, std::uint32_t heads, std::uint32_t width) {
    return {.vocabulary = 50'257, .context = 1'024, .layers = layers, .heads = heads, .width = width};
}

ModelSpec opt(std::uint32_t layers, std::uint32_t heads, std::uint32_t width) {
    return {.family = Family::opt,
            .vocabulary = 50'272,
            .context = 2'048,
            .layers = layers,
            .heads = heads,
            .width = width,
            .activation = Activation::relu};
}

/// The one OPT whose norms stand after the sums and whose embedding is narrower than its layers.
ModelSpec opt_350m() {
    ModelSpec spec = opt(24, 16, 1'024);
    spec.norm = NormPlace::after;
    spec.embedding = 512;
    return spec;
}

/// The sample with OPT's fields.
ModelSpec small_opt() {
    ModelSpec spec = samples::model();
    spec.family = Family::opt;
    spec.activation = Activation::relu;
    spec.embedding = 4;
    return spec;
}

ModelSpec llama(std::uint32_t layers, std::uint32_t heads, std::uint32_t width, const LlamaShape& shape) {
    return {.family = Family::llama,
            .vocabulary = 49'152,
            .context = 2'048,
            .layers = layers,
            .heads = heads,
            .width = width,
            .activation = Activation::silu_gated,
            .llama = shape};
}

ModelSpec smollm2_135m() { return llama(30, 9, 576, {.kv_heads = 3, .head_width = 64, .inner = 1'536}); }

ModelSpec qwen2_500m() {
    ModelSpec spec =
        llama(24, 14, 896, {.kv_heads = 2, .head_width = 64, .inner = 4'864, .rope_theta = 1e6, .qkv_bias = true});
    spec.vocabulary = 151'936;
    return spec;
}

ModelSpec qwen3_600m() {
    ModelSpec spec =
        llama(28, 16, 1'024, {.kv_heads = 8, .head_width = 128, .inner = 3'072, .rope_theta = 1e6, .qk_norm = true});
    spec.vocabulary = 151'936;
    return spec;
}

ModelSpec tinyllama() {
    ModelSpec spec = llama(22, 32, 2'048, {.kv_heads = 4, .head_width = 64, .inner = 5'632, .tied = false});
    spec.vocabulary = 32'000;
    return spec;
}

/// The sample as a Llama-shaped model with two query heads to a key head.
ModelSpec small_llama() {
    ModelSpec spec = samples::model();
    spec.family = Family::llama;
    spec.activation = Activation::silu_gated;
    spec.heads = 2;
    spec.llama = {.kv_heads = 1, .head_width = 6, .inner = 24};
    return spec;
}

using Shape = std::vector<std::uint64_t>;
using NamedShapes = std::vector<std::pair<std::string, Shape>>;

NamedShapes named_shapes(const ModelSpec& spec) {
    NamedShapes found;
    for (const TensorSpec& tensor : tensors_of(spec)) found.emplace_back(tensor.name, tensor.shape);
    return found;
}

/// The sample's JSON with one field replaced.
Result<ModelSpec> parsed_with(const char* field, const nlohmann::json& value,
                              const ModelSpec& spec = samples::model()) {
    nlohmann::json object = spec.to_json();
    object[field] = value;
    return ModelSpec::from_json(object);
}

bool names(const Result<ModelSpec>& result, const char* field) {
    return !result.ok() && result.error().code == ErrorCode::malformed &&
           result.error().message.find(field) != std::string::npos;
}

}  // namespace

class ModelSpecTest : public QObject {
    Q_OBJECT
private slots:
    void published_models_have_their_published_sizes() {
        QCOMPARE(gpt2(12, 12, 768).parameters(), std::uint64_t{124'439'808});
        QCOMPARE(gpt2(24, 16, 1'024).parameters(), std::uint64_t{354'823'168});
        QCOMPARE(gpt2(36, 20, 1'280).parameters(), std::uint64_t{774'030'080});
        QCOMPARE(gpt2(48, 25, 1'600).parameters(), std::uint64_t{1'557'611'200});
        QCOMPARE(opt(12, 12, 768).parameters(), std::uint64_t{125'239'296});
        QCOMPARE(opt_350m().parameters(), std::uint64_t{331'196'416});
        QCOMPARE(opt(24, 32, 2'048).parameters(), std::uint64_t{1'315'758'080});
        QCOMPARE(opt(32, 32, 2'560).parameters(), std::uint64_t{2'651'596'800});
        QCOMPARE(opt(32, 32, 4'096).parameters(), std::uint64_t{6'658'473'984});
        QCOMPARE(smollm2_135m().parameters(), std::uint64_t{134'515'008});
        QCOMPARE(llama(32, 15, 960, {.kv_heads = 5, .head_width = 64, .inner = 2'560}).parameters(),
                 std::uint64_t{361'821'120});
        QCOMPARE(tinyllama().parameters(), std::uint64_t{1'100'048'384});
        QCOMPARE(qwen2_500m().parameters(), std::uint64_t{494'032'768});
        QCOMPARE(qwen3_600m().parameters(), std::uint64_t{596'049'920});
        QCOMPARE(model_preset("albert-base")->parameters(), std::uint64_t{11'813'810});
        QCOMPARE(model_preset("albert-large")->parameters(), std::uint64_t{17'847'474});
        QCOMPARE(model_preset("sahajbert")->parameters(), std::uint64_t{18'105'474});
    }

    void a_shared_layer_counts_as_often_as_it_is_applied() {
        ModelSpec one = *model_preset("albert-large"), two = one;
        two.layers += 1;
        QCOMPARE(two.parameters(), one.parameters());
        QCOMPARE(two.applied_parameters() - one.applied_parameters(), std::uint64_t{12'596'224});
        QVERIFY(one.applied_parameters() > 300'000'000 && one.applied_parameters() < 304'000'000);
    }

    void the_marks_of_an_encoder_are_four_tokens_of_its_vocabulary() {
        const ModelSpec spec = *model_preset("albert-tiny");
        QVERIFY(ModelSpec::from_json(spec.to_json()).value() == spec);
        for (const auto& [name, value] : std::vector<std::pair<const char*, nlohmann::json>>{
                 {"mask", 258}, {"pad", 260}, {"mask_share", 0.6}, {"embedding", 4}, {"dropout", 0.1}}) {
            QVERIFY2(is_refused(spec, name, value), name);
        }
        nlohmann::json without = spec.to_json();
        without.erase("cls");
        QVERIFY(!ModelSpec::from_json(without).ok());
    }

    void a_picture_coder_is_checked_field_by_field() {
        const ModelSpec spec = *model_preset("coder-small");
        QCOMPARE(spec.parameters(), std::uint64_t{654'087});
        QCOMPARE(coder_codes(spec.coder), std::uint64_t{1'000});
        QCOMPARE(spec.context, 12'288U);
        QVERIFY(ModelSpec::from_json(spec.to_json()).value() == spec);
        for (const auto& [name, value] :
             std::vector<std::pair<const char*, nlohmann::json>>{{"side", 32},
                                                                 {"side", 73},
                                                                 {"halvings", 0},
                                                                 {"halvings", 5},
                                                                 {"levels", {8, 5, 1}},
                                                                 {"levels", {8, 5, 65}},
                                                                 {"levels", {64, 64, 17}},
                                                                 {"levels", {8, -5}},
                                                                 {"levels", nlohmann::json::array()},
                                                                 {"levels", {2, 2, 2, 2, 2, 2, 2, 2, 2}},
                                                                 {"context", 12'285},
                                                                 {"vocabulary", 257},
                                                                 {"heads", 2},
                                                                 {"width", 60},
                                                                 {"dropout", 0.1}}) {
            QVERIFY2(is_refused(spec, name, value), (name + value.dump()).c_str());
        }
        ModelSpec largest = spec;
        largest.coder.side = coder_side_max;
        largest.context = coder_context(largest.coder);
        largest.coder.levels.assign(coder_levels_max, 2);
        QVERIFY(ModelSpec::from_json(largest.to_json()).value() == largest);
        largest.coder.levels = {64, 64, 16};
        QCOMPARE(coder_codes(largest.coder), coder_codes_max);
        QVERIFY(ModelSpec::from_json(largest.to_json()).ok());
        nlohmann::json odd = spec.to_json();  // a side of 30 cannot be halved twice
        odd["side"] = 30;
        odd["context"] = 2'700;
        QVERIFY(!ModelSpec::from_json(odd).ok());
    }

    void a_picture_coder_with_a_code_book_is_checked_field_by_field() {
        ModelSpec spec = *model_preset("coder-small");
        spec.width = 128;
        spec.layers = 2;
        spec.coder = {.side = coder_book_side_max,
                      .halvings = 2,
                      .levels = {},
                      .book = {8'192, 64, 32, 32, true, {128, 256, 512}}};
        spec.context = coder_context(spec.coder);
        QCOMPARE(coder_codes(spec.coder), std::uint64_t{8'192});
        QVERIFY(has_code_book(spec) && !has_code_book(*model_preset("coder-small")));
        QVERIFY(ModelSpec::from_json(spec.to_json()).value() == spec);
        std::uint64_t elements = 0;
        for (const TensorSpec& tensor : tensors_of(spec)) elements += tensor.elements();
        QCOMPARE(elements, spec.parameters());
        for (const auto& [name, value] :
             std::vector<std::pair<const char*, nlohmann::json>>{{"codes", 1},
                                                                 {"codes", 65'537},
                                                                 {"codes", 0},
                                                                 {"width", 0},
                                                                 {"latent", 1'025},
                                                                 {"groups", 0},
                                                                 {"groups", 96},
                                                                 {"attention", 1},
                                                                 {"widths", {128, 256}},
                                                                 {"widths", {128, 256, 512, 512}},
                                                                 {"widths", {128, 256, 520}},
                                                                 {"widths", {128, 256, 4'096}},
                                                                 {"widths", {128, 256, -32}},
                                                                 {"widths", {64, 256, 512}},
                                                                 {"widths", nlohmann::json::array()},
                                                                 {"more", 1}})
            QVERIFY2(is_refused(spec, name, value, "book"), (name + value.dump()).c_str());
        QVERIFY(is_refused(spec, "levels", {8, 5, 5}));  // one or the other
        QVERIFY(is_refused(spec, "side", coder_book_side_max + 8));
        spec.coder.halvings = coder_book_sides_max - 1;
        spec.coder.book.widths.assign(coder_book_sides_max, 128);
        QVERIFY(ModelSpec::from_json(spec.to_json()).value() == spec);
        QVERIFY(is_refused(spec, "widths", std::vector<std::uint32_t>(coder_book_sides_max + 1, 128), "book"));
        nlohmann::json large = model_preset("coder-small")->to_json();  // which one of levels must not be
        large["side"] = 256;
        large["context"] = 3 * 256 * 256;
        QVERIFY(!ModelSpec::from_json(large).ok());
    }

    void a_convolution_costs_as_much_as_it_has_places() {
        ModelSpec large = *model_preset("coder-small"), small = large;
        small.coder.side = 32;
        small.context = coder_context(small.coder);
        QCOMPARE(small.parameters(), large.parameters());
        // A value costs the same whatever the side.
        QCOMPARE(small.applied_parameters(), large.applied_parameters());
        QCOMPARE(flops_per_token(large, 0), 6.0 * static_cast<double>(large.applied_parameters()));
        // Products for one pixel at full side, at a half and at a quarter, over its three values.
        QCOMPARE(large.applied_parameters(), std::uint64_t{(187'776 + 249'856 / 4 + 213'504 / 16) / 3});
    }

    void a_dalle_is_the_one_that_was_trained_together() {
        const ModelSpec spec = *model_preset("dalle-ttt");
        QCOMPARE(spec.parameters(), std::uint64_t{125'894'244});
        QVERIFY(spec.applied_parameters() > 1'080'000'000 && spec.applied_parameters() < 1'120'000'000);
        QCOMPARE(dalle_context(spec.dalle), 1'280U);
        for (const auto& [layer, sight] : std::vector<std::pair<std::uint32_t, Sight>>{{0, Sight::row},
                                                                                       {1, Sight::column},
                                                                                       {2, Sight::row},
                                                                                       {3, Sight::row},
                                                                                       {61, Sight::column},
                                                                                       {62, Sight::row},
                                                                                       {63, Sight::near}})
            QVERIFY(dalle_sight(spec, layer) == sight);
        QCOMPARE(dalle_block(spec, 5), 1U);
        QCOMPARE(dalle_block(spec, 62), 2U);
        QCOMPARE(dalle_block(spec, 63), 4U);
        for (const TensorSpec& tensor : tensors_of(spec))  // all but what is added, and what norms multiply by
            QCOMPARE(tensor.decays(), !tensor.name.ends_with("bias") && tensor.name.find("norm") == std::string::npos);
    }

    void a_dalle_is_checked_field_by_field() {
        const ModelSpec spec = *model_preset("dalle-emoji");
        QCOMPARE(spec.parameters(), std::uint64_t{5'603'560});
        QVERIFY(ModelSpec::from_json(spec.to_json()).value() == spec);
        for (const auto& [name, value] : std::vector<std::pair<const char*, nlohmann::json>>{{"text", 47},
                                                                                             {"text", 0},
                                                                                             {"text_vocabulary", 1},
                                                                                             {"text_vocabulary", 1'256},
                                                                                             {"grid", 1},
                                                                                             {"grid", 65},
                                                                                             {"blocks", 0},
                                                                                             {"blocks", 16},
                                                                                             {"context", 113},
                                                                                             {"heads", 32},
                                                                                             {"heads", 3},
                                                                                             {"dropout", 0.1}}) {
            QVERIFY2(is_refused(spec, name, value), (name + value.dump()).c_str());
        }
        ModelSpec odd = spec;
        odd.width = 254;  // no quarters
        odd.heads = 2;
        QVERIFY(!ModelSpec::from_json(odd.to_json()).ok());
        ModelSpec fewest = spec;
        fewest.layers = fewest.dalle.blocks + 1;
        fewest.heads = 16;
        fewest.vocabulary = fewest.dalle.text_vocabulary + 1;
        QVERIFY(ModelSpec::from_json(fewest.to_json()).value() == fewest);
        fewest.heads = 4;
        fewest.width = 4 * 12;  // dalle_head_width_min
        QVERIFY(ModelSpec::from_json(fewest.to_json()).ok());
        fewest.width -= 4;
        QVERIFY(!ModelSpec::from_json(fewest.to_json()).ok());
    }

    void shared_weights_and_a_head_of_two_kinds_cost_what_they_compute() {
        ModelSpec one = *model_preset("dalle-emoji"), two = one;
        two.layers += 1;
        QCOMPARE(two.parameters() - one.parameters(), std::uint64_t{6 * 256});
        QCOMPARE(two.applied_parameters() - one.applied_parameters(), std::uint64_t{1'051'136});
        QCOMPARE(one.applied_parameters(), std::uint64_t{16 * 1'051'136 + 256 * (48 * 256 + 64 * 1'000) / 112});
        QCOMPARE(layer_widths(one).up, std::uint64_t{8 * 256});
    }

    void a_swav_is_a_resnet_with_a_head_and_prototypes() {
        const ModelSpec spec = *model_preset("swav-resnet50");
        QCOMPARE(spec.parameters(), std::uint64_t{23'508'032 + 4'462'720 + 384'000});
        QCOMPARE(swav_features(spec), std::uint64_t{2'048});
        QCOMPARE(layer_widths(spec).heads, std::uint64_t{0});
        // Published: 4.09e9 products for a picture of 224 pixels, without the classifier's 2,048 x 1,000.
        const SwavWork large = swav_work(spec, 224);
        QVERIFY(large.products > 4'080'000'000 && large.products < 4'110'000'000);
        QCOMPARE(large.largest, std::uint64_t{64 * 112 * 112});
        QCOMPARE(spec.applied_parameters(),
                 (2 * large.products + 6 * swav_work(spec, 96).products) / std::uint64_t{3 * 256 * 256});
        const ModelSpec tiny = *model_preset("swav-tiny");
        QCOMPARE(tiny.parameters(), std::uint64_t{1'226'400 + 99'200 + 12'800});
        QCOMPARE(tiny.applied_parameters(),
                 (2 * swav_work(tiny, 32).products + 4 * swav_work(tiny, 16).products) / std::uint64_t{3 * 32 * 32});
        QCOMPARE(swav_features(tiny), std::uint64_t{256});
        QCOMPARE(records_together(tiny), 64U);
        QCOMPARE(records_together(*model_preset("coder-small")), 1U);
    }

    /// torchvision 0.28, resnet.py: what a state dictionary of ResNet(Bottleneck, [1, 2, 1, 1]) lists, fc left out.
    void a_swavs_tensors_are_torchvisions() {
        ModelSpec spec = *model_preset("swav-resnet50");
        spec.swav.stages = {1, 2, 1, 1};
        const std::vector<TensorSpec> tensors = tensors_of(spec);
        NamedShapes found;
        for (const TensorSpec& tensor : tensors) found.emplace_back(tensor.name, tensor.shape);
        const NamedShapes first = {{"conv1.weight", {64, 3, 7, 7}},
                                   {"bn1.weight", {64}},
                                   {"bn1.bias", {64}},
                                   {"layer1.0.conv1.weight", {64, 64, 1, 1}},
                                   {"layer1.0.bn1.weight", {64}},
                                   {"layer1.0.bn1.bias", {64}},
                                   {"layer1.0.conv2.weight", {64, 64, 3, 3}},
                                   {"layer1.0.bn2.weight", {64}},
                                   {"layer1.0.bn2.bias", {64}},
                                   {"layer1.0.conv3.weight", {256, 64, 1, 1}},
                                   {"layer1.0.bn3.weight", {256}},
                                   {"layer1.0.bn3.bias", {256}},
                                   {"layer1.0.downsample.0.weight", {256, 64, 1, 1}},
                                   {"layer1.0.downsample.1.weight", {256}},
                                   {"layer1.0.downsample.1.bias", {256}},
                                   {"layer2.0.conv1.weight", {128, 256, 1, 1}}};
        const NamedShapes last = {{"layer4.0.downsample.1.bias", {2'048}}, {"projection_head.0.weight", {2'048, 2'048}},
                                  {"projection_head.0.bias", {2'048}},     {"projection_head.1.weight", {2'048}},
                                  {"projection_head.1.bias", {2'048}},     {"projection_head.3.weight", {128, 2'048}},
                                  {"projection_head.3.bias", {128}},       {"prototypes.weight", {3'000, 128}}};
        QVERIFY(std::ranges::equal(std::span(found).first(first.size()), first));
        QVERIFY(std::ranges::equal(std::span(found).last(last.size()), last));
        const auto has = [&](const char* name) {
            return std::ranges::any_of(tensors, [&](const TensorSpec& tensor) { return tensor.name == name; });
        };
        QVERIFY(has("layer2.0.downsample.0.weight") && !has("layer2.1.downsample.0.weight"));
        // Basic blocks of the first stage neither halve nor widen.
        const std::vector<TensorSpec> tiny = tensors_of(*model_preset("swav-tiny"));
        QVERIFY(std::ranges::none_of(
            tiny, [](const TensorSpec& tensor) { return tensor.name.starts_with("layer1.0.downsample"); }));
        QVERIFY(tiny.front().shape == std::vector<std::uint64_t>({32, 3, 3, 3}));
    }

    void a_swav_is_checked_field_by_field() {
        const ModelSpec spec = *model_preset("swav-tiny");
        QVERIFY(ModelSpec::from_json(spec.to_json()).value() == spec);
        for (const auto& [name, value] :
             std::vector<std::pair<const char*, nlohmann::json>>{{"side", 31},
                                                                 {"side", 257},
                                                                 {"context", 3'071},
                                                                 {"stem", "huge"},
                                                                 {"block", "wide"},
                                                                 {"stages", {1, 1, 1}},
                                                                 {"stages", {1, 1, 1, 1, 1}},
                                                                 {"stages", {1, 1, 1, 2}},
                                                                 {"stages", {1, 1, 2, 0}},
                                                                 {"stages", {1, 1, 1, -1}},
                                                                 {"hidden", 7},
                                                                 {"embedding", 4'097},
                                                                 {"prototypes", 1},
                                                                 {"prototypes", swav_prototypes_max + 1},
                                                                 {"large_side", 7},
                                                                 {"small_side", swav_side_max + 1},
                                                                 {"small_crops", swav_crops_max + 1},
                                                                 {"area_min", 0.001},
                                                                 {"area_split", 0.1},
                                                                 {"area_split", 1.5},
                                                                 {"temperature", 0},
                                                                 {"epsilon", 0},
                                                                 {"queue", swav_queue_max + 1},
                                                                 {"queue_from", swav_rounds_max + 1ULL},
                                                                 {"frozen", swav_rounds_max + 1ULL},
                                                                 {"together", swav_together_min - 1},
                                                                 {"together", swav_together_max + 1},
                                                                 {"vocabulary", 257},
                                                                 {"heads", 2},
                                                                 {"layers", 5},
                                                                 {"dropout", 0.1}}) {
            QVERIFY2(is_refused(spec, name, value), (name + value.dump()).c_str());
        }
        ModelSpec largest = *model_preset("swav-resnet50");
        largest.swav.stages = {swav_blocks_max, 1, 1, 1};
        largest.layers = swav_blocks_max + 3;
        largest.swav.small_crops = swav_crops_max;
        largest.swav.together = swav_together_max;
        largest.swav.queue = swav_queue_max;
        largest.swav.frozen = swav_rounds_max;
        largest.swav.prototypes = swav_prototypes_max;
        QVERIFY(ModelSpec::from_json(largest.to_json()).value() == largest);
        largest.swav.stages = {swav_blocks_max + 1, 1, 1, 1};
        largest.layers += 1;
        QVERIFY(!ModelSpec::from_json(largest.to_json()).ok());
        nlohmann::json text = ModelSpec{}.to_json();  // of others a context has its older limit
        text["context"] = 16'385;
        QVERIFY(!ModelSpec::from_json(text).ok());
    }

    void every_family_has_its_baseline() {
        QCOMPARE(baseline_of(Family::opt), Baseline::bigram);
        QCOMPARE(baseline_of(Family::albert), Baseline::unigram);
        QCOMPARE(std::string(title_of(baseline_of(Family::coder))), std::string("mean colour"));
        QCOMPARE(std::string(title_of(baseline_of(Family::dalle))), std::string("unigram"));
        QCOMPARE(std::string(title_of(baseline_of(Family::swav))), std::string("chance"));
        QCOMPARE(std::string(loss_title(Baseline::chance)), std::string("Loss of a picture"));
    }

    void an_embedding_that_is_only_looked_up_is_in_no_product() {
        QCOMPARE(tinyllama().applied_parameters(), tinyllama().parameters() - 32'000 * 2'048);
        for (const ModelSpec& spec : {gpt2(12, 12, 768), opt_350m(), smollm2_135m()}) {
            QCOMPARE(spec.applied_parameters(), spec.parameters());
        }
    }

    void tensors_lie_one_behind_the_other_and_fill_the_vector() {
        for (const ModelSpec& spec :
             {samples::model(), gpt2(12, 12, 768), gpt2(48, 25, 1'600), small_opt(), opt(12, 12, 768), opt_350m(),
              small_llama(), tinyllama(), qwen2_500m(), qwen3_600m(), *model_preset("albert-tiny"),
              *model_preset("sahajbert"), *model_preset("coder-small"), *model_preset("dalle-emoji"),
              *model_preset("dalle-ttt"), *model_preset("swav-tiny"), *model_preset("swav-resnet50")}) {
            std::uint64_t next = 0;
            for (const TensorSpec& tensor : tensors_of(spec)) {
                QCOMPARE(tensor.offset, next);
                next += tensor.elements();
            }
            QCOMPARE(next, spec.parameters());
        }
    }

    void tensors_have_the_names_and_shapes_of_hf_checkpoints() {
        const NamedShapes expected = {{"wte.weight", {256, 8}},
                                      {"wpe.weight", {16, 8}},
                                      {"h.0.ln_1.weight", {8}},
                                      {"h.0.ln_1.bias", {8}},
                                      {"h.0.attn.c_attn.weight", {8, 24}},
                                      {"h.0.attn.c_attn.bias", {24}},
                                      {"h.0.attn.c_proj.weight", {8, 8}},
                                      {"h.0.attn.c_proj.bias", {8}},
                                      {"h.0.ln_2.weight", {8}},
                                      {"h.0.ln_2.bias", {8}},
                                      {"h.0.mlp.c_fc.weight", {8, 32}},
                                      {"h.0.mlp.c_fc.bias", {32}},
                                      {"h.0.mlp.c_proj.weight", {32, 8}},
                                      {"h.0.mlp.c_proj.bias", {8}},
                                      {"ln_f.weight", {8}},
                                      {"ln_f.bias", {8}}};
        QVERIFY(named_shapes(samples::model()) == expected);
    }

    void opt_tensors_have_hf_names_and_keep_q_k_v_side_by_side() {
        NamedShapes expected = {{"embed_tokens.weight", {256, 4}},
                                {"embed_positions.weight", {18, 8}},
                                {"project_in.weight", {8, 4}},
                                {"project_out.weight", {4, 8}},
                                {"layers.0.self_attn_layer_norm.weight", {8}},
                                {"layers.0.self_attn_layer_norm.bias", {8}},
                                {"layers.0.self_attn.q_proj.weight", {8, 8}},
                                {"layers.0.self_attn.k_proj.weight", {8, 8}},
                                {"layers.0.self_attn.v_proj.weight", {8, 8}},
                                {"layers.0.self_attn.q_proj.bias", {8}},
                                {"layers.0.self_attn.k_proj.bias", {8}},
                                {"layers.0.self_attn.v_proj.bias", {8}},
                                {"layers.0.self_attn.out_proj.weight", {8, 8}},
                                {"layers.0.self_attn.out_proj.bias", {8}},
                                {"layers.0.final_layer_norm.weight", {8}},
                                {"layers.0.final_layer_norm.bias", {8}},
                                {"layers.0.fc1.weight", {32, 8}},
                                {"layers.0.fc1.bias", {32}},
                                {"layers.0.fc2.weight", {8, 32}},
                                {"layers.0.fc2.bias", {8}},
                                {"final_layer_norm.weight", {8}},
                                {"final_layer_norm.bias", {8}}};
        for (auto& [name, shape] : expected) name = "model.decoder." + name;
        QVERIFY(named_shapes(small_opt()) == expected);
        ModelSpec after = small_opt();
        after.norm = NormPlace::after;
        expected.resize(expected.size() - 2);  // no norm behind the last layer
        QVERIFY(named_shapes(after) == expected);
    }

    void llama_tensors_have_hf_names_and_keep_what_is_one_product_side_by_side() {
        NamedShapes expected = {{"model.embed_tokens.weight", {256, 8}},
                                {"model.layers.0.input_layernorm.weight", {8}},
                                {"model.layers.0.self_attn.q_proj.weight", {12, 8}},
                                {"model.layers.0.self_attn.k_proj.weight", {6, 8}},
                                {"model.layers.0.self_attn.v_proj.weight", {6, 8}},
                                {"model.layers.0.self_attn.o_proj.weight", {8, 12}},
                                {"model.layers.0.post_attention_layernorm.weight", {8}},
                                {"model.layers.0.mlp.gate_proj.weight", {24, 8}},
                                {"model.layers.0.mlp.up_proj.weight", {24, 8}},
                                {"model.layers.0.mlp.down_proj.weight", {8, 24}},
                                {"model.norm.weight", {8}}};
        QVERIFY(named_shapes(small_llama()) == expected);
        ModelSpec spec = small_llama();
        spec.llama.tied = false;
        spec.llama.qkv_bias = true;
        expected.insert(expected.begin() + 1, {"lm_head.weight", {256, 8}});
        const NamedShapes biases = {{"model.layers.0.self_attn.q_proj.bias", {12}},
                                    {"model.layers.0.self_attn.k_proj.bias", {6}},
                                    {"model.layers.0.self_attn.v_proj.bias", {6}}};
        expected.insert(expected.begin() + 6, biases.begin(), biases.end());
        QVERIFY(named_shapes(spec) == expected);
        spec = small_llama();
        spec.llama.qk_norm = true;
        const NamedShapes gains = {{"model.layers.0.self_attn.q_norm.weight", {6}},
                                   {"model.layers.0.self_attn.k_norm.weight", {6}}};
        const NamedShapes found = named_shapes(spec);
        QVERIFY(NamedShapes(found.begin() + 5, found.begin() + 7) == gains);
    }

    void a_llama_survives_its_json_and_has_no_other_familys_fields() {
        for (const ModelSpec& spec : {small_llama(), smollm2_135m(), tinyllama(), qwen2_500m(), qwen3_600m()}) {
            const Result<nlohmann::json> json = parse_json(spec.to_json().dump(), 4'096);
            const Result<ModelSpec> parsed = ModelSpec::from_json(*json);
            QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.error().message.c_str());
            QVERIFY(*parsed == spec);
        }
        const nlohmann::json whole = small_llama().to_json();
        for (const auto& [field, value] : whole.items()) {
            nlohmann::json object = whole;
            object.erase(field);
            QVERIFY2(names(ModelSpec::from_json(object), field.c_str()), field.c_str());
            if (samples::model().to_json().contains(field)) continue;
            QVERIFY2(names(parsed_with(field.c_str(), value), field.c_str()), field.c_str());
        }
        QVERIFY(names(parsed_with("activation", "relu", small_llama()), "activation"));
    }

    void fields_of_llama_are_checked_data() {
        QTest::addColumn<QString>("field");
        QTest::addColumn<QString>("value");
        QTest::addColumn<bool>("fits");
        const auto row = [](const char* field, const char* value, bool fits) {
            QTest::addRow("%s=%s", field, value) << QString(field) << QString(value) << fits;
        };
        row("kv_heads", "0", false);
        row("kv_heads", "2", true);
        row("kv_heads", "3", false);
        row("head_width", "2", true);
        row("head_width", "0", false);
        row("head_width", "7", false);
        row("head_width", "512", true);
        row("head_width", "514", false);
        row("inner", "7", false);
        row("inner", "8", true);
        row("inner", "131072", true);
        row("inner", "131073", false);
        row("rope_theta", "0.5", false);
        row("rope_theta", "1000000000", true);
        row("rope_theta", "1000000001", false);
        row("norm_epsilon", "0", false);
        row("norm_epsilon", "1e-12", true);
        row("norm_epsilon", "0.02", false);
        row("tied", "1", false);
        row("qk_norm", "true", true);
    }
    void fields_of_llama_are_checked() {
        QFETCH(const QString, field);
        QFETCH(const QString, value);
        QFETCH(const bool, fits);
        const std::string name = field.toStdString();
        const Result<ModelSpec> parsed =
            parsed_with(name.c_str(), nlohmann::json::parse(value.toStdString()), small_llama());
        QVERIFY2(fits ? parsed.ok() : names(parsed, name.c_str()), parsed.ok() ? "" : parsed.error().message.c_str());
    }

    void biases_and_norms_of_queries_exclude_each_other() {
        ModelSpec spec = small_llama();
        spec.llama.qkv_bias = spec.llama.qk_norm = true;
        QVERIFY(names(ModelSpec::from_json(spec.to_json()), "qk_norm"));
    }

    void a_spec_survives_its_json() {
        ModelSpec spec = gpt2(12, 12, 768);
        spec.activation = Activation::relu;
        spec.dropout = 0.1F;
        const Result<nlohmann::json> json = parse_json(spec.to_json().dump(), 4'096);
        QVERIFY(json.ok());
        const Result<ModelSpec> parsed = ModelSpec::from_json(*json);
        QVERIFY(parsed.ok());
        QVERIFY(*parsed == spec);
    }

    void an_opt_survives_its_json() {
        for (const ModelSpec& spec : {opt(12, 12, 768), opt_350m(), small_opt()}) {
            const Result<ModelSpec> parsed = ModelSpec::from_json(spec.to_json());
            QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.error().message.c_str());
            QVERIFY(*parsed == spec);
        }
    }

    void fields_of_opt_are_checked_and_belong_to_opt_alone() {
        QVERIFY(names(parsed_with("norm", "between", small_opt()), "norm"));
        QVERIFY(names(parsed_with("embedding", 16'385, small_opt()), "embedding"));
        QVERIFY(names(parsed_with("embedding", small_opt().width, small_opt()), "embedding"));
        QVERIFY(names(parsed_with("norm", "before"), "norm"));
        QVERIFY(names(parsed_with("embedding", 0), "embedding"));
        for (const char* field : {"norm", "embedding"}) {
            nlohmann::json object = small_opt().to_json();
            object.erase(field);
            QVERIFY2(names(ModelSpec::from_json(object), field), field);
        }
    }

    void a_field_out_of_range_is_named_data() {
        QTest::addColumn<QString>("field");
        QTest::addColumn<QString>("value");
        for (const auto& [field, value] :
             std::vector<std::pair<const char*, const char*>>{{"family", "\"bert\""},
                                                              {"family", "7"},
                                                              {"vocabulary", "1"},
                                                              {"vocabulary", "1048577"},
                                                              {"context", "7"},
                                                              {"context", "16385"},
                                                              {"layers", "0"},
                                                              {"layers", "257"},
                                                              {"layers", "-1"},
                                                              {"heads", "0"},
                                                              {"heads", "3"},
                                                              {"heads", "2.5"},
                                                              {"width", "7"},
                                                              {"width", "16385"},
                                                              {"width", "18446744073709551616"},
                                                              {"activation", "\"swish\""},
                                                              {"activation", "null"},
                                                              {"dropout", "0.91"},
                                                              {"dropout", "-0.1"},
                                                              {"dropout", "\"0\""},
                                                              {"code", "\"import os\""}}) {
            QTest::addRow("%s=%s", field, value) << QString(field) << QString(value);
        }
    }
    void a_field_out_of_range_is_named() {
        QFETCH(const QString, field);
        QFETCH(const QString, value);
        const auto json = nlohmann::json::parse(value.toStdString());
        const std::string name = field.toStdString();
        QVERIFY(names(parsed_with(name.c_str(), json), name.c_str()));
    }

    void a_missing_field_is_named() {
        const nlohmann::json whole = samples::model().to_json();
        for (const auto& [name, value] : whole.items()) {
            nlohmann::json object = whole;
            object.erase(name);
            QVERIFY2(names(ModelSpec::from_json(object), name.c_str()), name.c_str());
        }
    }

    void a_model_has_twenty_billion_parameters_and_not_one_row_more() {
        // (V + T) C + L (12 C^2 + 13 C) + 2 C = 20,000,000,000 for these.
        nlohmann::json object = samples::model().to_json();
        object["vocabulary"] = 199'787;
        object["context"] = 16;
        object["layers"] = 15;
        object["heads"] = 8;
        object["width"] = 10'000;
        const Result<ModelSpec> largest = ModelSpec::from_json(object);
        QVERIFY2(largest.ok(), largest.ok() ? "" : largest.error().message.c_str());
        QCOMPARE(largest->parameters(), parameters_max);
        object["vocabulary"] = 199'788;
        QVERIFY(names(ModelSpec::from_json(object), "20,000,000,000"));
    }

    void every_range_ends_where_the_header_says_data() {
        QTest::addColumn<QString>("field");
        QTest::addColumn<int>("value");
        for (const auto& [field, value] : std::vector<std::pair<const char*, int>>{{"vocabulary", 2},
                                                                                   {"vocabulary", 1'048'576},
                                                                                   {"context", 8},
                                                                                   {"context", 16'384},
                                                                                   {"layers", 1},
                                                                                   {"layers", 256},
                                                                                   {"width", 8},
                                                                                   {"width", 16'384},
                                                                                   {"heads", 1}}) {
            QTest::addRow("%s=%d", field, value) << QString(field) << value;
        }
    }
    void every_range_ends_where_the_header_says() {
        QFETCH(const QString, field);
        QFETCH(const int, value);
        const Result<ModelSpec> parsed = parsed_with(field.toUtf8().constData(), value);
        QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.error().message.c_str());
    }

    void something_that_is_no_object_is_refused() {
        for (const char* text : {"null", "[]", "3", "\"gpt2\""}) {
            QVERIFY(!ModelSpec::from_json(nlohmann::json::parse(text)).ok());
        }
    }
};

QTEST_APPLESS_MAIN(ModelSpecTest)
#include "test_model_spec.moc"

// The memory plan as a function of facts: what it counts, what it prefers, what it refuses.
#include <QRegularExpression>
#include <QTest>

#include "core/model/presets.h"
#include "core/model/traits.h"
#include "core/training/memory/plan.h"
#include "core/training/memory/price.h"

using namespace potluck;
using namespace potluck::training;

namespace {

constexpr std::uint64_t gibibyte = 1ULL << 30U;

model::ModelSpec gpt2(std::uint32_t layers, std::uint32_t heads, std::uint32_t width) {
    model::ModelSpec spec;
    spec.vocabulary = 50'257;
    spec.context = 1024;
    spec.layers = layers;
    spec.heads = heads;
    spec.width = width;
    return spec;
}

const model::ModelSpec small = gpt2(12, 12, 768);
const model::ModelSpec extra_large = gpt2(48, 25, 1600);

PlanFacts processor(std::uint64_t ram) {
    PlanFacts facts;
    facts.matmul = Dtype::bf16;
    facts.flops = 1e12;
    facts.bytes_per_second = 1.5e10;
    facts.program_bytes = gibibyte / 4;
    facts.ram_budget = ram;
    facts.disk_budget = 100 * gibibyte;
    return facts;
}

PlanFacts graphics(std::uint64_t gpu, std::uint64_t ram) {
    PlanFacts facts = processor(ram);
    facts.device = {DeviceKind::cuda, 0};
    facts.flops = 2.5e13;
    facts.gpu_bytes_per_second = 3.6e11;
    facts.gpu_can_step = true;
    facts.gpu_budget = gpu;
    return facts;
}

}  // namespace

class MemoryPlanTest : public QObject {
    Q_OBJECT
private slots:
    void parts_sum_to_the_peaks() {
        for (const PlanFacts& facts : {processor(64 * gibibyte), graphics(24 * gibibyte, 64 * gibibyte)}) {
            for (const MemoryPlan& plan : all_plans(small, {}, facts)) {
                std::uint64_t gpu = 0, ram = 0, disk = 0;
                for (const control::PlanPart& part : plan.parts) {
                    gpu += part.gpu;
                    ram += part.ram;
                    disk += part.disk;
                }
                QCOMPARE(gpu, plan.gpu_peak);
                QCOMPARE(ram, plan.ram_peak);
                QCOMPARE(disk, plan.disk);
            }
        }
    }

    void onednn_takes_a_tenth_more_of_what_is_kept_in_fp32() {
        Layout layout;
        layout.matmul = Dtype::fp32;
        PlanFacts facts = processor(64 * gibibyte);
        const auto extra = [&](const Layout& with) {
            facts.onednn = false;
            const std::uint64_t plain = price_of(small, {}, facts, with).ram_peak;
            facts.onednn = true;
            return price_of(small, {}, facts, with).ram_peak - plain;
        };
        QCOMPARE(extra(layout), activation_bytes(small, layout).kept / 10);
        layout.matmul = Dtype::bf16;
        QCOMPARE(extra(layout), 0U);
    }

    void tiles_take_almost_half_more_of_what_is_kept_in_bf16() {
        Layout layout;
        layout.matmul = Dtype::bf16;
        PlanFacts facts = processor(64 * gibibyte);
        const auto extra = [&](const Layout& with) {
            facts.amx = false;
            const std::uint64_t plain = price_of(small, {}, facts, with).ram_peak;
            facts.amx = true;
            return price_of(small, {}, facts, with).ram_peak - plain;
        };
        QCOMPARE(extra(layout), activation_bytes(small, layout).kept * 9 / 20);
        layout.checkpointing = Checkpointing::selective;
        QCOMPARE(extra(layout), 0U);
        layout.checkpointing = Checkpointing::none;
        layout.matmul = Dtype::fp32;
        QCOMPARE(extra(layout), 0U);
    }

    void plenty_of_memory_gives_the_plain_layout() {
        const MemoryPlan plan = plans_within_budget(small, {}, processor(64 * gibibyte)).value().front();
        Layout expected;
        expected.micro_batch = plan.layout.micro_batch;
        expected.matmul = Dtype::bf16;
        QVERIFY(plan.layout == expected);
        const MemoryPlan on_gpu =
            plans_within_budget(small, {}, graphics(24 * gibibyte, 64 * gibibyte)).value().front();
        QVERIFY(on_gpu.layout.state == Residency::device);
        QVERIFY(on_gpu.layout.weights == Dtype::fp32 && on_gpu.layout.checkpointing == Checkpointing::none);
    }

    void a_speed_from_a_busy_processor_says_so() {
        PlanFacts facts = processor(64 * gibibyte);
        const auto tells = [&] {
            const std::vector<std::string> why = reasons_of(Layout{}, facts);
            return std::any_of(why.begin(), why.end(), [](const std::string& reason) {
                return reason.starts_with("Other programs used 66 % of the processor");
            });
        };
        QVERIFY(!tells());
        facts.busy = 0.664;
        QVERIFY(tells());
    }

    void the_largest_gpt2_fits_an_old_graphics_card() {
        PlanFacts facts = graphics(7 * gibibyte / 2, 16 * gibibyte);
        facts.gpu_program_bytes = 708ULL << 20U;  // as an H100 has them
        const MemoryPlan plan = plans_within_budget(extra_large, {}, facts).value().front();
        QVERIFY(plan.gpu_peak <= 7 * gibibyte / 2);
        QVERIFY(plan.layout.state == Residency::host);
    }

    void cudas_own_memory_is_counted_with_each_device() {
        PlanFacts facts = graphics(24 * gibibyte, 64 * gibibyte);
        const MemoryPlan without = price_of(small, {}, facts, {.device = facts.device, .state = Residency::device});
        facts.gpu_program_bytes = gibibyte / 2;
        const MemoryPlan with = price_of(small, {}, facts, {.device = facts.device, .state = Residency::device});
        QCOMPARE(with.gpu_peak, without.gpu_peak + gibibyte / 2);
        QCOMPARE(with.replica_gpu, without.replica_gpu + gibibyte / 2);
        QCOMPARE(with.parts[1].what, std::string("CUDA and LibTorch"));
        QCOMPARE(price_of(small, {}, facts, {}).gpu_peak, 0U);
    }

    void gradients_that_leave_a_gpu_hold_two_layers_beside_the_embedding() {
        const PlanFacts facts = graphics(24 * gibibyte, 64 * gibibyte);
        const MemoryPlan plan = price_of(small, {}, facts, {.device = facts.device});
        const BlockSizes blocks = block_sizes(small);
        const auto part = std::ranges::find(plan.parts, "gradient of a block", &control::PlanPart::what);
        QVERIFY(part != plan.parts.end());
        QCOMPARE(part->gpu, (blocks.embedding + 2 * blocks.layer) * sizeof(float));
    }

    void layers_on_their_way_to_a_gpu_are_counted_in_the_computers_memory() {
        const PlanFacts facts = graphics(24 * gibibyte, 64 * gibibyte);
        Layout layout{.device = facts.device, .matmul = Dtype::bf16, .weights_flow = Streaming::streamed};
        const auto on_their_way = [&](const char* what) {
            const MemoryPlan plan = price_of(small, {}, facts, layout);
            const auto part = std::ranges::find(plan.parts, what, &control::PlanPart::what);
            return part == plan.parts.end() ? 0 : part->ram;
        };
        // A layer of GPT-2 124M is 7,087,872 numbers: 13.5 MiB in 16 bits, 27.0 MiB in fp32.
        QCOMPARE(on_their_way("weights on their way"), 2 * 16 * gibibyte / 1024);
        QCOMPARE(on_their_way("gradient on its way"), 2 * 32 * gibibyte / 1024);
        layout.weights_flow = Streaming::resident;
        QCOMPARE(on_their_way("weights on their way"), 0U);
    }

    void a_gpu_that_adds_products_to_fp32_holds_none_in_16_bits() {
        PlanFacts facts = graphics(24 * gibibyte, 64 * gibibyte);
        const BlockSizes blocks = block_sizes(small);
        for (const Dtype matmul : {Dtype::bf16, Dtype::fp32}) {
            const Layout layout{.device = facts.device, .matmul = matmul};
            facts.gpu_sums_wide = false;
            const std::uint64_t whole = price_of(small, {}, facts, layout).gpu_peak;
            facts.gpu_sums_wide = true;
            const std::uint64_t saved = whole - price_of(small, {}, facts, layout).gpu_peak;
            QCOMPARE(saved, matmul == Dtype::fp32 ? 0 : 2 * std::max(blocks.embedding, blocks.layer));
        }
    }

    void the_largest_gpt2_fits_a_computer_of_12_gibibytes() {
        const MemoryPlan plan = plans_within_budget(extra_large, {}, processor(12 * gibibyte)).value().front();
        QVERIFY(plan.ram_peak <= 12 * gibibyte);
        QVERIFY(plan.layout.state_bits == 8);
    }

    void eight_bit_moments_take_a_little_more_than_two_bytes() {
        run::Recipe recipe;
        const auto moments = [&](std::uint32_t bits) {
            recipe.state_bits = bits;
            const std::vector<MemoryPlan> plans = all_plans(small, recipe, processor(0));
            for (const control::PlanPart& part : plans.front().parts) {
                if (part.what == "optimizer state") return static_cast<double>(part.ram) / 124'439'808.0;
            }
            return 0.0;
        };
        QVERIFY(moments(8) > 2.03 && moments(8) < 2.05);
        QVERIFY(moments(32) == 8.0);
    }

    void each_plan_to_fall_back_to_is_smaller() {
        const auto fallback_plans = plans_within_budget(small, {}, graphics(6 * gibibyte, 16 * gibibyte)).value();
        QVERIFY(fallback_plans.size() > 3);
        for (std::size_t i = 1; i < fallback_plans.size(); ++i)
            QVERIFY(fallback_plans[i].gpu_peak < fallback_plans[i - 1].gpu_peak);
    }

    void quality_comes_before_speed() {
        // Room for fp32 weights with every saving that costs only time: bf16 weights would be faster, and are not
        // taken.
        for (const std::uint64_t ram : {3, 4, 6}) {
            const auto plans = plans_within_budget(gpt2(24, 16, 1024), {}, processor(ram * gibibyte));
            QVERIFY2(plans.ok(), plans.ok() ? "" : plans.error().message.c_str());
            bool exact_fits = false;
            for (const MemoryPlan& plan : all_plans(gpt2(24, 16, 1024), {}, processor(0))) {
                exact_fits = exact_fits || (plan.layout.weights == Dtype::fp32 &&
                                            plan.ram_peak + plan.ram_peak / 25 <= ram * gibibyte);
            }
            QCOMPARE(plans->front().layout.weights == Dtype::fp32, exact_fits);
        }
    }

    void a_budget_that_cannot_work_is_refused_with_the_smallest_that_can() {
        const auto refused = plans_within_budget(extra_large, {}, graphics(gibibyte / 4, 16 * gibibyte));
        QVERIFY(!refused.ok() && refused.error().code == ErrorCode::out_of_memory);
        const QString message = QString::fromStdString(refused.error().message);
        const auto named = QRegularExpression("--ram (\\d+)MiB --gpu-memory (\\d+)MiB").match(message);
        QVERIFY2(named.hasMatch(), qPrintable(message));
        const std::uint64_t ram = named.captured(1).toULongLong() << 20U;
        const std::uint64_t gpu = named.captured(2).toULongLong() << 20U;
        QVERIFY(plans_within_budget(extra_large, {}, graphics(gpu, ram)).ok());
        QVERIFY(!plans_within_budget(extra_large, {}, graphics(gpu / 2, ram)).ok());
    }

    void no_plan_uses_a_forbidden_disk() {
        PlanFacts facts = processor(12 * gibibyte);
        facts.disk_budget = 0;
        for (const MemoryPlan& plan : all_plans(extra_large, {}, facts)) QCOMPARE(plan.disk, 0U);
    }

    /// They may wait there beside the anchor; a disk without room for them is no reason against a plan.
    void moments_count_as_disk_where_there_is_room_for_them() {
        Layout layout;
        layout.anchor = Residency::disk;
        PlanFacts facts = processor(64 * gibibyte);
        const MemoryPlan roomy = price_of(small, {}, facts, layout);
        const std::uint64_t anchor = small.parameters() * sizeof(float);
        const std::uint64_t moments = roomy.disk - anchor;
        QVERIFY(moments > 2 * small.parameters() && moments < small.parameters() * 21 / 10);
        facts.disk_budget = roomy.disk;
        QCOMPARE(price_of(small, {}, facts, layout).disk, roomy.disk);
        facts.disk_budget = roomy.disk - 1;
        QCOMPARE(price_of(small, {}, facts, layout).disk, anchor);
    }

    void a_layout_is_read_back_from_its_json() {
        Layout layout;
        layout.device = {DeviceKind::cuda, 3};
        layout.micro_batch = 5;
        layout.matmul = Dtype::fp16;
        layout.weights = Dtype::bf16;
        layout.gradient = Dtype::bf16;
        layout.checkpointing = Checkpointing::selective;
        layout.state_bits = 32;
        layout.state = Residency::device;
        layout.weights_flow = Streaming::streamed;
        layout.anchor = Residency::disk;
        QVERIFY(layout_from_json(to_json(layout)).value() == layout);
        for (const auto& [field, value] : std::initializer_list<std::pair<const char*, nlohmann::json>>{
                 {"device", "tpu"}, {"state_bits", 9}, {"weights", "fp16"}, {"anchor", "device"}, {"other", 1}}) {
            nlohmann::json bad = to_json(layout);
            bad[field] = value;
            QVERIFY2(!layout_from_json(bad).ok(), field);
        }
    }

    void a_summary_names_what_is_not_plain() {
        Layout layout;
        layout.matmul = Dtype::bf16;
        QCOMPARE(summary_of(layout, {}), std::string("bf16, 8-bit AdamW"));
        layout.anchor = Residency::disk;
        layout.checkpointing = Checkpointing::full;
        QCOMPARE(summary_of(layout, {}), std::string("bf16, 8-bit AdamW, full checkpointing, anchor on disk"));
        QVERIFY(reasons_of(layout, processor(0)).size() == 4);
        layout.checkpointing = Checkpointing::reversed;
        QCOMPARE(summary_of(layout, {}), std::string("bf16, 8-bit AdamW, reversed checkpointing, anchor on disk"));
        QVERIFY(reasons_of(layout, processor(0)).size() == 4);
        QVERIFY(layout_from_json(to_json(layout)).value() == layout);
    }

    /// Norms and assignments are over those that are computed at once: a smaller micro-batch is another model.
    void a_swav_computes_its_pictures_together_or_not_at_all() {
        const model::ModelSpec spec = *model::model_preset("swav-tiny");
        const run::Recipe recipe{.batch = 2 * spec.swav.together};
        PlanFacts facts = processor(8 * gibibyte);
        facts.matmul = Dtype::fp32;
        const std::vector<MemoryPlan> plans = all_plans(spec, recipe, facts);
        QVERIFY(!plans.empty());
        for (const MemoryPlan& plan : plans) {
            QCOMPARE(plan.layout.micro_batch, spec.swav.together);
            const Checkpointing kind = plan.layout.checkpointing;
            QVERIFY(kind == Checkpointing::none || kind == Checkpointing::full);
            QVERIFY(plan.layout.weights_flow == Streaming::resident);
        }
        QVERIFY(plans_within_budget(spec, recipe, facts).ok());
        facts.ram_budget = gibibyte / 5;
        QCOMPARE(plans_within_budget(spec, recipe, facts).error().code, ErrorCode::out_of_memory);
    }

    void a_residual_network_of_50_layers_fits_a_home_card_and_a_home_computer() {
        const model::ModelSpec spec = *model::model_preset("swav-resnet50");
        const run::Recipe recipe{.batch = spec.swav.together};
        PlanFacts facts = processor(12 * gibibyte);
        facts.matmul = Dtype::fp32;
        const MemoryPlan here = plans_within_budget(spec, recipe, facts).value().front();
        QVERIFY(here.layout.checkpointing == Checkpointing::full);
        QVERIFY(here.layout.weights == Dtype::fp32 && here.layout.gradient == Dtype::fp32);
        // What stem and blocks take in of 128 crops of 224 pixels and 384 of 96: 17.9 million values a picture.
        const std::uint64_t kept = activation_bytes(spec, here.layout).kept;
        QVERIFY(kept > 4 * 64 * 17'800'000ULL && kept < 4 * 64 * 18'100'000ULL);
        const auto planned = [](const char* what, std::uint64_t bytes) {
            qInfo("%s: planned %.2f GiB", what, static_cast<double>(bytes) / static_cast<double>(gibibyte));
        };
        planned("64 pictures, fp32, on a processor", here.ram_peak);
        facts = graphics(15 * gibibyte / 2, 12 * gibibyte);
        facts.gpu_program_bytes = 600ULL << 20U;
        const MemoryPlan there = plans_within_budget(spec, recipe, facts).value().front();
        QVERIFY(there.layout.checkpointing == Checkpointing::full);
        QVERIFY(there.layout.state == Residency::device && there.layout.weights == Dtype::fp32);
        for (const control::PlanPart& part : there.parts) QVERIFY(part.what != "copy for the products");
        planned("64 pictures, bf16, on a GPU", there.gpu_peak);
        // In groups of 16 pictures it needs no pass twice on such a card, and fits a small one.
        model::ModelSpec grouped = spec;
        model::set_records_together(grouped, 16);
        const auto chosen = plans_within_budget(grouped, recipe, facts).value();
        QVERIFY(chosen.front().layout.checkpointing == Checkpointing::none);
        planned("16 pictures, bf16, on a GPU", chosen.front().gpu_peak);
        facts.gpu_budget = 2 * gibibyte;
        QVERIFY(plans_within_budget(grouped, recipe, facts).ok());
    }

    void a_picture_coder_keeps_what_it_computed() {
        const model::ModelSpec spec = *model::model_preset("coder-small");
        for (const MemoryPlan& plan : all_plans(spec, {.batch = 8}, processor(8 * gibibyte)))
            QVERIFY(plan.layout.checkpointing == Checkpointing::none);
    }

    void no_other_familys_layers_are_undone() {
        for (const char* name : {"tiny", "llama-tiny", "albert-tiny", "coder-small", "swav-tiny"}) {
            const model::ModelSpec spec = *model::model_preset(name);
            const run::Recipe recipe{.batch = model::records_together(spec) > 1 ? spec.swav.together : 8};
            for (const MemoryPlan& plan : all_plans(spec, recipe, processor(8 * gibibyte)))
                QVERIFY2(plan.layout.checkpointing != Checkpointing::reversed, name);
        }
    }

    void a_dalles_layers_are_undone_where_their_inputs_do_not_fit() {
        const model::ModelSpec spec = *model::model_preset("dalle-ttt");
        const run::Recipe recipe{.batch = 8};
        PlanFacts facts = processor(0);
        facts.matmul = Dtype::fp32;
        std::uint64_t others_least = UINT64_MAX;
        for (const MemoryPlan& plan : all_plans(spec, recipe, facts))
            if (plan.layout.checkpointing != Checkpointing::reversed)
                others_least = std::min(others_least, plan.ram_peak + plan.ram_peak / 25);
        const auto chosen_within = [&](std::uint64_t ram) {
            facts.ram_budget = ram;
            return plans_within_budget(spec, recipe, facts).value().front().layout;
        };
        QVERIFY(chosen_within(others_least).checkpointing != Checkpointing::reversed);
        const Layout smaller = chosen_within(others_least - 1);
        QVERIFY(smaller.checkpointing == Checkpointing::reversed);
        QVERIFY(smaller.weights == Dtype::fp32 && smaller.gradient == Dtype::fp32);
        // Of one record: all layers' two streams but the last, and half a layer's graph.
        Layout layout;
        layout.micro_batch = 1;
        layout.checkpointing = Checkpointing::full;
        const ActivationBytes full = activation_bytes(spec, layout);
        layout.checkpointing = Checkpointing::reversed;
        const ActivationBytes undone = activation_bytes(spec, layout);
        const std::uint64_t streams = 2 * sizeof(float) * std::uint64_t{spec.context} * spec.width;
        QCOMPARE(undone.kept, streams);
        QCOMPARE(full.kept, spec.layers * streams);
        QVERIFY(undone.working <= full.working);  // of a large table's head both take as much
    }

    void further_gpus_change_no_layout_and_add_their_speed() {
        PlanFacts facts = graphics(24 * gibibyte, 64 * gibibyte);
        const MemoryPlan alone = plans_within_budget(small, {}, facts).value().front();
        QVERIFY(alone.further.empty() && alone.left_out.empty());
        // Without the moments, which only the first holds, it just fits.
        const std::uint64_t room = needed(alone.replica_gpu);
        QVERIFY(room < needed(alone.gpu_peak));
        facts.further = {{{DeviceKind::cuda, 1}, "A card", room, facts.flops},
                         {{DeviceKind::cuda, 2}, "A small card", room - 1, facts.flops}};
        facts.left_out = {{"cuda:7", "It is not there."}};
        const MemoryPlan plan = plans_within_budget(small, {}, facts).value().front();
        QVERIFY(plan.layout == alone.layout);
        QCOMPARE(plan.ram_peak, alone.ram_peak);
        QCOMPARE(plan.further.size(), std::size_t{1});
        QVERIFY(plan.further.front() == (DeviceId{DeviceKind::cuda, 1}));
        QCOMPARE(plan.left_out.size(), std::size_t{2});
        QCOMPARE(plan.left_out.front().id, std::string("cuda:7"));
        const std::string& reason = plan.left_out.back().reason;
        static const QRegularExpression lacking(
            R"(^A small card \(cuda:2\) has \d+\.\d GB free for training, and this layout needs \d+\.\d GB)");
        QVERIFY2(lacking.match(QString::fromStdString(reason)).hasMatch(), reason.c_str());
        // A batch's gradient and parameters cross the bus once for the other device.
        QVERIFY(plan.tokens_per_second < 2 * alone.tokens_per_second);
        QVERIFY2(plan.tokens_per_second > 1.3 * alone.tokens_per_second,
                 qPrintable(QString::number(plan.tokens_per_second / alone.tokens_per_second)));
    }

    void gpus_that_would_slow_training_down_are_used_only_if_they_were_chosen() {
        PlanFacts facts = graphics(24 * gibibyte, 64 * gibibyte);
        facts.flops = 4e14;  // a batch takes less than its gradient takes across the bus
        const MemoryPlan alone = plans_within_budget(small, {}, facts).value().front();
        facts.further = {{{DeviceKind::cuda, 1}, "A card", 24 * gibibyte, facts.flops}};
        const MemoryPlan automatic = plans_within_budget(small, {}, facts).value().front();
        QVERIFY(automatic.further.empty());
        QCOMPARE(automatic.tokens_per_second, alone.tokens_per_second);
        QCOMPARE(automatic.ram_peak, alone.ram_peak);
        QCOMPARE(automatic.left_out.size(), std::size_t{1});
        QVERIFY(automatic.left_out.front().reason.find("no faster with it") != std::string::npos);
        facts.further_use = FurtherUse::chosen;
        const MemoryPlan chosen = plans_within_budget(small, {}, facts).value().front();
        QCOMPARE(chosen.further.size(), std::size_t{1});
        QVERIFY(chosen.tokens_per_second < alone.tokens_per_second);
    }

    void a_gradient_in_the_computers_memory_is_counted_for_each_gpu() {
        PlanFacts facts = graphics(7 * gibibyte / 2, 64 * gibibyte);
        const MemoryPlan alone = plans_within_budget(extra_large, {}, facts).value().front();
        QVERIFY(alone.layout.state == Residency::host);
        facts.further_use = FurtherUse::chosen;
        for (std::uint32_t i = 1; i < 3; ++i)
            facts.further.push_back({{DeviceKind::cuda, i}, "A card", gibibyte * 4, 0});
        const MemoryPlan plan = plans_within_budget(extra_large, {}, facts).value().front();
        const std::uint64_t gradient = extra_large.parameters() * bytes_of(plan.layout.gradient);
        QCOMPARE(plan.further.size(), std::size_t{2});
        QCOMPARE(plan.ram_peak, alone.ram_peak + 2 * gradient);
        std::uint64_t ram = 0;
        for (const control::PlanPart& part : plan.parts) ram += part.ram;
        QCOMPARE(ram, plan.ram_peak);
        QVERIFY(plan.tokens_per_second < alone.tokens_per_second);  // their speed is not known, their cost is

        facts.ram_budget = needed(alone.ram_peak + gradient);
        const MemoryPlan tight = price_of(extra_large, {}, facts, alone.layout);
        QCOMPARE(tight.further.size(), std::size_t{1});
        QCOMPARE(tight.left_out.size(), std::size_t{1});
        QCOMPARE(tight.left_out.front().id, std::string("cuda:2"));
        QVERIFY(tight.left_out.front().reason.find("no room for the gradient of A card (cuda:2)") != std::string::npos);
    }

    void a_second_model_takes_what_the_first_ones_weights_take() {
        const auto bytes_of_parts = [](const MemoryPlan& plan, bool gpu) {
            std::uint64_t bytes = 0;
            for (const control::PlanPart& part : plan.parts)
                if (part.what == "weights" || part.what == "copy for the products" ||
                    part.what == "weights on their way")
                    bytes += gpu ? part.gpu : part.ram;
            return bytes;
        };
        for (PlanFacts facts : {processor(64 * gibibyte), graphics(24 * gibibyte, 64 * gibibyte)}) {
            for (const MemoryPlan& plan : all_plans(small, {}, facts)) {
                const SecondModelBytes more = second_model_bytes(small, plan.layout);
                QCOMPARE(more.gpu, bytes_of_parts(plan, true));
                QCOMPARE(more.ram, bytes_of_parts(plan, false));
                facts.ram_budget = needed(plan.ram_peak + more.ram);
                facts.gpu_budget = needed(plan.gpu_peak + more.gpu);
                QVERIFY(room_for_second_model(small, facts, plan).ok());
                PlanFacts less = facts;
                --less.ram_budget;
                QVERIFY(!room_for_second_model(small, less, plan).ok());
                less = facts;
                --less.gpu_budget;
                const Status refused = room_for_second_model(small, less, plan);
                QCOMPARE(refused.ok(), more.gpu == 0);
                if (!refused.ok()) QVERIFY(refused.error().message.find("MiB of GPU memory") != std::string::npos);
            }
        }
    }

    void blocks_are_the_embedding_and_the_layers() {
        const BlockSizes blocks = block_sizes(small);
        QCOMPARE(blocks.embedding + 12 * blocks.layer, small.parameters());
        QCOMPARE(blocks.embedding, (50'257ULL + 1024) * 768 + 2 * 768);
    }
};

QTEST_GUILESS_MAIN(MemoryPlanTest)
#include "test_memory_plan.moc"

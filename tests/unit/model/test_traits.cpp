// The questions that other rooms ask instead of naming a family.
#include <set>

#include <QTest>

#include "core/base/json.h"
#include "core/model/presets.h"
#include "core/model/traits.h"

using namespace potluck;
using namespace potluck::model;

namespace {

ModelSpec preset(std::string_view name) { return *model_preset(name); }

}  // namespace

class TraitsTest : public QObject {
    Q_OBJECT
private slots:
    void every_family_is_known_by_its_name_and_has_a_preset() {
        std::set<std::string_view> names;
        for (const FamilyPreset& one : first_presets()) {
            QVERIFY2(names.insert(one.family).second, std::string(one.family).c_str());
            QCOMPARE(preset(one.preset).to_json()["family"], std::string(one.family));
        }
        QCOMPARE(names, (std::set<std::string_view>{"gpt2", "opt", "llama", "albert", "coder", "dalle", "swav"}));
    }

    void records_are_of_one_kind() {
        QCOMPARE(data_kind(preset("tiny")), DataKind::text);
        QCOMPARE(data_kind(preset("opt-125m")), DataKind::text);
        QCOMPARE(data_kind(preset("albert-tiny")), DataKind::pairs);
        QCOMPARE(data_kind(preset("coder-small")), DataKind::pictures);
        QCOMPARE(data_kind(preset("swav-tiny")), DataKind::pictures);
        QCOMPARE(data_kind(preset("dalle-emoji")), DataKind::captions);
        for (const std::string_view name : model_presets()) {
            const ModelSpec model = preset(name);
            QCOMPARE(data_kind(model) == DataKind::pictures, reads_pictures(model));
            QCOMPARE(data_kind(model) == DataKind::captions, is_drawer(model));
            QCOMPARE(data_kind(model) == DataKind::pairs, is_encoder(model));
        }
    }

    void marks_of_texts_are_read_and_set() {
        ModelSpec model = preset("albert-tiny");
        QVERIFY(text_marks(model) == (TextMarks{256, 257, 258, 259}));
        set_text_marks(model, {1, 2, 3, 4});
        QVERIFY(text_marks(model) == (TextMarks{1, 2, 3, 4}));
        QVERIFY(!text_marks(preset("tiny")) && !text_marks(preset("swav-tiny")));
    }

    void pictures_have_a_side_and_clusters() {
        QCOMPARE(picture_side(preset("coder-small")), 64U);
        QCOMPARE(picture_side(with_side(preset("swav-tiny"), 24)), 24U);
        QCOMPARE(picture_side(preset("tiny")), 0U);
        ModelSpec model = preset("swav-tiny");
        QCOMPARE(clusters_of(model), 100U);
        set_clusters(model, 30);
        QCOMPARE(clusters_of(model), 30U);
        set_clusters(model, clusters_max);
        QVERIFY(ModelSpec::from_json(model.to_json()).ok());
        set_clusters(model, clusters_max + 1);
        QVERIFY(!ModelSpec::from_json(model.to_json()).ok());
        QCOMPARE(clusters_of(preset("coder-small")), 0U);
    }

    void captions_have_a_shape() {
        const CaptionShape shape = caption_shape(preset("dalle-ttt"));
        QCOMPARE(shape.text, 256U);
        QCOMPARE(shape.vocabulary, 32'356U);
        QCOMPARE(shape.grid, 32U);
        QCOMPARE(caption_shape(drawer_of_captions(20)).text, 20U);
        QVERIFY(is_drawer(drawer_of_captions(20)));
        QCOMPARE(caption_shape(preset("tiny")).grid, 0U);
    }

    void sentences_name_the_families_of_a_kind() {
        QCOMPARE(titles_of(reads_pictures), std::string("picture coder or SwAV"));
        QCOMPARE(titles_of(is_drawer), std::string("DALL-E"));
        QCOMPARE(presets_of(reads_pictures), std::string("coder-small or swav-tiny"));
        QCOMPARE(titles_of(takes_relu), std::string("GPT-2 or OPT"));
        QVERIFY(titles_of([](const ModelSpec&) { return false; }).empty());
    }

    /// A label is the key under which a window finds its translation.
    void no_label_stands_for_two_figures() {
        std::set<std::string_view> labels;
        for (const Measure& measure : all_measures()) {
            QVERIFY2(labels.insert(measure.label).second, std::string(measure.label).c_str());
        }
        QCOMPARE(measures_of(preset("albert-tiny")).size(), std::size_t{3});
        QCOMPARE(measures_of(preset("albert-tiny"))[2].better, Measure::Better::higher);
        QVERIFY(measures_of(preset("tiny")).empty());
        QVERIFY(beats("orders predicted", 51, 50) && !beats("orders predicted", 50, 50));
        QVERIFY(beats(code_loss_label, 1.9, 2.0) && !beats(code_loss_label, 2.0, 2.0) && !beats("of no family", 1, 2));
    }
};

QTEST_APPLESS_MAIN(TraitsTest)
#include "test_traits.moc"

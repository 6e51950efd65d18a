// The card of an exported model: what the hub reads, and that nobody's words become markup.
#include <QtTest>

#include "app/node/models/model_card.h"
#include "core/model/presets.h"
#include "tests/hostile_strings.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::node;

namespace {

CardFacts facts() {
    CardFacts facts;
    facts.run = run::samples::id<RunId>(0x11);
    facts.manifest = run::samples::manifest();
    facts.round = {7};
    facts.agreed = true;
    facts.tokens = {12'345};
    facts.contributors = 2;
    facts.leaders = {{{run::samples::id<PeerId>(0xa1), {12'000}, 6}, "anna"}};
    facts.training = {{6}, 2.5};
    return facts;
}

bool holds(const std::string& text, std::string_view part) {
    if (text.find(part) != std::string::npos) return true;
    qWarning("%s", text.c_str());
    return false;
}

}  // namespace

class ModelCardTest : public QObject {
    Q_OBJECT
private slots:
    void a_card_says_data_tokens_rounds_and_contributors() {
        const std::string card = model_card(facts());
        QVERIFY(card.starts_with("---\nlicense: cc0-1.0\nlibrary_name: transformers\n"));
        QVERIFY(holds(card, "12345 tokens in 7 rounds"));
        QVERIFY(holds(card, "1700 tokens in 1 shard, and 170 held out for validation"));
        QVERIFY(holds(card, "| 1 | anna | `a1a1a1a1a1a1a1a1` | 12000 | 6 |"));
        QVERIFY(holds(card, "and 1 more."));
        QVERIFY(holds(card, "| training, mean of the members | 2.5000 | 6 |"));
        QVERIFY(holds(card, "no estimate of the energy"));
        QVERIFY(holds(card, "> Shows the layout\\.\n> Two lines\\.\n"));
        QVERIFY(holds(card, "potluck-node verify"));
    }

    void a_card_lists_the_figures_of_its_family() {
        CardFacts one = facts();
        QVERIFY(model_card(one).find("Measured with the validation loss") == std::string::npos);
        one.figures = {{"orders predicted", 75, "%"}, {"gap loss", 1.5, "nats"}};
        QVERIFY(holds(model_card(one),
                      "Measured with the validation loss: orders predicted 75 \\%, gap loss 1\\.500 nats.\n"));
    }

    void a_card_says_for_what_the_model_is() {
        CardFacts one = facts();
        QVERIFY(holds(model_card(one), "pipeline_tag: text-generation\n"));
        one.manifest.model.family = model::Family::albert;
        QVERIFY(holds(model_card(one), "pipeline_tag: fill-mask\n"));
    }

    void a_card_counts_a_picture_coders_data_in_colour_values() {
        CardFacts one = facts();
        one.manifest.model = model::model_preset("coder-small").value();
        const std::string card = model_card(one);
        QVERIFY(holds(card, "library_name: potluck\npipeline_tag: image-feature-extraction\n"));
        QVERIFY(holds(card, " colour values in 1 shard, and "));
        QVERIFY(holds(card, "12345 colour values in 7 rounds"));
        QVERIFY(holds(card, "(6 N for each colour value, where"));
        QVERIFY(holds(card, "| | name | key | colour values | rounds |"));
        QVERIFY(holds(card, "| Loss of a picture | | of round |"));
        QVERIFY(card.find("token") == std::string::npos);
    }

    void a_card_without_a_proof_says_so() {
        CardFacts open = facts();
        open.agreed = false;
        QVERIFY(holds(model_card(open), "nothing here proves where it comes from"));
        CardFacts pruned = facts();
        pruned.pruned = model::PrunedModel{100, 50};
        const std::string card = model_card(pruned);
        QVERIFY(holds(card, "there is no proof beside this one") && card.find("verify") == std::string::npos);
    }

    void a_stranger_s_words_stay_words() {
        CardFacts hostile = facts();
        hostile.manifest.name = "# <script>alert(1)</script>";
        hostile.manifest.purpose = "---\n[here](http://example.com) | www.example.com";
        hostile.leaders[0].name = "a|b`<b>*c*\x1b[31m";
        const std::string card = model_card(hostile);
        for (const char* markup : {"<script>", "](http", "www.e", "<b>", "\x1b", "\n> ---", "a|b"})
            QVERIFY2(card.find(markup) == std::string::npos, markup);
        QVERIFY(holds(card, "\\<script\\>alert\\(1\\)"));
    }

    void hostile_strings_stay_text_data() {
        QTest::addColumn<std::string>("text");
        for (const tests::HostileString& one : tests::hostile_strings()) QTest::newRow(one.name) << one.utf8;
    }
    /// Of markdown's signs those alone are without a backslash that a card with harmless names has, too.
    void hostile_strings_stay_text() {
        QFETCH(std::string, text);
        const auto signs_of = [](const std::string& name) {
            CardFacts one = facts();
            one.manifest.name = one.manifest.licence = one.leaders[0].name = name;
            one.manifest.purpose = name.substr(0, name.find('\n'));
            std::string card = model_card(one);
            card.erase(0, card.find("\n---\n") + 5);  // YAML, in which the licence is a string of JSON
            std::string signs;
            for (std::size_t i = 0; i < card.size(); ++i) {
                if (card[i] == '\\') {
                    ++i;
                } else if (std::string_view("<>[]()*`|&#!\"").find(card[i]) != std::string_view::npos) {
                    signs += card[i];
                }
            }
            return signs;
        };
        CardFacts hostile = facts();
        hostile.manifest.name = hostile.manifest.purpose = hostile.leaders[0].name = text;
        QVERIFY2(!tests::commands_terminals(model_card(hostile), "\n"), model_card(hostile).c_str());
        QCOMPARE(signs_of(text), signs_of("anna"));
    }

    void a_licence_is_the_hub_s_or_named() {
        QCOMPARE(card_licence("Apache-2.0"), std::string("license: apache-2.0\n"));
        QCOMPARE(card_licence("MIT OR (X: y)"), std::string("license: other\nlicense_name: \"MIT OR (X: y)\"\n"));
    }
};

QTEST_APPLESS_MAIN(ModelCardTest)
#include "test_model_card.moc"

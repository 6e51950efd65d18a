// A run's public page: what it says, that nobody's words become markup, and that its folder always holds a whole page.
#include <QtTest>

#include "app/node/page/curve_svg.h"
#include "app/node/page/html.h"
#include "app/node/page/page_files.h"
#include "app/node/page/page_picture.h"
#include "core/base/files.h"
#include "core/pictures/qr_modules.h"
#include "tests/hostile_strings.h"
#include "tests/unit/page/page_sample.h"

using namespace potluck;
using namespace potluck::node;
using namespace potluck::test;
namespace fs = std::filesystem;

namespace {

std::size_t count_of(const std::string& text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
    return count;
}

bool holds(const std::string& text, std::string_view part) {
    if (text.find(part) != std::string::npos) return true;
    qWarning("no %s in %s", std::string(part).c_str(), text.c_str());
    return false;
}

std::string content(const fs::path& file) {
    const auto bytes = read_file(file, 1 << 20);
    return bytes ? std::string(as_text(*bytes)) : std::string();
}

}  // namespace

class PageTest : public QObject {
    Q_OBJECT
private slots:
    void a_page_says_how_far_the_run_is_and_who_trains() {
        const std::string page = page_html(page_facts());
        for (const char* part :
             {"<progress value=\"12\" max=\"40\">", "<strong>Training</strong>", "<dd>2</dd>", "volunteers now",
              "4,321", "1,234,567", "<bdi>anna</bdi>", "81.0 %", "1,700 tokens in 1 shard",
              "polyline class=\"line training\"", "polyline class=\"line validation\"", "After round 12",
              "Round 10</strong>, 1.8 MB", "href=\"round-10.proof\"", "href=\"magnet:?xt=urn:btmh:1220",
              "again every 60 seconds"})
            QVERIFY(holds(page, part));
        QVERIFY(holds(page, "<code>" + std::string(40, 'e') + "</code>"));
        QVERIFY(holds(page, "<code>" + std::string(64, 'f') + "</code>"));
    }

    void a_pasted_link_shows_a_picture_where_the_page_knows_its_address() {
        PageFacts facts = page_facts();
        facts.status.run->link = "https://example.org/kitchen/#potluck:?xt=urn:btmh:1220ab";
        std::string page = page_html(facts);
        for (const char* part : {"property=\"og:title\"", "Round 12 of 40. Everybody can help",
                                 "property=\"og:image\" content=\"https://example.org/kitchen/share.png\"",
                                 "property=\"og:url\" content=\"https://example.org/kitchen/\"", "summary_large_image"})
            QVERIFY(holds(page, part));
        facts.status.run->link = "https://example.org#potluck:?xt=urn:btmh:1220ab";
        QVERIFY(holds(page_html(facts), "content=\"https://example.org/share.png\""));
        facts.status.run->link = "https://example.org/run.html#potluck:?xt=urn:btmh:1220ab";
        QVERIFY(holds(page_html(facts), "content=\"https://example.org/share.png\""));
        facts.status.run->link = "potluck:?xt=urn:btmh:1220ab";
        page = page_html(facts);
        QVERIFY(holds(page, "og:title"));
        QCOMPARE(count_of(page, "og:image"), std::size_t{0});
        QCOMPARE(count_of(page, "og:url"), std::size_t{0});
    }

    void the_picture_carries_the_link_as_a_code() {
        PageFacts facts = page_facts();
        facts.curve.clear();
        const auto dark_at = [](const pictures::Picture& picture, int x, int y) {
            const std::size_t at =
                std::size_t{3} * (static_cast<std::size_t>(y) * picture.width + static_cast<std::size_t>(x));
            return picture.rgb[at] == 0 && picture.rgb[at + 1] == 0 && picture.rgb[at + 2] == 0;
        };
        facts.status.run->link = "https://example.org/kitchen/#potluck:?xt=urn:btmh:1220ab";
        const pictures::QrModules wanted = pictures::qr_modules(facts.status.run->link);
        const int across = wanted.side + 2 * pictures::quiet_modules, pixels = 384 / across;
        pictures::Picture picture = page_picture(facts);
        const int left = static_cast<int>(picture.width) - 60 - pixels * across;
        for (int row = 0; row < across; ++row) {
            for (int column = 0; column < across; ++column) {
                const int y = row - pictures::quiet_modules, x = column - pictures::quiet_modules;
                const bool inside = x >= 0 && y >= 0 && x < wanted.side && y < wanted.side;
                const bool dark = inside && wanted.dark[static_cast<std::size_t>(y * wanted.side + x)];
                QCOMPARE(dark_at(picture, left + column * pixels + pixels / 2, 60 + row * pixels + pixels / 2), dark);
            }
        }
        facts.status.run->link = std::string(2'332, 'a');  // no code holds it
        picture = page_picture(facts);
        for (int y = 0; y < static_cast<int>(picture.height); ++y)
            for (int x = 0; x < static_cast<int>(picture.width); ++x) QVERIFY(!dark_at(picture, x, y));
    }
    void the_picture_shows_how_far_the_run_is() {
        PageFacts facts = page_facts();
        const auto blue_in = [](const pictures::Picture& picture, std::uint32_t row) {
            std::size_t blue = 0;
            for (std::uint32_t x = 0; x < picture.width; ++x) {
                const std::size_t at = std::size_t{3} * (row * picture.width + x);
                if (picture.rgb[at] == 0x1f && picture.rgb[at + 2] == 0xc4) ++blue;
            }
            return blue;
        };
        constexpr std::uint32_t bar_row = page_picture_height - 70;
        facts.status.run->round = 10;
        facts.status.run->total_rounds = 40;
        QCOMPARE(blue_in(page_picture(facts), bar_row), std::size_t{270});  // a quarter of 1,080
        facts.status.run->round = 40;
        QCOMPARE(blue_in(page_picture(facts), bar_row), std::size_t{1'080});
        std::size_t curve = 0;
        for (std::uint32_t row = 60; row < 500; ++row) curve += blue_in(page_picture(facts), row);
        QVERIFY(curve > 1'000);
        facts.status.run->total_rounds = 0;
        facts.status.run->bigram_loss = std::numeric_limits<double>::infinity();
        facts.curve = {{.round = 1, .loss = 1e308, .at = 0, .validation = 0, .tokens = 0},
                       {.round = ~std::uint64_t{0}, .loss = 1e-308, .at = 0, .validation = 0, .tokens = 0}};
        QVERIFY(pictures::encode_png(page_picture(facts)).ok());
        facts.status.run.reset();
        QVERIFY(pictures::encode_png(page_picture(facts)).ok());
    }

    void the_newest_comes_first() {
        const std::string page = page_html(page_facts());
        QVERIFY(page.find("After round 12") < page.find("After round 4"));
        QVERIFY(page.find("Round 11") < page.find("Round 10"));
    }

    void foreign_text_never_becomes_markup() {
        const std::string page = page_html(page_facts());
        QCOMPARE(count_of(page, "<script"), std::size_t{1});  // the page's own
        QCOMPARE(count_of(page, "<img"), std::size_t{0});
        QCOMPARE(count_of(page, "javascript:"), std::size_t{0});
        QCOMPARE(count_of(page, "\xe2\x80\xae"), std::size_t{0});  // turns the direction of writing round
        // Title, the same for chats, heading, member and contributor.
        QCOMPARE(count_of(page, "&lt;/bdi&gt;&lt;/td&gt;&lt;script&gt;"), std::size_t{5});
        QVERIFY(holds(page, "&lt;img src=x onerror=alert(1)&gt;\nTwo lines."));
        QVERIFY(holds(page, "dn=Test&quot;&gt;&lt;script&gt;"));
    }

    void hostile_strings_are_text_everywhere_on_the_page_data() {
        QTest::addColumn<std::string>("text");
        for (const tests::HostileString& one : tests::hostile_strings()) QTest::newRow(one.name) << one.utf8;
    }
    /// The page has as many elements and as many lines as with a harmless name, and every name stands in it.
    void hostile_strings_are_text_everywhere_on_the_page() {
        QFETCH(std::string, text);
        const auto page_of = [](const std::string& name) {
            PageFacts facts = page_facts();
            facts.status.run->name = facts.status.run->licence = facts.status.run->model = name;
            facts.status.run->purpose = name;
            facts.status.run->figures = {{name, 1, "nats", 2}};
            facts.manifest->name = facts.manifest->purpose = name;
            for (auto& member : facts.status.run->members) member.name = name;
            for (auto& leader : facts.leaders) leader.name = leader.team = name;
            for (auto& sample : facts.samples) sample.prompt = sample.text = name;
            for (auto& checkpoint : facts.checkpoints) checkpoint.magnet = "magnet:?dn=" + name;
            facts.status.run->magnet = "magnet:?dn=" + name;
            return page_html(facts);
        };
        const std::string page = page_of(text), harmless = page_of("anna");
        QCOMPARE(count_of(page, "<"), count_of(harmless, "<"));
        QCOMPARE(count_of(page, ">"), count_of(harmless, ">"));
        QCOMPARE(count_of(page, "\""), count_of(harmless, "\""));
        QVERIFY2(!tests::commands_terminals(page, "\n"), page.c_str());
        QCOMPARE(count_of(page, "</script>"), std::size_t{1});
    }

    void the_policy_allows_nothing_inline_and_nothing_is() {
        const std::string page = page_html(page_facts());
        QVERIFY(holds(page, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "));
        for (const char* forbidden : {"unsafe", "style=", "onclick", "onload", "<style", "http://", "https://"})
            QVERIFY2(count_of(page, forbidden) == 0, forbidden);
    }

    void the_writers_folder_is_not_shown() {
        QCOMPARE(count_of(page_html(page_facts()), "secret-folder"), std::size_t{0});
    }

    void members_that_only_the_newest_list_tells_of_are_counted() {
        PageFacts facts = page_facts();
        facts.status.run->findings.members_beyond = 2'498;
        const std::string page = page_html(facts);
        QVERIFY(holds(page, "<dd>2,500</dd>"));
        QVERIFY(holds(page, "and 2,498 more."));
    }

    void a_page_without_a_run_is_a_page() {
        PageFacts facts = page_facts();
        facts.status.run.reset();
        QVERIFY(holds(page_html(facts), "in no run now"));
    }

    void a_stored_node_says_nothing_of_who_is_there() {
        PageFacts facts = page_facts();
        facts.status.activity = control::Activity::not_running;
        facts.status.run->members.clear();
        const std::string page = page_html(facts);
        QCOMPARE(count_of(page, "volunteers now"), std::size_t{0});
        QCOMPARE(count_of(page, "id=\"members\""), std::size_t{0});
        QVERIFY(holds(page, "Not seen by this node now"));
    }

    void text_is_escaped_whatever_it_holds() {
        QCOMPARE(escaped("a<b>&\"'"), std::string("a&lt;b&gt;&amp;&quot;&#39;"));
        QCOMPARE(escaped("one\ntwo\r\x1b[0m\xff"), std::string("one\ntwo??[0m?"));
        QCOMPARE(escaped(""), std::string());
        QCOMPARE(name_html(""), std::string("&ndash;"));
        QVERIFY(name_html(std::string(500, 'x')).size() <= 80 + 11);
    }

    void numbers_are_read_easily() {
        QCOMPARE(grouped(0), std::string("0"));
        QCOMPARE(grouped(999), std::string("999"));
        QCOMPARE(grouped(1'000), std::string("1,000"));
        QCOMPARE(grouped(12'345'678), std::string("12,345,678"));
        QCOMPARE(byte_count_text(999), std::string("999 bytes"));
        QCOMPARE(byte_count_text(1'800'192), std::string("1.8 MB"));
        QCOMPARE(time_text(1'764'000'000), std::string("2025-11-24 16:00 UTC"));
        QCOMPARE(time_stamp(1'764'000'000), std::string("2025-11-24T16:00:00Z"));
    }

    void ticks_are_round_and_few() {
        QCOMPARE(tick_step(10, 5), 2.0);
        QCOMPARE(tick_step(0.3, 6), 0.05);
        QCOMPARE(tick_step(2000, 8), 500.0);
    }

    void a_curve_of_nothing_is_no_curve() {
        QVERIFY(curve_svg({}).empty());
        QVERIFY(curve_svg({CurveKind::training, {{3, 0, 0, 0}}, 10, 2.0}).empty());
        QVERIFY(curve_svg({CurveKind::validation, {{3, 2.0, 0, 0}}, 10, 2.0}).empty());
        QVERIFY(!curve_svg({CurveKind::training, {{3, 2.0, 0, 0}}, 10, 2.0}).empty());  // one point, no range
    }

    void a_long_curve_is_thinned_and_ends_where_it_ends() {
        CurvePlan plan;
        plan.kind = CurveKind::training;
        for (std::uint64_t round = 0; round < 5'000; ++round) plan.points.push_back({round, 3.0, 0, 0});
        const std::string svg = curve_svg(plan);
        QVERIFY(count_of(svg, "<circle") <= 242);
        QVERIFY(holds(svg, "round 4999: 3.0000"));
    }

    void rounds_that_nobody_here_saw_are_a_gap() {
        CurvePlan plan;
        for (const std::uint64_t round : {0, 6, 7, 8}) plan.points.push_back({round, 0, 0, 4.69});
        const std::string svg = curve_svg(plan);
        QCOMPARE(count_of(svg, "<polyline"), std::size_t{2});
        QCOMPARE(count_of(svg, "<circle"), std::size_t{4});
        plan.points.erase(plan.points.begin());
        QCOMPARE(count_of(curve_svg(plan), "<polyline"), std::size_t{1});
    }

    void the_members_training_loss_stands_apart_from_model_and_baseline() {
        PageFacts facts = page_facts();
        facts.curve[8].validation = 4.1;
        facts.status.run->bigram_loss = 4.6;  // within the drawing
        const std::string page = page_html(facts);
        QCOMPARE(count_of(page, "<svg class=\"curve\""), std::size_t{2});
        QCOMPARE(count_of(page, "<line class=\"baseline\""), std::size_t{1});
        QVERIFY(page.find("line validation") < page.find("<details><summary>The members in training"));
        QVERIFY(page.find("<details><summary>The members in training") < page.find("line training"));
        QVERIFY(
            holds(page, "<span title=\"Loss in nats per token\">How surprised it is by new text; lower is better."));
        const CurvePlan plan{CurveKind::training, facts.curve, 40, 3.0};
        QCOMPARE(count_of(curve_svg(plan), "baseline"), std::size_t{0});
    }

    void a_run_that_is_over_invites_nobody() {
        PageFacts facts = page_facts();
        QVERIFY(holds(page_html(facts), "click <b>Join</b>"));
        facts.status.run->closed = true;
        QCOMPARE(count_of(page_html(facts), "click <b>Join</b>"), std::size_t{0});
    }

    void the_legend_names_what_is_drawn() {
        PageFacts facts = page_facts();
        QVERIFY(holds(page_html(facts), "<li class=\"validation\">"));
        for (control::CurvePoint& point : facts.curve) point.validation = 0;
        QCOMPARE(count_of(page_html(facts), "<li class=\"validation\">"), std::size_t{0});
    }

    void hashes_are_hashes_or_nothing() {
        const std::string v1(40, 'a'), v2(64, 'b');
        QCOMPARE(hashes_of("magnet:?xt=urn:btih:" + v1 + "&xt=urn:btmh:1220" + v2).v1, v1);
        QCOMPARE(hashes_of("magnet:?xt=urn:btih:" + v1 + "&xt=urn:btmh:1220" + v2).v2, v2);
        QVERIFY(hashes_of("magnet:?xt=urn:btih:<b>" + v1).v1.empty());
        QVERIFY(hashes_of("magnet:?xt=urn:btmh:1220" + v2.substr(1)).v2.empty());
    }

    void samples_are_kept_coarser_never_shorter() {
        const QTemporaryDir folder;
        const fs::path path = folder.path().toStdString();
        PageSamples samples = PageSamples::load(path, "run");
        QVERIFY(samples.due(1, 100) && !samples.due(0, 100));
        for (std::uint64_t round = 1; round <= PageSamples::samples_max + 1; ++round)
            samples.add({round, 1, "The ", std::string(PageSamples::text_bytes_max + 10, 'x')});
        QCOMPARE(samples.all().size(), PageSamples::samples_max / 2 + 1);
        QVERIFY(samples.all().front().round == 1 && samples.all().back().round == PageSamples::samples_max + 1);
        QCOMPARE(samples.all().front().text.size(), PageSamples::text_bytes_max);
        QVERIFY(samples.save(path).ok());
        QVERIFY(PageSamples::load(path, "run").all() == samples.all());
        QVERIFY(PageSamples::load(path, "another run").all().empty());
        QVERIFY(!samples.due(42, 100) && samples.due(46, 100) && samples.due(42, 42));
        QVERIFY(!samples.due(41, 41));
        QVERIFY(write_file_atomically(path / "samples.json", as_bytes("{")).ok());
        QVERIFY(PageSamples::load(path, "run").all().empty());
    }

    void a_folder_holds_the_page_and_what_it_needs() {
        const QTemporaryDir folder;
        const fs::path path = fs::path(folder.path().toStdString()) / "new" / "page";
        QVERIFY(write_page(path, "<p>one</p>", as_bytes("a picture")).ok());
        QCOMPARE(content(path / "share.png"), std::string("a picture"));
        QVERIFY(content(path / "page.css").find("prefers-color-scheme: dark") != std::string::npos);
        QVERIFY(content(path / "page.js").starts_with("// What the page can do"));
        QVERIFY(content(path / "icon.svg").starts_with("<svg"));
        QVERIFY(write_file_atomically(path / "page.css", as_bytes("old")).ok());
        QVERIFY(write_page(path, "<p>two</p>", {}).ok());
        QCOMPARE(content(path / "index.html"), std::string("<p>two</p>"));
        QVERIFY(content(path / "page.css") != "old");
        for (const auto& entry : fs::directory_iterator(path))
            QVERIFY(entry.path().extension() != ".tmp" && entry.path().extension() != ".partial");
        QVERIFY(write_file_atomically(path.parent_path() / "file", as_bytes("x")).ok());
        QVERIFY(!write_page(path.parent_path() / "file" / "page", "", {}).ok());
    }
};

QTEST_APPLESS_MAIN(PageTest)
#include "test_page.moc"

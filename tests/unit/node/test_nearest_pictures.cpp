// The picture of held-out pictures and those that are nearest to them: what stands where, and what is refused.
#include <QTest>

#include <algorithm>
#include <numeric>
#include <vector>

#include "app/node/models/sampler.h"
#include "core/base/rng.h"
#include "core/model/presets.h"

using namespace potluck;
using namespace potluck::node;

namespace {

model::ModelSpec model_of(std::uint32_t side) {
    model::ModelSpec spec = model::model_preset("swav-tiny").value();
    spec.swav.side = side;
    spec.context = model::swav_context(spec.swav);
    return spec;
}

/// Pictures of one colour each, their number, with a class that must not be seen.
Bytes plain_pictures(const model::ModelSpec& spec, model::Token count) {
    std::vector<model::Token> records;
    for (model::Token i = 0; i < count; ++i) {
        records.insert(records.end(), spec.context, i);
        records.push_back(250);
    }
    return model::stored_tokens(records, model::TokenWidth::bits16);
}

}  // namespace

class NearestPicturesTest : public QObject {
    Q_OBJECT
private slots:
    void a_row_is_a_query_a_gap_and_its_nearest_in_order() {
        const model::ModelSpec spec = model_of(8);
        const Bytes records = plain_pictures(spec, 10);
        const auto picture = nearest_picture(spec, records, {{{2, {5, 3, 9}}, {7, {1, 2, 0}}}});
        QVERIFY2(picture.ok(), picture ? "" : picture.error().message.c_str());
        QVERIFY(picture->width == 4 * 8 + shown_gap && picture->height == 2 * 8);
        const auto at = [&](std::uint32_t x, std::uint32_t y) { return picture->rgb[3 * (y * picture->width + x)]; };
        const std::vector<std::vector<std::uint8_t>> expected = {{2, 5, 3, 9}, {7, 1, 2, 0}};
        for (std::uint32_t row = 0; row < 2; ++row) {
            for (const std::uint32_t y : {8 * row, 8 * row + 7}) {
                QCOMPARE(at(0, y), expected[row][0]);
                QCOMPARE(at(7, y), expected[row][0]);
                for (std::uint32_t x = 8; x < 8 + shown_gap; ++x) QCOMPARE(at(x, y), std::uint8_t{255});
                for (std::uint32_t i = 0; i < 3; ++i) QCOMPARE(at(8 * (i + 1) + shown_gap, y), expected[row][i + 1]);
            }
        }
    }

    /// Of noise, which a PNG cannot make smaller.
    void the_largest_picture_fits_the_line_protocol() {
        const model::ModelSpec spec = model_of(shown_side_max);
        Rng rng(1);
        std::vector<model::Token> values((nearest_rows * (1 + nearest_columns)) * (std::size_t{spec.context} + 1));
        for (model::Token& value : values) value = static_cast<model::Token>(rng.below(256));
        const Bytes records = model::stored_tokens(values, model::TokenWidth::bits16);
        control::NearestReply answer;
        for (std::uint32_t row = 0; row < nearest_rows; ++row) {
            answer.rows.push_back({row, std::vector<std::uint32_t>(nearest_columns)});
            std::iota(answer.rows.back().nearest.begin(), answer.rows.back().nearest.end(),
                      nearest_rows + row * nearest_columns);
        }
        const auto picture = nearest_picture(spec, records, answer);
        QVERIFY(picture.ok());
        const auto png = pictures::encode_png(*picture);
        QVERIFY(png.ok());
        control::SampledText sample{.text = {}, .picture = to_hex(*png), .nearest = nearest_columns};
        QVERIFY(sample.picture->size() <= control::picture_text_bytes_max);
        QVERIFY(control::read_as<control::SampledText>(control::to_json(sample)).ok());
        sample.picture = std::string(control::picture_text_bytes_max + 1, '0');
        QVERIFY(!control::read_as<control::SampledText>(control::to_json(sample)).ok());
    }

    void a_larger_picture_is_shown_smaller() {
        const model::ModelSpec spec = model_of(2 * shown_side_max);
        const auto picture = nearest_picture(spec, plain_pictures(spec, 2), {{{0, {1}}}});
        QVERIFY(picture.ok() && picture->height == shown_side_max);
    }

    void an_answer_that_does_not_fit_the_records_is_refused() {
        const model::ModelSpec spec = model_of(8);
        const Bytes records = plain_pictures(spec, 3);
        QVERIFY(nearest_picture(spec, records, {{{0, {1, 2}}}}).ok());
        const std::vector<control::NearestReply> wrong = {
            {}, {{{0, {}}}}, {{{3, {1}}}}, {{{0, {3}}}}, {{{0, {UINT32_MAX}}}}, {{{0, {1, 2}}, {1, {2}}}}};
        for (const control::NearestReply& answer : wrong)
            QCOMPARE(nearest_picture(spec, records, answer).error().code, ErrorCode::malformed);
        const ByteSpan cut = ByteSpan(records).first(records.size() - 1);
        QVERIFY(!nearest_picture(spec, cut, {{{0, {2}}}}).ok() && nearest_picture(spec, cut, {{{0, {1}}}}).ok());
        Bytes beyond = records;
        beyond[1] = std::byte{1};  // the upper half of the first value
        QCOMPARE(nearest_picture(spec, beyond, {{{0, {1}}}}).error().code, ErrorCode::malformed);
    }
};

QTEST_GUILESS_MAIN(NearestPicturesTest)
#include "test_nearest_pictures.moc"

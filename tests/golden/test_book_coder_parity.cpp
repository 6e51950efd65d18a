// A picture coder with a code book beside diffusers' VQModel, as recorded by training/make_book_reference.py: its
// folder is read as a person's would be.
#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/files.h"
#include "core/model/hf_checkpoint.h"
#include "core/model/hf_config.h"
#include "core/training/compute/device.h"
#include "core/training/make_model.h"
#include "tests/golden/training_reference.h"

using namespace potluck;
using namespace potluck::test;
using namespace potluck::training;
using potluck::model::Token;

namespace {

constexpr std::size_t recorded_pictures = 3;
const std::string saved = recordings + "vqmodel/";

struct RecordedBook {
    model::ModelSpec spec = model::parse_hugging_face_config(read_file(saved + "config.json", 1 << 16).value()).value();
    Bytes weights = read_file(saved + "diffusion_pytorch_model.safetensors", 1 << 20).value();
    std::vector<float> parameters = std::vector<float>(spec.parameters());
    TrainingReference reference{"book", spec};
    std::unique_ptr<Model> coder = make_model(spec, {});
    std::vector<Token> records;

    RecordedBook() {
        const std::vector<model::CheckpointFile> files = {{"weights", weights}};
        const Status read = model::read_checkpoint(spec, spec.context, files, parameters);
        POTLUCK_CHECK(read.ok() && coder->use_parameters(parameters).ok());
        const auto values = reference.values<std::int32_t>("pictures");
        for (std::size_t i = 0; i < values.size(); ++i) {
            records.push_back(static_cast<Token>(values[i]));
            if ((i + 1) % spec.context == 0) records.push_back(0);
        }
    }
    [[nodiscard]] std::vector<std::uint32_t> codes() const {
        const auto recorded = reference.values<std::int32_t>("codes");
        return {recorded.begin(), recorded.end()};
    }
};

}  // namespace

class BookCoderParityTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { use_threads(1); }

    void codes_are_those_of_diffusers() {
        const RecordedBook recorded;
        QCOMPARE(recorded.records.size(), recorded_pictures * (recorded.spec.context + 1));
        QCOMPARE(model::coder_codes(recorded.spec.coder), std::uint64_t{40});
        const auto codes = recorded.coder->codes_of(recorded.records);
        QVERIFY2(codes.ok(), codes ? "" : codes.error().message.c_str());
        QVERIFY(*codes == recorded.codes());
    }

    void pictures_are_drawn_as_by_diffusers() {
        const RecordedBook recorded;
        const auto expected = recorded.reference.values<float>("drawn");
        const std::vector<std::uint32_t> codes = recorded.codes();
        const std::size_t places = codes.size() / recorded_pictures, values = recorded.spec.context;
        for (std::size_t i = 0; i < recorded_pictures; ++i) {
            const auto drawn = recorded.coder->picture_of(std::span(codes).subspan(i * places, places));
            QVERIFY2(drawn.ok(), drawn ? "" : drawn.error().message.c_str());
            const std::span own = std::span(expected).subspan(i * values, values);
            QVERIFY(distance(*drawn, own, length(own)) < 1e-5);
        }
        // A picture comes back as its codes draw it.
        std::vector<std::uint32_t> picture(recorded.records.begin(),
                                           recorded.records.begin() + static_cast<std::ptrdiff_t>(values));
        const std::span first = std::span(expected).first(values);
        QVERIFY(distance(recorded.coder->next_logits(picture).value(), first, length(first)) < 1e-5);
        QVERIFY(!recorded.coder->next_logits(std::span(picture).first(5)).ok());
    }

    void impossible_pixels_and_codes_are_refused() {
        const RecordedBook recorded;
        std::vector<Token> records = recorded.records;
        records[7] = 256;
        QCOMPARE(recorded.coder->codes_of(records).error().code, ErrorCode::malformed);
        std::vector<std::uint32_t> codes = recorded.codes();
        codes.resize(codes.size() / recorded_pictures);
        codes[3] = 40;
        QCOMPARE(recorded.coder->picture_of(codes).error().code, ErrorCode::invalid_argument);
        codes.pop_back();
        QCOMPARE(recorded.coder->picture_of(codes).error().code, ErrorCode::invalid_argument);
    }

    void weights_of_another_shape_are_refused_by_name() {
        RecordedBook recorded;
        const std::vector<model::CheckpointFile> files = {{"weights", recorded.weights}};
        const auto told = [&](const auto& change) {
            model::ModelSpec other = recorded.spec;
            change(other.coder.book);
            std::vector<float> values(other.parameters());
            const Status read = model::read_checkpoint(other, other.context, files, values);
            return read.ok() ? QString() : QString::fromStdString(read.error().message);
        };
        QVERIFY(told([](model::CodeBook&) {}).isEmpty());
        QVERIFY(told([](model::CodeBook& book) { book.codes = 41; }).contains("quantize.embedding.weight"));
        QVERIFY(told([](model::CodeBook& book) { book.attention = false; }).contains("mid_block.attentions.0"));
        QVERIFY(told([](model::CodeBook& book) { book.widths[1] = 16; }).contains("encoder.down_blocks.1"));
    }

    void it_is_not_trained() {
        const RecordedBook recorded;
        std::vector<float> gradient(recorded.parameters.size(), 1.0F);
        const auto trained = recorded.coder->add_gradient({.records = recorded.records, .gradient = gradient});
        QCOMPARE(trained.error().code, ErrorCode::invalid_argument);
        QVERIFY(QString::fromStdString(trained.error().message).contains("--coder"));
        QCOMPARE(recorded.coder->evaluate(recorded.records, 0).error().code, ErrorCode::invalid_argument);
    }
};

QTEST_GUILESS_MAIN(BookCoderParityTest)
#include "test_book_coder_parity.moc"

#include <QTest>

#include <algorithm>

#include "core/base/json.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::model;

namespace {

/// A header with its length in front, and the bytes of content it is to be followed by.
Bytes header_of(std::string_view json) {
    ByteWriter out;
    out.u64(json.size());
    out.raw(as_bytes(json));
    return out.take();
}

Result<std::vector<SafetensorsEntry>> parsed(std::string_view json, std::uint64_t content) {
    const Bytes header = header_of(json);
    return parse_safetensors_header(header, header.size() + content);
}

Bytes state_file(const StateLayout& layout) {
    Bytes file = layout.header;
    file.resize(static_cast<std::size_t>(layout.file_size()));
    return file;
}

}  // namespace

class StateLayoutTest : public QObject {
    Q_OBJECT
private slots:
    void the_header_is_whole_blocks_and_ends_in_spaces() {
        for (std::uint32_t layers : {1U, 12U, 256U}) {
            ModelSpec spec = samples::model();
            spec.layers = layers;
            const StateLayout layout = state_layout(spec);
            QCOMPARE(layout.header.size() % 16'384, std::size_t{0});
            QVERIFY(layout.header.size() < 16'384 + 120 * tensors_of(spec).size());
            QCOMPARE(layout.parameters, spec.parameters());
            ByteReader in(layout.header);
            QCOMPARE(in.u64(), layout.header.size() - 8);
        }
    }

    void our_own_header_reads_back_as_our_tensors() {
        ModelSpec spec = samples::model();
        spec.layers = 12;  // h.10 sorts before h.2 by name, but not in the file
        const StateLayout layout = state_layout(spec);
        const auto entries = parse_safetensors_header(layout.header, layout.file_size());
        QVERIFY(entries.ok());
        const std::vector<TensorSpec> tensors = tensors_of(spec);
        QCOMPARE(entries->size(), tensors.size());
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            QCOMPARE((*entries)[i].name, tensors[i].name);
            QCOMPARE((*entries)[i].dtype, std::string("F32"));
            QVERIFY((*entries)[i].shape == tensors[i].shape);
            QCOMPARE((*entries)[i].begin, 4 * tensors[i].offset);
            QCOMPARE((*entries)[i].end, 4 * (tensors[i].offset + tensors[i].elements()));
        }
    }

    void parameters_are_found_behind_the_header() {
        const StateLayout layout = state_layout(samples::model());
        Bytes file = state_file(layout);
        const float value = 1.5F;
        std::memcpy(file.data() + layout.header.size() + 4, &value, 4);
        const auto parameters = parameters_of(layout, file);
        QVERIFY(parameters.ok());
        QCOMPARE(parameters->size(), std::size_t{3'064});
        QCOMPARE((*parameters)[1], 1.5F);
        QCOMPARE((*parameters)[0], 0.0F);
    }

    void a_state_of_another_size_or_header_is_refused() {
        const StateLayout layout = state_layout(samples::model());
        Bytes file = state_file(layout);
        QVERIFY(!parameters_of(layout, ByteSpan(file).first(file.size() - 4)).ok());
        QVERIFY(!parameters_of(layout, {}).ok());
        file[layout.header.size() - 1] = std::byte{'\n'};
        QVERIFY(!parameters_of(layout, file).ok());
    }

    void headers_of_other_programs_are_read() {
        const auto entries = parsed(R"({"b":{"dtype":"BF16","shape":[2,3],"data_offsets":[4,16]},)"
                                    R"("__metadata__":{"format":"pt"},)"
                                    R"("a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                                    R"("none":{"dtype":"I8","shape":[0,5],"data_offsets":[4,4]}}  )",
                                    16);
        QVERIFY2(entries.ok(), entries.ok() ? "" : entries.error().message.c_str());
        QCOMPARE(entries->size(), std::size_t{3});
        QCOMPARE(entries->front().name, std::string("a"));
        QCOMPARE(entries->back().name, std::string("b"));
        QVERIFY(parsed("{}", 0).ok());
    }

    void a_hostile_header_is_refused_data() {
        QTest::addColumn<QByteArray>("json");
        const auto row = [](const char* name, const char* json) { QTest::addRow("%s", name) << QByteArray(json); };
        row("empty", "");
        row("no object", "[]");
        row("blank first", R"( {"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})");
        row("twice", R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},)"
                     R"("a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})");
        row("overlap", R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},)"
                       R"("b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})");
        row("hole", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                    R"("b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})");
        row("not filled", R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})");
        row("outside", R"({"a":{"dtype":"F32","shape":[5],"data_offsets":[0,20]}})");
        row("backwards", R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[16,0]}})");
        row("negative", R"({"a":{"dtype":"F32","shape":[-4],"data_offsets":[0,16]}})");
        row("fraction", R"({"a":{"dtype":"F32","shape":[4.0],"data_offsets":[0,16]}})");
        row("overflow", R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,16]}})");
        row("wraps to 16", R"({"a":{"dtype":"F32","shape":[4611686018427387908],"data_offsets":[0,16]}})");
        row("wrong width", R"({"a":{"dtype":"F64","shape":[4],"data_offsets":[0,16]}})");
        row("unknown type", R"({"a":{"dtype":"F31","shape":[4],"data_offsets":[0,16]}})");
        row("three offsets", R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16,16]}})");
        row("extra field", R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16],"code":"x"}})");
        row("metadata", R"({"__metadata__":{"n":1},"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})");
        row("rank 17", R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,4],"data_offsets":[0,16]}})");
        row("no name", R"({"":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})");
    }
    void a_hostile_header_is_refused() {
        QFETCH(const QByteArray, json);
        const auto entries = parsed(std::string_view(json.constData(), static_cast<std::size_t>(json.size())), 16);
        QVERIFY(!entries.ok());
        QCOMPARE(entries.error().code, ErrorCode::malformed);
    }

    void a_header_has_16_mebibytes_and_not_one_byte_more() {
        // Blanks at the end belong to the header and are no JSON.
        const auto reads = [](std::uint64_t size) {
            std::string json = R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})";
            json.resize(static_cast<std::size_t>(size), ' ');
            return parsed(json, 16).ok();
        };
        QCOMPARE(safetensors_header_max, std::uint64_t{16} << 20U);
        QVERIFY(reads(safetensors_header_max));
        QVERIFY(!reads(safetensors_header_max + 1));
    }

    void a_header_names_65536_tensors_and_not_one_more_data() {
        QTest::addColumn<bool>("metadata");
        QTest::newRow("with metadata") << true;
        QTest::newRow("without") << false;
    }
    void a_header_names_65536_tensors_and_not_one_more() {
        QFETCH(const bool, metadata);
        const auto read = [&](std::size_t tensors) {
            nlohmann::json header = nlohmann::json::object();
            if (metadata) header["__metadata__"] = {{"format", "pt"}};
            for (std::size_t i = 0; i < tensors; ++i) {
                header[std::to_string(i)] = {{"dtype", "I8"}, {"shape", {0}}, {"data_offsets", {0, 0}}};
            }
            return parsed(header.dump(), 0);
        };
        const auto largest = read(safetensors_tensors_max);
        QVERIFY2(largest.ok(), largest.ok() ? "" : largest.error().message.c_str());
        QCOMPARE(largest->size(), std::size_t{65'536});
        QVERIFY(!read(safetensors_tensors_max + 1).ok());
    }

    void names_and_shapes_end_at_their_limits() {
        const auto reads = [](std::size_t name, std::size_t rank) {
            std::vector<int> shape(rank, 1);
            shape.back() = 4;
            const nlohmann::json tensor = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {0, 16}}};
            return parsed(nlohmann::json{{std::string(name, 'n'), tensor}}.dump(), 16).ok();
        };
        QVERIFY(reads(1024, 16));  // tensor_name_max, rank_max
        QVERIFY(!reads(1025, 16));
        QVERIFY(!reads(1024, 17));
        QVERIFY(!reads(0, 1));
    }

    void a_length_that_lies_is_refused() {
        const std::string_view json = R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})";
        QVERIFY(parsed(json, 16).ok());
        Bytes header = header_of(json);
        QVERIFY(!parse_safetensors_header(ByteSpan(header).first(7), 7).ok());
        QVERIFY(!parse_safetensors_header(ByteSpan(header).first(header.size() - 1), header.size() + 16).ok());
        std::fill_n(header.begin(), 8, std::byte{0xff});
        QVERIFY(!parse_safetensors_header(header, header.size() + 16).ok());
    }
};

QTEST_APPLESS_MAIN(StateLayoutTest)
#include "test_state_layout.moc"

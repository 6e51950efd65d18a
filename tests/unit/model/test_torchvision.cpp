#include <QTest>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/model/presets.h"
#include "core/model/state_layout.h"
#include "core/model/torchvision/torchvision_file.h"

using namespace potluck;
using namespace potluck::model;

namespace {

/// Every parameter its place in the flat vector, every value of a norm its place behind them.
struct Counted {
    ModelSpec spec = reshaped(*model_preset("swav-tiny"), {.width = 8});
    std::vector<float> parameters, norms;
    Counted() : parameters(spec.parameters()), norms(norm_values(spec)) {
        for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i] = static_cast<float>(i);
        for (std::size_t i = 0; i < norms.size(); ++i) norms[i] = -static_cast<float>(i) - 1;
    }
};

float number_at(const Bytes& file, std::uint64_t begin) {
    std::uint64_t header = 0;
    std::memcpy(&header, file.data(), sizeof header);
    float value = 0;
    std::memcpy(&value, file.data() + sizeof header + header + begin, sizeof value);
    return value;
}

}  // namespace

class TorchvisionTest : public QObject {
    Q_OBJECT
private slots:
    void a_network_is_stored_with_what_its_norms_remember_and_without_its_head() {
        const Counted counted;
        const auto file = torchvision_file(counted.spec, counted.parameters, counted.norms);
        QVERIFY2(file.ok(), file ? "" : file.error().message.c_str());
        const auto entries = parse_safetensors_header(*file, file->size());
        QVERIFY2(entries.ok(), entries ? "" : entries.error().message.c_str());
        std::map<std::string, SafetensorsEntry> by_name;
        for (const SafetensorsEntry& entry : *entries) by_name[entry.name] = entry;
        std::size_t expected = 0;
        float next_norm = -1;
        for (const TensorSpec& tensor : tensors_of(counted.spec)) {
            const bool head = tensor.name.starts_with("projection_head") || tensor.name.starts_with("prototypes");
            QCOMPARE(by_name.contains(tensor.name), !head);
            if (head) continue;
            ++expected;
            QVERIFY(by_name[tensor.name].shape == tensor.shape);
            QCOMPARE(number_at(*file, by_name[tensor.name].begin), static_cast<float>(tensor.offset));
            if (tensor.role != Role::gain) continue;
            expected += 2;
            const std::string norm = tensor.name.substr(0, tensor.name.rfind('.'));
            for (const char* what : {".running_mean", ".running_var"}) {
                QCOMPARE(number_at(*file, by_name[norm + what].begin), next_norm);
                next_norm -= static_cast<float>(tensor.elements());
            }
        }
        QCOMPARE(by_name.size(), expected);
        QVERIFY(by_name.contains("layer4.0.downsample.1.running_var"));
    }

    void too_few_or_too_many_numbers_are_refused() {
        Counted counted;
        counted.norms.pop_back();
        QVERIFY(!torchvision_file(counted.spec, counted.parameters, counted.norms).ok());
        counted.norms.resize(counted.norms.size() + 2);
        QVERIFY(!torchvision_file(counted.spec, counted.parameters, counted.norms).ok());
        counted.norms.pop_back();
        QVERIFY(torchvision_file(counted.spec, counted.parameters, counted.norms).ok());
        counted.parameters.pop_back();
        QVERIFY(!torchvision_file(counted.spec, counted.parameters, counted.norms).ok());
    }
};

QTEST_APPLESS_MAIN(TorchvisionTest)
#include "test_torchvision.moc"

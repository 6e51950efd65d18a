// The signed index: what of it is believed, which pack fits which computer, which version is newer.
#include <QtTest>

#include <functional>

#include "tests/unit/release/release_samples.h"

using namespace potluck;
using namespace potluck::release;
using nlohmann::json;

namespace {

const Computer anna{"linux", "x86_64", Version{{0, 1, 0}}, 0};

/// The code with which an index is refused after a change of its JSON; io: it is not.
ErrorCode refusal(const std::function<void(json&)>& change) {
    json object = json::parse(sample_index().to_text());
    change(object);
    const auto index = Index::parse(object.dump());
    return index ? ErrorCode::io : index.error().code;
}

Result<Index> accepted(const std::string& text, const std::string& signature, Known known) {
    return accept_index(TestKey().key(), as_bytes(text), signature, known);
}

}  // namespace

class TestReleaseIndex : public QObject {
    Q_OBJECT
private slots:
    void a_written_index_is_read_back() {
        const auto index = Index::parse(sample_index().to_text());
        QVERIFY2(index.ok(), index ? "" : index.error().message.c_str());
        QVERIFY(*index == sample_index());
    }
    void a_signed_index_is_accepted() {
        const std::string text = sample_index().to_text();
        QVERIFY(accepted(text, TestKey().sign(text), {.serial = 7, .now = 1'500}).ok());
    }
    void an_index_that_was_changed_is_refused() {
        const std::string text = sample_index().to_text();
        std::string changed = text;
        changed.replace(changed.find("faster"), 6, "slower");
        const auto index = accepted(changed, TestKey().sign(text), {.serial = 0, .now = 1'500});
        QVERIFY(!index.ok());
        QCOMPARE(index.error().code, ErrorCode::untrusted);
    }
    void an_index_of_another_key_is_refused() {
        const std::string text = sample_index().to_text();
        QCOMPARE(accepted(text, TestKey(2).sign(text), {.serial = 0, .now = 1'500}).error().code, ErrorCode::untrusted);
    }
    void an_older_index_than_the_last_is_refused() {
        const std::string text = sample_index().to_text();
        const auto index = accepted(text, TestKey().sign(text), {.serial = 8, .now = 1'500});
        QVERIFY(!index.ok());
        QVERIFY(index.error().message.find("older") != std::string::npos);
    }
    void an_index_that_has_expired_is_refused() {
        const std::string text = sample_index().to_text();
        const auto index = accepted(text, TestKey().sign(text), {.serial = 0, .now = 2'000});
        QVERIFY(!index.ok());
        QVERIFY(index.error().message.find("expired") != std::string::npos);
    }

    void a_fault_of_any_field_is_refused_data() {
        QTest::addColumn<QString>("list");
        QTest::addColumn<QString>("field");
        QTest::addColumn<QString>("value");
        const auto row = [](const char* list, const char* field, const char* value) {
            QTest::addRow("%s %s %s", list, field, value) << list << field << value;
        };
        for (const char* name : {"\"../../etc/passwd\"", "\"/etc/passwd\"", "\".hidden\"", "\"a b\"", "\"\"", "3"})
            row("packs", "name", name);
        row("packs", "kind", "\"tpu\"");
        row("packs", "apps", "[\"new\"]");
        row("packs", "size", "0");
        row("packs", "size", "17179869185");
        row("packs", "unpacked", "68719476737");
        row("packs", "files", "2001");
        row("packs", "sha256", "\"00\"");
        row("packs", "root", "\"xx\"");
        row("packs", "torrent", "7");
        row("packs", "magnet", "\"https://example.org\"");
        row("packs", "url", "\"file:///etc/passwd\"");
        row("packs", "url", "\"https://example.org/a b\"");
        row("packs", "unknown", "1");
        row("releases", "version", "\"0\"");
        row("releases", "version", "\"0.3.0.1\"");
        row("releases", "version", "\"0.03\"");
        row("releases", "page", "\"javascript:alert(1)\"");
        row("releases", "notes", "null");
    }
    void a_fault_of_any_field_is_refused() {
        QFETCH(QString, list);
        QFETCH(QString, field);
        QFETCH(QString, value);
        const auto code = refusal([&](json& object) {
            object[list.toStdString()][0][field.toStdString()] = json::parse(value.toStdString());
        });
        QCOMPARE(code, ErrorCode::malformed);
    }
    void texts_end_at_their_limits() {
        const auto ends_at = [](const char* list, const char* field, const std::string& begin, std::size_t limit) {
            const auto refused = [&](std::size_t size) {
                const std::string text = begin + std::string(size - begin.size(), 'a');
                return refusal([&](json& object) { object[list][0][field] = text; }) == ErrorCode::malformed;
            };
            return !refused(limit) && refused(limit + 1);
        };
        QVERIFY(ends_at("packs", "name", "", name_bytes_max));
        QVERIFY(ends_at("packs", "url", "https://", url_bytes_max));
        QVERIFY(ends_at("packs", "magnet", "magnet:?", 1'000));
        QVERIFY(ends_at("packs", "system", "", 40));
        QVERIFY(ends_at("packs", "architecture", "", 40));
        QVERIFY(ends_at("releases", "date", "", 40));
        QVERIFY(ends_at("releases", "notes", "", notes_bytes_max));
        QVERIFY(ends_at("releases", "page", "https://", url_bytes_max));
    }
    void lists_end_at_their_limits() {
        const auto refused = [](std::size_t releases, std::size_t packs, std::size_t apps) {
            return refusal([&](json& object) {
                       json& versions = object["packs"][0]["apps"];
                       while (versions.size() < apps) versions.push_back("0.1.0");
                       const json release = object["releases"][0], pack = object["packs"][1];
                       while (object["releases"].size() < releases) object["releases"].push_back(release);
                       while (object["packs"].size() < packs) object["packs"].push_back(pack);
                   }) == ErrorCode::malformed;
        };
        QVERIFY(!refused(releases_max, packs_max, apps_max));
        QVERIFY(refused(releases_max + 1, 1, 1));
        QVERIFY(refused(1, packs_max + 1, 1));
        QVERIFY(refused(1, 1, apps_max + 1));
    }
    void numbers_end_at_their_limits() {
        constexpr std::uint64_t latest = 1ULL << 40U;
        for (const char* field : {"serial", "issued", "expires"}) {
            QCOMPARE(refusal([&](json& object) { object[field] = latest; }), ErrorCode::io);
            QCOMPARE(refusal([&](json& object) { object[field] = latest + 1; }), ErrorCode::malformed);
        }
        const auto refused = [](const char* list, const char* field, const json& value) {
            return refusal([&](json& object) { object[list][0][field] = value; }) == ErrorCode::malformed;
        };
        QVERIFY(!refused("releases", "version", "99999.99999.99999"));
        QVERIFY(refused("releases", "version", "100000.0"));
        QVERIFY(refused("releases", "version", "1.100000"));
        QVERIFY(!refused("packs", "driver", 99'999));
        QVERIFY(refused("packs", "driver", 100'000));
    }
    void an_index_and_a_pack_have_256_kibibytes_and_no_more() {
        std::string index = sample_index().to_text(), pack = sample_pack().to_text();
        index.resize(index_bytes_max, ' ');
        pack.resize(index_bytes_max, ' ');
        QVERIFY(Index::parse(index).ok() && Pack::parse(pack).ok());
        QVERIFY(!Index::parse(index + " ").ok());
        QVERIFY(!Pack::parse(pack + " ").ok());
    }
    void another_format_is_refused() {
        QCOMPARE(refusal([](json& object) { object["format"] = "potluck-releases-2"; }), ErrorCode::malformed);
    }
    void more_packs_than_there_may_be_are_refused() {
        QCOMPARE(refusal([](json& object) {
                     for (std::size_t i = 0; i < packs_max; ++i) object["packs"].push_back(object["packs"][0]);
                 }),
                 ErrorCode::malformed);
    }

    void a_computer_without_a_gpu_is_offered_the_processors_pack() {
        const auto packs = packs_for(sample_index(), anna);
        QCOMPARE(packs.size(), std::size_t{1});
        QCOMPARE(packs[0].kind, PackKind::cpu);
    }
    void a_computer_with_a_new_driver_is_offered_cuda_first() {
        Computer computer = anna;
        computer.nvidia_driver = 580;
        const auto packs = packs_for(sample_index(), computer);
        QCOMPARE(packs.size(), std::size_t{2});
        QCOMPARE(packs[0].kind, PackKind::cuda);
    }
    void an_old_driver_gets_no_pack_that_it_cannot_serve() {
        Computer computer = anna;
        computer.nvidia_driver = 579;
        QCOMPARE(packs_for(sample_index(), computer).size(), std::size_t{1});
    }
    void a_pack_of_another_computer_or_version_is_not_offered() {
        Computer computer = anna;
        computer.architecture = "aarch64";
        QVERIFY(packs_for(sample_index(), computer).empty());
        computer = anna;
        computer.system = "windows";
        QVERIFY(packs_for(sample_index(), computer).empty());
        computer = anna;
        computer.app = Version{{0, 2, 0}};
        QVERIFY(packs_for(sample_index(), computer).empty());
    }
    void only_a_later_version_is_newer() {
        Index index = sample_index();
        index.releases.push_back({Version{{0, 10, 0}}, "2027-01-01", 1, "", ""});
        QCOMPARE(newer_release(index, Version{{0, 9, 9}})->version.parts[1], 10U);
        QVERIFY(newer_release(index, Version{{0, 10, 0}}) == nullptr);
        QVERIFY(newer_release(Index{}, Version{}) == nullptr);
    }
    void the_driver_is_read_from_what_the_kernel_says() {
        QCOMPARE(nvidia_driver_of("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun\nGCC version: 12"),
                 580U);
        for (const char* other : {"", "nothing", "Kernel Module", "Kernel Module  x.y", "Kernel Module 99999999.1"})
            QCOMPARE(nvidia_driver_of(other), 0U);
    }
};

QTEST_APPLESS_MAIN(TestReleaseIndex)
#include "test_release_index.moc"

// Signatures that the program minisign made (tests/golden/release), and what is done to them.
#include <QtTest>

#include "core/base/files.h"
#include "core/identity/minisign.h"

using namespace potluck;
using namespace potluck::identity;

namespace {

std::string sample(const char* name) {
    const auto file = read_file(std::filesystem::path(POTLUCK_SOURCE_DIR) / "tests/golden/release" / name, 4096);
    return file ? std::string(as_text(*file)) : std::string();
}

MinisignKey key() {
    const std::string file = sample("release.pub");
    const std::size_t line = file.find('\n') + 1;
    return *MinisignKey::parse(file.substr(line, file.find('\n', line) - line));
}

ErrorCode refusal(const std::string& file, const std::string& signature) {
    const auto verified = verify_minisign(key(), as_bytes(file), signature);
    return verified ? ErrorCode::io : verified.error().code;
}

}  // namespace

class TestMinisign : public QObject {
    Q_OBJECT
private slots:
    void a_signature_of_minisign_is_believed_and_its_comment_told() {
        const auto told = verify_minisign(key(), as_bytes(sample("signed.json")), sample("signed.json.minisig"));
        QVERIFY2(told.ok(), told ? "" : told.error().message.c_str());
        QCOMPARE(QString::fromStdString(*told), QString("serial 7"));
    }
    void another_file_is_refused() {
        QCOMPARE(refusal(sample("signed.json") + " ", sample("signed.json.minisig")), ErrorCode::untrusted);
    }
    void another_comment_is_refused() {
        std::string signature = sample("signed.json.minisig");
        signature.replace(signature.find("serial 7"), 8, "serial 9");
        QCOMPARE(refusal(sample("signed.json"), signature), ErrorCode::untrusted);
    }
    void another_key_is_refused() {
        MinisignKey other = key();
        other.id[0] ^= std::byte{1};
        const auto verified = verify_minisign(other, as_bytes(sample("signed.json")), sample("signed.json.minisig"));
        QVERIFY(!verified.ok());
        QCOMPARE(verified.error().code, ErrorCode::untrusted);
        QVERIFY(verified.error().message.find("another key") != std::string::npos);
    }
    void a_key_of_the_same_name_is_refused() {
        MinisignKey other = key();
        other.key[0] ^= std::byte{1};
        QVERIFY(!verify_minisign(other, as_bytes(sample("signed.json")), sample("signed.json.minisig")).ok());
    }
    void a_signature_over_the_file_itself_is_refused() {
        QCOMPARE(refusal(sample("signed.json"), sample("legacy.minisig")), ErrorCode::malformed);
    }
    void every_changed_letter_is_refused() {
        const std::string sound = sample("signed.json.minisig");
        const std::size_t from = sound.find('\n') + 1;  // the first comment is signed by nobody
        for (std::size_t at = from; at + 1 < sound.size(); ++at) {
            std::string changed = sound;
            changed[at] = changed[at] == 'A' ? 'B' : 'A';
            QVERIFY2(refusal(sample("signed.json"), changed) != ErrorCode::io, std::to_string(at).c_str());
        }
    }
    void a_signature_that_is_cut_short_is_none() {
        const std::string sound = sample("signed.json.minisig");
        for (std::size_t size = 0; size + 2 < sound.size(); size += 7)
            QCOMPARE(refusal(sample("signed.json"), sound.substr(0, size)), ErrorCode::malformed);
    }
    void text_that_is_no_key_is_refused() {
        for (const char* line : {"", "RWQ", "no key", "untrusted comment: minisign public key"})
            QVERIFY(!MinisignKey::parse(line).ok());
    }
};

QTEST_APPLESS_MAIN(TestMinisign)
#include "test_minisign.moc"

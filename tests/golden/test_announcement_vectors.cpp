// The layout of an announcement against vectors that were written by another program (wire/vectors.py).
#include <QFile>
#include <QTest>

#include "core/find/announcement.h"
#include "core/run/agreement/vote.h"

using namespace potluck;
using namespace potluck::find;

namespace {

/// The bytes of wire/<name>.hex, without blanks and comments.
Bytes vector_of(const char* name) {
    QFile file(QStringLiteral(POTLUCK_SOURCE_DIR "/tests/golden/wire/%1.hex").arg(QLatin1String(name)));
    if (!file.open(QIODevice::ReadOnly)) qFatal("no vector %s", name);
    QByteArray digits;
    for (const QByteArray& line : file.readAll().split('\n')) digits += line.split('#').front().trimmed();
    Bytes bytes(static_cast<std::size_t>(digits.size() / 2));
    if (!from_hex(std::string_view(digits.constData(), static_cast<std::size_t>(digits.size())), bytes))
        qFatal("vector %s is not hexadecimal", name);
    return bytes;
}

template <class Id>
Id id(int byte) {
    Id value;
    value.bytes.fill(static_cast<std::byte>(byte));
    return value;
}

Announcement of_round_0() {
    Announcement one;
    one.run = id<RunId>(0x11);
    one.host = id<PeerId>(0x05);
    one.made = 1'790'000'000'000;
    one.name = "Küche";
    one.purpose = "Writes recipes.";
    one.language = "de";
    one.licence = "CC0-1.0";
    one.model = "GPT-2 shape, 4 layers";
    one.family = "GPT-2";
    one.host_name = "Béa";
    one.parameters = 800'000;
    one.memory = 8'000'000;
    one.download = 3'500'000;
    one.rounds = 1000;
    one.baseline = 2.5F;
    one.flops = 5e6F;
    one.volunteers = 3;
    one.round_seconds = 70;
    one.hints = {{"192.0.2.7", 6881}, {"2001:db8::1", 6882}};
    one.page = "https://example.org/kueche";
    return one;
}

Announcement decided() {
    Announcement one = of_round_0();
    one.round = 8;
    one.loss = 2.25F;
    one.committee = {id<PeerId>(0x05), id<PeerId>(0x22), id<PeerId>(0xa1), id<PeerId>(0xb2)};
    one.certificate = vector_of("agreement_certificate");
    return one;
}

}  // namespace

class AnnouncementVectorsTest : public QObject {
    Q_OBJECT
private slots:
    void announcements_have_these_bytes() {
        for (const auto& [name, one] :
             {std::pair("announcement_of_round_0", of_round_0()), {"announcement", decided()}}) {
            const Bytes expected = vector_of(name);
            const auto parsed = parse_announcement(expected);
            QVERIFY2(parsed.ok(), parsed ? "" : parsed.error().message.c_str());
            QVERIFY(parsed->announcement == one);
            QVERIFY(parsed->signature[0] == std::byte{0x5a});
            Bytes written = detail::encode_and_sign(one, identity::Identity::from_seed({}));
            written.resize(written.size() - parsed->signature.size());
            QVERIFY(std::equal(written.begin(), written.end(), expected.begin(), expected.end() - 64));
        }
    }
};

QTEST_APPLESS_MAIN(AnnouncementVectorsTest)
#include "test_announcement_vectors.moc"

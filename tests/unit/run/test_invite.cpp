#include <QTest>

#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::model;

namespace {

const std::string topic = "xt=urn:btmh:1220" + samples::id<RunId>(0x11).hex();

Result<Invite> parsed(const std::string& query) { return Invite::parse("magnet:?" + topic + query); }

}  // namespace

class InviteTest : public QObject {
    Q_OBJECT
private slots:
    void an_invite_survives_its_link() {
        Invite invite = samples::invite();
        invite.name = "100% \"free\" + k=v & \xf0\x9f\x8d\xb2 #1";
        invite.hints.push_back({"seed.example.org", 1});
        const Result<Invite> result = Invite::parse(invite.to_magnet());
        QVERIFY(result.ok());
        QVERIFY(*result == invite);
        const Invite bare{.run = samples::id<RunId>(0xab), .name = {}, .hints = {}};
        QVERIFY(*Invite::parse(bare.to_magnet()) == bare);
    }

    void private_addresses_are_of_the_local_network_alone() {
        for (const char* host : {"10.0.0.1", "172.16.0.1", "172.31.255.1", "192.168.0.1", "fd00::5", "FC12:3::1"})
            QVERIFY2(is_of_local_network({host, 1}), host);
        for (const char* host : {"11.0.0.1", "172.15.0.1", "172.32.0.1", "192.169.0.1", "100.64.0.1", "8.8.8.8",
                                 "fe80::1", "fc::1", "2001:db8::1", "fd.example.org", "10.0.0.1.example.org"})
            QVERIFY2(!is_of_local_network({host, 1}), host);
    }

    void both_schemes_are_read_in_any_case_and_with_blanks_around() {
        for (const std::string scheme : {"magnet:?", "potluck:?", "MAGNET:?", "  Potluck:?"}) {
            const Result<Invite> result = Invite::parse(scheme + topic + "&dn=x\r\n");
            QVERIFY2(result.ok(), scheme.c_str());
            QCOMPARE(result->name, std::string("x"));
        }
    }

    void a_page_with_an_invite_behind_it_is_an_invite() {
        Invite invite = samples::invite();
        invite.hints.push_back({"2001:db8::1", 6882});
        const std::string link = invite.to_link("https://example.org/kitchen/#top");
        QVERIFY(link.starts_with("https://example.org/kitchen/#potluck:?xt=urn:btmh:1220"));
        QCOMPARE(link.find_first_of("[] \"<>"), std::string::npos);  // where chats end a link
        QVERIFY(*Invite::parse(link) == invite);
        QVERIFY(*Invite::parse("HTTP://x.org/#magnet:?" + topic) == *parsed(""));
        const std::string bare = invite.to_link("");
        QVERIFY(bare.starts_with("potluck:?xt="));
        QVERIFY(*Invite::parse(bare) == invite);
        for (const char* page : {"https://example.org/", "https://example.org/#", "https://", "https://x.org/?xt=1",
                                 "https://x.org/#https://x.org/#potluck:?xt=1"})
            QVERIFY2(!Invite::parse(page).ok(), page);
        // A page that leaves no room for the invite is left out.
        QVERIFY(invite.to_link("https://x.org/" + std::string(invite_bytes_max, 'p')).starts_with("potluck:?"));
    }

    void keys_that_mean_nothing_here_are_ignored() {
        const Result<Invite> result = parsed("&tr=http%3A%2F%2Fx%ZZ&ws=&&x.pe2=junk&xs&dn=a+b%2Bc&=5&so=0");
        QVERIFY(result.ok());
        QCOMPARE(result->name, std::string("a b+c"));
        QVERIFY(result->hints.empty());
    }

    void hints_of_every_form_are_read_data() {
        QTest::addColumn<QString>("hint");
        QTest::addColumn<QString>("host");
        for (const auto& [hint, host] :
             std::vector<std::pair<const char*, const char*>>{{"1.2.3.4:80", "1.2.3.4"},
                                                              {"[::1]:80", "::1"},
                                                              {"%5B::1%5D%3A80", "::1"},
                                                              {"[::]:80", "::"},
                                                              {"[1:2:3:4:5:6:7:8]:80", "1:2:3:4:5:6:7:8"},
                                                              {"[::ffff:1.2.3.4]:80", "::ffff:1.2.3.4"},
                                                              {"[fe80::1:2]:80", "fe80::1:2"},
                                                              {"[1:2:3:4:5:6:1.2.3.4]:80", "1:2:3:4:5:6:1.2.3.4"},
                                                              {"[1::]:80", "1::"},
                                                              {"localhost:80", "localhost"},
                                                              {"a-b.example.org:80", "a-b.example.org"}}) {
            QTest::addRow("%s", hint) << QString(hint) << QString(host);
        }
    }
    void hints_of_every_form_are_read() {
        QFETCH(const QString, hint);
        QFETCH(const QString, host);
        const Result<Invite> result = parsed("&x.pe=" + hint.toStdString());
        QVERIFY(result.ok());
        QCOMPARE(result->hints.size(), std::size_t{1});
        QCOMPARE(QString::fromStdString(result->hints[0].host), host);
        QCOMPARE(result->hints[0].port, std::uint16_t{80});
        QVERIFY(*Invite::parse(result->to_magnet()) == *result);
    }

    void a_hint_that_is_no_address_is_refused_data() {
        QTest::addColumn<QString>("hint");
        for (const char* hint : {"",
                                 ":80",
                                 "host",
                                 "host:",
                                 "host:0",
                                 "host:65536",
                                 "host:080",
                                 "host:+80",
                                 "host:-1",
                                 "host:99999999999",
                                 "1.2.3:80",
                                 "1.2.3.4.5:80",
                                 "1.2.3.256:80",
                                 "01.2.3.4:80",
                                 "300:80",
                                 "::1:80",
                                 "[::1:80",
                                 "[]:80",
                                 "[1:2:3:4:5:6:7]:80",
                                 "[1:2:3:4:5:6:7:8:9]:80",
                                 "[1::2::3]:80",
                                 "[:::]:80",
                                 "[1:2:3:4:5:6:7::8]:80",
                                 "[12345::]:80",
                                 "[::1%25eth0]:80",
                                 "[g::]:80",
                                 "[1.2.3.4]:80",
                                 "[1.2.3.4::]:80",
                                 "[:1]:80",
                                 "[1:]:80",
                                 "a..b:80",
                                 ".a:80",
                                 "a.:80",
                                 "-a.org:80",
                                 "a-.org:80",
                                 "a b:80",
                                 "a/b:80",
                                 "user@a:80",
                                 "a%00b:80",
                                 "a%0ab:80"}) {
            QTest::addRow("%s", hint) << QString(hint);
        }
    }
    void a_hint_that_is_no_address_is_refused() {
        QFETCH(const QString, hint);
        QVERIFY(!parsed("&x.pe=" + hint.toStdString()).ok());
    }

    void a_hostile_link_gets_one_sentence_data() {
        QTest::addColumn<QByteArray>("link");
        const QByteArray good = "magnet:?" + QByteArray::fromStdString(topic);
        const auto row = [](const char* name, const QByteArray& link) { QTest::addRow("%s", name) << link; };
        row("empty", "");
        row("blanks", " \n");
        row("other scheme", "https://example.org/?" + good.mid(8));
        row("no topic", "magnet:?dn=x");
        row("scheme only", "potluck:");
        row("v1 topic", "magnet:?xt=urn:btih:" + QByteArray(40, 'a'));
        row("two topics", good + "&" + QByteArray::fromStdString(topic));
        row("v1 beside v2", good + "&xt=urn:btih:" + QByteArray(40, 'a'));
        row("short topic", good.chopped(1));
        row("long topic", good + "0");
        row("no digits", good.chopped(1) + "g");
        row("other hash", "magnet:?xt=urn:btmh:1114" + QByteArray(40, 'a'));
        row("zero topic", "magnet:?xt=urn:btmh:1220" + QByteArray(64, '0'));
        row("cut escape", good + "&dn=a%2");
        row("bad escape", good + "&dn=%zz");
        row("bad text", good + "&dn=%ff%fe");
        row("control", good + "&dn=a%1b[2J");
        row("zero byte", good + "&dn=a%00b");
        row("two names", good + "&dn=a&dn=b");
    }
    void a_hostile_link_gets_one_sentence() {
        QFETCH(const QByteArray, link);
        const Result<Invite> result = Invite::parse({link.constData(), static_cast<std::size_t>(link.size())});
        QVERIFY(!result.ok());
        QCOMPARE(result.error().code, ErrorCode::malformed);
        QVERIFY(result.error().message.ends_with('.'));
    }

    void a_link_has_4096_characters_and_not_one_more() {
        const auto reads = [](std::size_t size) {
            const std::string start = "magnet:?" + topic + "&x=";
            const std::string link = start + std::string(size - start.size(), 'a');
            return link.size() == size && Invite::parse(link).ok();
        };
        QVERIFY(reads(invite_bytes_max));
        QVERIFY(!reads(invite_bytes_max + 1));
    }

    void a_link_has_sixteen_hints_and_not_one_more() {
        std::string hints;
        for (std::size_t i = 0; i < invite_hints_max; ++i) hints += "&x.pe=1.2.3.4:5";
        QVERIFY(parsed(hints).ok());
        QCOMPARE(parsed(hints)->hints.size(), std::size_t{16});
        QVERIFY(!parsed(hints + "&x.pe=1.2.3.4:5").ok());
    }

    void names_and_hosts_end_at_their_limits() {
        // name_characters_max counts characters, not bytes: U+00FC has two, and six in the link.
        std::string name;
        for (int i = 0; i < 80; ++i) name += "%C3%BC";
        QVERIFY(parsed("&dn=" + name).ok());
        QVERIFY(!parsed("&dn=" + name + "a").ok());
        // host_bytes_max, in labels of at most 63.
        const std::string label(63, 'a');
        const std::string three = label + "." + label + "." + label + ".";
        QVERIFY(parsed("&x.pe=" + three + std::string(61, 'a') + ":80").ok());
        QVERIFY(!parsed("&x.pe=" + three + std::string(62, 'a') + ":80").ok());
        QVERIFY(parsed("&x.pe=" + label + ":80").ok());
        QVERIFY(!parsed("&x.pe=" + label + "a:80").ok());
        QVERIFY(parsed("&x.pe=a:65535").ok());
        QVERIFY(!parsed("&x.pe=a:65536").ok());
    }

    void a_link_never_grows_beyond_what_is_read() {
        Invite invite{.run = samples::id<RunId>(0x11), .name = {}, .hints = {}};
        for (int i = 0; i < 80; ++i) invite.name += "\xf0\x9f\x8d\xb2";
        const std::string label(62, 'a');
        const std::string host = label + "." + label + "." + label + "." + label;
        invite.hints.assign(invite_hints_max, {host, 65'535});
        const std::string link = invite.to_magnet();
        QVERIFY(link.size() <= invite_bytes_max);
        const Result<Invite> result = Invite::parse(link);
        QVERIFY(result.ok());
        QCOMPARE(result->name, invite.name);
        QVERIFY(result->hints.size() >= 10);
    }
};

QTEST_APPLESS_MAIN(InviteTest)
#include "test_invite.moc"

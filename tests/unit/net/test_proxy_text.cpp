// How a proxy is written, and that what was written wrongly is not repeated.
#include <QtTest>

#include "net/proxy/proxy.h"

using namespace potluck;
using namespace potluck::net;

class TestProxyText : public QObject {
    Q_OBJECT

private slots:
    void every_form_is_read() {
        QVERIFY(parse_proxy("none").value() == Proxy{});
        QVERIFY((parse_proxy("socks5://127.0.0.1:9050").value() ==
                 Proxy{.kind = ProxyKind::socks5, .host = "127.0.0.1", .port = 9050, .username = {}, .password = {}}));
        const Proxy named = parse_proxy("http://ada:p%40ss%3aword@[2001:db8::1]:8080/").value();
        QVERIFY((named == Proxy{ProxyKind::http, "2001:db8::1", 8080, "ada", "p@ss:word"}));
        QCOMPARE(named.place(), std::string("[2001:db8::1]:8080"));
        QCOMPARE(parse_proxy("socks5://proxy.example.org:1").value().place(), std::string("proxy.example.org:1"));
        QCOMPARE(parse_proxy("socks5://ada:a@b@host:1").value().password, std::string("a@b"));
    }

    void an_invalid_proxy_is_refused_without_repeating_its_password() {
        for (const char* wrong : {"",
                                  "socks5://",
                                  "socks4://host:1",
                                  "https://host:1",
                                  "host:1",
                                  "socks5://host",
                                  "socks5://host:0",
                                  "socks5://host:65536",
                                  "socks5://host:1x",
                                  "socks5://:1",
                                  "socks5://ho st:1",
                                  "socks5://2001:db8::1:9",
                                  "http://ada@host:1",
                                  "http://ada:@host:1",
                                  "http://:secret@host:1",
                                  "http://ada:sec%4@host:1",
                                  "http://ada:sec%zzret@host:1",
                                  "http://ada:sec%20ret@host:1",
                                  "http://a%3ada:secret@host:1",
                                  "http://a%ffda:secret@host:1"}) {
            const auto read = parse_proxy(wrong);
            QVERIFY2(!read, wrong);
            QVERIFY(read.error().code == ErrorCode::invalid_argument);
            QVERIFY(read.error().message.find("sec") == std::string::npos);
        }
        const std::string text(proxy_text_bytes_max, 'x');
        QVERIFY(parse_proxy("socks5://" + text + ":" + text + "@" + text + ":1").ok());
        QVERIFY(!parse_proxy("socks5://" + text + "x:" + text + "@host:1").ok());
        QVERIFY(!parse_proxy("socks5://" + text + ":" + text + "x@host:1").ok());
        QVERIFY(!parse_proxy("socks5://" + text + "x:1").ok());
    }
};

QTEST_APPLESS_MAIN(TestProxyText)
#include "test_proxy_text.moc"

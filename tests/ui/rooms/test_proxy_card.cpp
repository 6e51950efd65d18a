// The proxy in the settings, by real clicks and keys: what is asked of the node, and what is said of its answer.
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>

#include "tests/ui/rooms/settings_fixture.h"

using namespace potluck;
using namespace potluck::tests;
using control::ProxyAnswer;
using control::ProxyKind;

namespace {

const control::ProxyState tor{ProxyKind::socks5, "127.0.0.1", 9050, "ada", ProxyAnswer::yes};

struct Settings : SettingsFixture {
    Settings() {
        node.answer(control::SetProxy::name, nlohmann::json::object());
        say({});
    }
    void say(const control::ProxyState& proxy) {
        snapshot.proxy = proxy;
        SettingsFixture::say();
    }
};

}  // namespace

class TestProxyCard : public QObject {
    Q_OBJECT

private slots:
    void a_proxy_is_typed_and_sent_once() {
        Settings page;
        QVERIFY(!page.hasShown("proxyHost") && !page.hasShown("proxyState"));
        QVERIFY(!page.button("saveProxy")->isEnabled());
        page.find<QComboBox>("proxyKind")->setCurrentIndex(1);
        QVERIFY(page.hasShown("proxyHost"));
        page.type("proxyHost", " proxy.example.org ");
        page.find<QSpinBox>("proxyPort")->setValue(9050);
        page.type("proxyName", "ada");
        page.type("proxyPassword", "lovelace");
        QCOMPARE(page.node.count("set_proxy"), 0);
        page.say({});  // news leave what is typed alone
        QCOMPARE(page.find<QLineEdit>("proxyName")->text(), QStringLiteral("ada"));
        page.button("saveProxy")->click();
        page.settle();
        QCOMPARE(page.node.count("set_proxy"), 1);
        const nlohmann::json sent = page.node.lastParams("set_proxy");
        QCOMPARE(sent, (nlohmann::json{{"kind", "socks5"},
                                       {"host", "proxy.example.org"},
                                       {"port", 9050},
                                       {"username", "ada"},
                                       {"password", "lovelace"}}));
        QVERIFY(page.find<QLineEdit>("proxyPassword")->text().isEmpty());
        QVERIFY(page.text("proxyState").contains("asked"));
        QVERIFY(!page.button("saveProxy")->isEnabled());
    }

    void a_password_that_is_not_typed_is_not_sent() {
        Settings page;
        page.say(tor);
        QCOMPARE(page.find<QComboBox>("proxyKind")->currentIndex(), 1);
        QCOMPARE(page.find<QSpinBox>("proxyPort")->value(), 9050);
        QVERIFY(page.find<QLineEdit>("proxyPassword")->text().isEmpty());
        page.find<QSpinBox>("proxyPort")->setValue(9150);
        page.button("saveProxy")->click();
        page.settle();
        QVERIFY(!page.node.lastParams("set_proxy").contains("password"));
        page.say(tor);
        page.find<QComboBox>("proxyKind")->setCurrentIndex(0);
        QVERIFY(!page.hasShown("proxyHost"));
        page.button("saveProxy")->click();
        page.settle();
        QCOMPARE(page.node.lastParams("set_proxy").at("host"), nlohmann::json(""));
    }

    void the_proxys_answer_is_shown() {
        Settings page;
        const auto says = [&](ProxyAnswer answer) {
            control::ProxyState proxy = tor;
            proxy.answer = answer;
            page.say(proxy);
            return page.text("proxyState");
        };
        QVERIFY(says(ProxyAnswer::yes).startsWith("The proxy answers"));
        QVERIFY(says(ProxyAnswer::silent).startsWith("Nothing answers there"));
        QVERIFY(says(ProxyAnswer::refuses).contains("name and password"));
        QVERIFY(says(ProxyAnswer::stranger).contains("no proxy of this kind"));
        QVERIFY(says(ProxyAnswer::unknown).contains("asked"));
    }

    void a_refusal_is_told_and_what_was_typed_stays() {
        Settings page;
        page.node.refuse("set_proxy", "Give both.");
        page.find<QComboBox>("proxyKind")->setCurrentIndex(2);
        page.type("proxyHost", "host");
        page.type("proxyName", "ada");
        page.button("saveProxy")->click();
        page.settle();
        QCOMPARE(page.text("proxyProblem"), QStringLiteral("Give both."));
        QCOMPARE(page.find<QLineEdit>("proxyName")->text(), QStringLiteral("ada"));
        QVERIFY(page.button("saveProxy")->isEnabled());
    }

    void the_button_of_a_shut_proxy_leads_to_its_settings() {
        Settings page;
        page.window->showPage(ui::MainWindow::home_page);
        page.snapshot.why.reason = status::Reason::proxy_shut;
        page.snapshot.why.detail = "127.0.0.1:9050";
        page.snapshot.activity = status::Activity::offline;
        page.say(tor);
        QVERIFY(page.text("reason").contains("127.0.0.1:9050"));
        page.click("setProxy");
        page.settle();
        QVERIFY(page.find<QComboBox>("proxyKind")->hasFocus());
    }
};

QTEST_MAIN(TestProxyCard)
#include "test_proxy_card.moc"

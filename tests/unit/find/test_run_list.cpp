// A signed list of runs: what is written is read, each field at its limit, whose signature counts and until when.
#include <QtTest>

#include <functional>

#include <nlohmann/json.hpp>

#include "core/base/check.h"
#include "core/find/list_torrent.h"
#include "core/find/run_list.h"
#include "core/identity/minisign_signer.h"
#include "tests/unit/find/announcement_samples.h"

using namespace potluck;
using namespace potluck::find;
using nlohmann::json;

namespace {

RunList sample() {
    return {.serial = 3,
            .issued = 1'000,
            .expires = 2'000,
            .title = "Kitchen models",
            .runs = {{samples::run(1), samples::key(1).id(), "Writes recipes."},
                     {samples::run(2), samples::key(1).id(), ""}}};
}

ListTorrent sample_torrent() {
    ListTorrent torrent{{.root = {}, .size = 700, .kind = run::BlobKind::open, .info_hash = {}},
                        "https://example.org/runs.json.signed"};
    torrent.file.root.bytes[3] = std::byte{7};
    torrent.file.info_hash.bytes[5] = std::byte{9};
    return torrent;
}

bool reads(const std::function<void(json&)>& change) {
    json object = json::parse(sample().to_text());
    change(object);
    return RunList::parse(object.dump()).ok();
}

}  // namespace

class TestRunList : public QObject {
    Q_OBJECT
private slots:
    void a_written_list_is_read_back() {
        const auto list = RunList::parse(sample().to_text());
        QVERIFY2(list.ok(), list ? "" : list.error().message.c_str());
        QVERIFY(*list == sample());
    }
    void fields_have_limits() {
        QVERIFY(reads([](json&) {}));
        QVERIFY(reads([](json& list) { list["title"] = std::string(120, 't'); }));
        QVERIFY(!reads([](json& list) { list["title"] = std::string(121, 't'); }));
        QVERIFY(!reads([](json& list) { list["title"] = "a\nb"; }));
        QVERIFY(reads([](json& list) { list["runs"][0]["line"] = std::string(300, 'l'); }));
        QVERIFY(!reads([](json& list) { list["runs"][0]["line"] = std::string(301, 'l'); }));
        QVERIFY(!reads([](json& list) { list["runs"][0]["line"] = "\x1b[2J"; }));
        QVERIFY(!reads([](json& list) { list["runs"][0]["host"] = "none"; }));
        QVERIFY(!reads([](json& list) { list["runs"][0]["more"] = 1; }));
        QVERIFY(!reads([](json& list) { list["runs"][1]["run"] = list["runs"][0]["run"]; }));
        QVERIFY(!reads([](json& list) { list["more"] = 1; }));
        QVERIFY(!reads([](json& list) { list["format"] = "potluck-list-2"; }));
        QVERIFY(!reads([](json& list) { list["serial"] = -1; }));
    }
    void a_link_names_its_place_and_its_key() {
        const QTemporaryDir folder;
        const auto signer = identity::MinisignSigner::open_or_create((folder.path() + "/key").toStdString());
        const ListLink link{"https://example.org/a b/runs.json?x=1&y", signer->key_line()};
        QVERIFY(!ListLink::parse(link.to_link()).ok());  // a blank is no part of a link
        const ListLink sound{"https://example.org/runs.json?x=1&y", signer->key_line()};
        const auto read = ListLink::parse(sound.to_link());
        QVERIFY2(read.ok(), read ? "" : read.error().message.c_str());
        QVERIFY(*read == sound);
        QVERIFY(sound.to_link().find(' ') == std::string::npos);
        QVERIFY(*ListLink::parse(" " + sound.source + "  " + sound.key + "\n") == sound);
        QVERIFY(*ListLink::parse("POTLUCK:LIST?" + sound.to_link().substr(13)) == sound);
    }
    void text_that_is_no_link_to_a_list_is_refused() {
        const std::string key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
        QVERIFY(ListLink::parse("https://x.org/l " + key).ok());
        const std::vector<std::string> texts = {
            "",
            "https://x.org/l",
            "https://x.org/l RWno",
            "file:///etc/passwd " + key,
            "/etc/passwd " + key,
            "potluck:list?key=" + key,
            "potluck:list?from=https://x.org/l",
            "potluck:list?from=%zz&key=" + key,
            "potluck:list?=&&=&",
            "potluck:?from=https://x.org/l&key=" + key,
            "https://x.org/" + std::string(list_link_bytes_max, 'l') + " " + key,
            "potluck:list?x=" + std::string(list_link_bytes_max, 'l') + "&from=https://x.org/l&key=" + key};
        for (const std::string& text : texts) QVERIFY2(!ListLink::parse(text).ok(), text.c_str());
    }
    void a_link_may_name_a_torrent() {
        const std::string key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
        const ListTorrent torrent = sample_torrent();
        const ListLink link{torrent.to_magnet(), key};
        const auto read = ListLink::parse(link.to_link());
        QVERIFY2(read.ok(), read ? "" : read.error().message.c_str());
        QVERIFY(*read == link);
        const auto magnet = ListTorrent::parse(read->source);
        QVERIFY(magnet && magnet->file == torrent.file && magnet->web_seed == torrent.web_seed);
        QVERIFY(ListLink::parse("MAGNET:" + link.source.substr(7) + "&dn=Kitchen " + key).ok());
        QVERIFY(ListTorrent::parse("magnet:?xt=urn:btih:00&" + link.source.substr(8)).ok());  // a v1 topic besides
    }
    void a_magnet_that_names_no_list_is_refused() {
        const std::string sound = sample_torrent().to_magnet();
        const auto changed = [&](const std::string& from, const std::string& to) {
            std::string text = sound;
            const std::size_t at = text.find(from);
            POTLUCK_CHECK(at != std::string::npos);
            return text.replace(at, from.size(), to);
        };
        const std::string hash = sample_torrent().file.info_hash.hex();
        QVERIFY(ListTorrent::parse(sound).ok());
        const std::string max = std::to_string(signed_list_bytes_max);
        QVERIFY(ListTorrent::parse(changed("&xl=700", "&xl=" + max)).ok());
        const std::vector<std::string> texts = {
            changed("&xl=700", "&xl=" + std::to_string(signed_list_bytes_max + 1)),
            changed("&xl=700", "&xl=0"),
            changed("&xl=700", "&xl=7a"),
            changed("&xl=700", "&xl="),
            changed("&xl=700", ""),
            changed("&xl=700", "&xl=700&xl=700"),
            changed("xt=urn:btmh:1220" + hash, "xt=urn:btmh:1220"),
            changed("xt=urn:btmh:1220" + hash, "dn=none"),
            changed("xt=urn:btmh:1220" + hash, "xt=urn:btmh:1220" + std::string(64, '0')),
            sound + "&xt=urn:btmh:1220" + hash,
            changed("&x.root=", "&x.other="),
            sound + "&x.root=" + std::string(64, '1'),
            changed("&ws=https", "&ws=ftp"),
            changed("&ws=https", "&ws=%zz"),
            sound + "&ws=https%3A%2F%2Fx.org%2Fl",
            sound + "&dn=" + std::string(list_magnet_bytes_max, 'n'),
            "https://example.org/runs.json"};
        for (const std::string& text : texts) QVERIFY2(!ListTorrent::parse(text).ok(), text.c_str());
        const std::string key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
        QVERIFY(!ListLink::parse(changed("&xl=700", "") + " " + key).ok());
    }
    void a_signed_list_is_list_and_signature_in_one_file() {
        const SignedList whole{"a signature\n", "a list\n"};
        const auto read = SignedList::parse(whole.to_file());
        QVERIFY(read && read->signature == whole.signature && read->text == whole.text);
        const std::string signature(identity::minisign_bytes_max, 's'), list(list_bytes_max, 'l');
        QVERIFY(SignedList::parse(SignedList{signature, list}.to_file()).ok());
        QVERIFY((SignedList{signature, list}.to_file().size() <= signed_list_bytes_max));
        for (const std::string& file :
             {std::string(), std::string("potluck-signed-list 1 "), std::string("potluck-signed-list 1 3\nab"),
              std::string("potluck-signed-list 2 1\nab"), std::string("potluck-signed-list 1 -1\nab"),
              "potluck-signed-list 1 " + std::string(400, '1') + "\nab", SignedList{signature + "s", "l"}.to_file(),
              SignedList{"s", list + "l"}.to_file()})
            QVERIFY2(!SignedList::parse(file).ok(), file.substr(0, 60).c_str());
    }
    void it_names_256_runs_at_most() {
        RunList list = sample();
        for (std::uint64_t number = 3; number <= 256; ++number)
            QVERIFY(list.add({samples::run(number), samples::key(1).id(), "One."}).ok());
        QVERIFY(RunList::parse(list.to_text()).ok());
        QVERIFY(!list.add({samples::run(257), samples::key(1).id(), "One."}).ok());
        QVERIFY(list.add({samples::run(256), samples::key(2).id(), "Another line."}).ok());
        list.runs.push_back({samples::run(257), samples::key(1).id(), "One."});
        QVERIFY(!RunList::parse(list.to_text()).ok());
    }
    void runs_are_added_replaced_and_removed() {
        RunList list = sample();
        QVERIFY(list.add({samples::run(1), samples::key(2).id(), "New."}).ok());
        QCOMPARE(list.runs.size(), std::size_t{2});
        QCOMPARE(list.runs[0].line, std::string("New."));
        QVERIFY(!list.add({samples::run(1), samples::key(2).id(), "two\nlines"}).ok());
        QVERIFY(!list.add({samples::run(1), samples::key(2).id(), std::string(301, 'l')}).ok());
        QVERIFY(list.remove(samples::run(1)).ok());
        QCOMPARE(list.remove(samples::run(1)).error().code, ErrorCode::not_found);
    }
    void only_its_key_counts_and_only_for_a_time() {
        QTemporaryDir folder;
        const auto signer = identity::MinisignSigner::open_or_create(folder.filePath("a").toStdString());
        const auto other = identity::MinisignSigner::open_or_create(folder.filePath("b").toStdString());
        QVERIFY(signer.ok() && other.ok());
        const std::string text = sample().to_text();
        const std::string signature = signer->sign(as_bytes(text), "a list");
        const auto accepted = [&](const identity::MinisignKey& key, const std::string& what, release::Known known) {
            return accept_list(key, as_bytes(what), signature, known);
        };
        QVERIFY(accepted(signer->key(), text, {.serial = 3, .now = 1'999}).ok());
        QCOMPARE(accepted(other->key(), text, {}).error().code, ErrorCode::untrusted);
        QCOMPARE(accepted(signer->key(), text + " ", {}).error().code, ErrorCode::untrusted);
        QVERIFY(accepted(signer->key(), text, {.serial = 4, .now = 1'500}).error().message.find("older") !=
                std::string::npos);
        QVERIFY(accepted(signer->key(), text, {.serial = 3, .now = 2'000}).error().message.find("expired") !=
                std::string::npos);
    }
    void the_first_list_of_two_says_the_line() {
        Trust trust;
        add_to(trust, sample());
        RunList second = sample();
        second.runs[0].line = "Other words.";
        add_to(trust, second);
        QCOMPARE(trust.listed.size(), std::size_t{2});
        QCOMPARE(trust.listed.at({samples::run(1), samples::key(1).id()}), std::string("Writes recipes."));
    }
};

QTEST_APPLESS_MAIN(TestRunList)
#include "test_run_list.moc"

// What a host says of its run: each field at its limit and beyond, its age, its signature, and the proof of its round.
#include <QtTest>

#include <functional>
#include <limits>

#include "tests/unit/find/announcement_samples.h"

using namespace potluck;
using namespace potluck::find;
using run::Verdict;

namespace {

const identity::Identity& host() {
    static const identity::Identity one = samples::key(1);
    return one;
}

using Change = std::function<void(Announcement&)>;

/// The bytes of a sound announcement with one field changed; signed whether or not it may be written.
Bytes changed(const Change& change) {
    Announcement one = samples::decided(host(), 7, 4, 3);
    change(one);
    return detail::encode_and_sign(one, host());
}

bool reads(const Change& change) { return parse_announcement(changed(change)).ok(); }

void set_largest(Announcement& one) {
    one.name = std::string(run::run_name_characters_max, 'n');
    one.purpose.assign(purpose_bytes_max, 'p');
    one.language.assign(language_bytes_max, 'l');
    one.licence.assign(run::licence_bytes_max, 'L');
    one.model.assign(model_bytes_max, 'm');
    one.family.assign(family_bytes_max, 'f');
    one.host_name.assign(host_name_bytes_max, 'h');
    one.page = "https://" + std::string(page_bytes_max - 8, 'w');
    one.hints.assign(hints_max, {std::string(hint_host_bytes_max - 2, 'h') + ".x", 65'535});
}

}  // namespace

class TestAnnouncement : public QObject {
    Q_OBJECT
private slots:
    void a_signed_announcement_is_read_back() {
        for (const std::uint64_t round : {std::uint64_t{0}, std::uint64_t{7}}) {
            const Announcement one = round == 0 ? samples::fresh(host()) : samples::decided(host(), round, 7, 5);
            const Bytes bytes = sign(one, host());
            const auto parsed = parse_announcement(bytes);
            QVERIFY2(parsed.ok(), parsed ? "" : parsed.error().message.c_str());
            QVERIFY(parsed->announcement == one);
            QCOMPARE(samples::verdict_of(bytes), Verdict::accepted);
        }
    }
    void the_largest_announcement_fits() {
        Announcement one = samples::decided(host(), 7, 7, 5);
        set_largest(one);
        one.name = "ü";
        for (std::size_t i = 1; i < run::run_name_characters_max; ++i) one.name += "ü";
        QCOMPARE(one.name.size(), name_bytes_max);
        const Bytes bytes = sign(one, host());
        QCOMPARE(bytes.size(), std::size_t{2044});
        QVERIFY(bytes.size() <= announcement_bytes_max);
        QCOMPARE(samples::verdict_of(bytes), Verdict::accepted);
    }
    void fields_at_their_limits_are_read_data() {
        QTest::addColumn<int>("field");
        for (int field = 0; field < 18; ++field) QTest::addRow("%d", field) << field;
    }
    void fields_at_their_limits_are_read() {
        QFETCH(int, field);
        const std::vector<std::pair<Change, Change>> edges = {
            {[](auto& one) { one.name = std::string(80, 'n'); }, [](auto& one) { one.name = std::string(81, 'n'); }},
            {[](auto& one) { one.name = "n"; }, [](auto& one) { one.name.clear(); }},
            {[](auto& one) { one.purpose.assign(250, 'p'); }, [](auto& one) { one.purpose.assign(251, 'p'); }},
            {[](auto& one) { one.language.assign(35, 'l'); }, [](auto& one) { one.language.assign(36, 'l'); }},
            {[](auto& one) { one.licence.assign(120, 'L'); }, [](auto& one) { one.licence.assign(121, 'L'); }},
            {[](auto& one) { one.model.assign(120, 'm'); }, [](auto& one) { one.model.assign(121, 'm'); }},
            {[](auto& one) { one.page = "https://" + std::string(152, 'w'); },
             [](auto& one) { one.page = "https://" + std::string(153, 'w'); }},
            {[](auto& one) {
                 one.hints.assign(4, {"192.0.2.7", 1});
             },
             [](auto& one) {
                 one.hints.assign(5, {"192.0.2.7", 1});
             }},
            {[](auto& one) {
                 one.hints = {{std::string(62, 'h') + ".x", 1}};
             },
             [](auto& one) {
                 one.hints = {{std::string(63, 'h') + ".x", 1}};
             }},
            {[](auto& one) { one.rounds = run::round_max; }, [](auto& one) { one.rounds = run::round_max + 1; }},
            {[](auto& one) { one.rounds = 7; }, [](auto& one) { one.rounds = 6; }},
            {[](auto& one) { one.memory = 1ULL << 50U; }, [](auto& one) { one.memory = (1ULL << 50U) + 1; }},
            {[](auto& one) { one.volunteers = 1U << 24U; }, [](auto& one) { one.volunteers = (1U << 24U) + 1; }},
            {[](auto& one) { one.family.assign(16, 'f'); }, [](auto& one) { one.family.assign(17, 'f'); }},
            {[](auto& one) { one.host_name.assign(64, 'h'); }, [](auto& one) { one.host_name.assign(65, 'h'); }},
            {[](auto& one) { one.round_seconds = 1U << 24U; }, [](auto& one) { one.round_seconds = (1U << 24U) + 1; }},
            {[](auto& one) { one.flops = flops_max; }, [](auto& one) { one.flops = 2 * flops_max; }},
            {[](auto& one) { one.made = 1LL << 48U; }, [](auto& one) { one.made = (1LL << 48U) + 1; }},
        };
        QVERIFY(reads(edges.at(static_cast<std::size_t>(field)).first));
        QVERIFY(!reads(edges.at(static_cast<std::size_t>(field)).second));
    }
    void senseless_fields_are_refused() {
        const float none = std::numeric_limits<float>::quiet_NaN();
        QVERIFY(!reads([](auto& one) { one.run = {}; }));
        QVERIFY(!reads([](auto& one) { one.made = 0; }));
        QVERIFY(!reads([](auto& one) { one.name = "a\nb"; }));
        QVERIFY(!reads([](auto& one) { one.purpose = "a\x1b[2J"; }));
        QVERIFY(!reads([](auto& one) { one.model = "\xe2\x80\xae"; }));
        QVERIFY(!reads([](auto& one) { one.language = "d e"; }));
        QVERIFY(!reads([](auto& one) { one.family = "a\nb"; }));
        QVERIFY(!reads([](auto& one) { one.host_name = "a\x1b[2J"; }));
        QVERIFY(!reads([](auto& one) { one.licence = "<b>"; }));
        QVERIFY(!reads([](auto& one) { one.page = "javascript:alert(1)"; }));
        QVERIFY(!reads([](auto& one) { one.page = "https://x/\"onload=y"; }));
        QVERIFY(!reads([none](auto& one) { one.loss = none; }));
        QVERIFY(!reads([](auto& one) { one.baseline = -1; }));
        QVERIFY(!reads([none](auto& one) { one.flops = none; }));
        QVERIFY(!reads([](auto& one) { one.flops = -1; }));
        QVERIFY(!reads([](auto& one) { one.hints = {{"no host", 1}}; }));
        QVERIFY(!reads([](auto& one) { one.hints = {{"192.0.2.7", 0}}; }));
        QVERIFY(!reads([](auto& one) { std::swap(one.committee[0], one.committee[1]); }));
        QVERIFY(!reads([](auto& one) { one.committee[0] = one.committee[1]; }));
        QVERIFY(!reads([](auto& one) { one.committee.resize(8, one.committee.back()); }));
    }
    void bytes_left_over_or_missing_are_refused() {
        Bytes bytes = sign(samples::fresh(host()), host());
        bytes.push_back(std::byte{0});
        QVERIFY(!parse_announcement(bytes).ok());
        bytes.resize(bytes.size() - 2);
        QVERIFY(!parse_announcement(bytes).ok());
        QVERIFY(!parse_announcement({}).ok());
    }
    void another_layout_is_refused() {
        Bytes bytes = sign(samples::fresh(host()), host());
        bytes[0] = std::byte{1};
        QVERIFY(!parse_announcement(bytes).ok());
    }
    void one_byte_more_than_two_kilobytes_is_refused() {
        Bytes bytes(announcement_bytes_max + 1);
        QVERIFY(parse_announcement(bytes).error().message.find("2,048") != std::string::npos);
    }
    void an_hour_later_it_is_stale() {
        const Bytes bytes = sign(samples::fresh(host()), host());
        QCOMPARE(samples::verdict_of(bytes, samples::now + 3'599'999), Verdict::accepted);
        QCOMPARE(samples::verdict_of(bytes, samples::now + 3'600'000), Verdict::stale);
    }
    void five_minutes_ahead_are_a_wrong_clock_and_more_is_absurd() {
        const Bytes bytes = sign(samples::fresh(host()), host());
        QCOMPARE(samples::verdict_of(bytes, samples::now - 300'000), Verdict::accepted);
        QCOMPARE(samples::verdict_of(bytes, samples::now - 300'001), Verdict::absurd);
    }
    void every_byte_is_signed() {
        const Bytes bytes = sign(samples::decided(host(), 7, 1, 1), host());
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            Bytes forged = bytes;
            forged[at] ^= std::byte{1};
            QVERIFY2(samples::verdict_of(forged) != Verdict::accepted, qPrintable(QString::number(at)));
        }
    }
    void another_hosts_signature_is_refused() {
        Announcement one = samples::fresh(host());
        QCOMPARE(samples::verdict_of(detail::encode_and_sign(one, samples::key(2))), Verdict::bad_signature);
    }
    void a_round_needs_a_quorum_of_its_committee() {
        const auto verdict = [](std::size_t size, std::size_t signers) {
            return samples::verdict_of(sign(samples::decided(host(), 7, size, signers), host()));
        };
        QCOMPARE(verdict(1, 1), Verdict::accepted);
        QCOMPARE(verdict(4, 3), Verdict::accepted);
        QCOMPARE(verdict(4, 2), Verdict::wrong_author);
        QCOMPARE(verdict(7, 5), Verdict::accepted);
        QCOMPARE(verdict(7, 4), Verdict::wrong_author);
    }
    void a_round_is_that_of_its_certificate() {
        const auto verdict = [](const Change& change) { return samples::verdict_of(changed(change)); };
        QCOMPARE(verdict([](auto&) {}), Verdict::accepted);
        QCOMPARE(verdict([](auto& one) { one.round = 8; }), Verdict::wrong_author);
        QCOMPARE(verdict([](auto& one) { one.round = 6; }), Verdict::wrong_author);
        QCOMPARE(verdict([](auto& one) { one.run = samples::run(2); }), Verdict::wrong_author);
        const samples::Seats seats(4);
        QCOMPARE(verdict([&](auto& one) {
                     one.certificate = run::encode(seats.certificate(one.run, 6, 3, run::Step::prevote));
                 }),
                 Verdict::wrong_author);
        QCOMPARE(verdict([](auto& one) { one.certificate = {std::byte{3}}; }), Verdict::wrong_author);
        QCOMPARE(verdict([](auto& one) { one.committee = {host().id()}; }), Verdict::wrong_author);
    }
    void a_round_without_proof_is_malformed() {
        QVERIFY(!reads([](auto& one) { one.certificate.clear(); }));
        QVERIFY(!reads([](auto& one) { one.committee.clear(); }));
        QVERIFY(!reads([](auto& one) { one.round = 0; }));
    }
    void an_invite_follows_from_it() {
        const run::Invite invite = samples::fresh(host()).invite();
        const auto read = run::Invite::parse(invite.to_magnet());
        QVERIFY(read.ok());
        QVERIFY(read->run == samples::run(1));
        QCOMPARE(read->hints.size(), std::size_t{2});
    }
    void half_of_the_hints_at_most_are_of_the_local_network() {
        const std::vector<run::PeerHint> all = {{"192.168.1.1", 1},
                                                {"192.168.1.2", 1},
                                                {"192.168.1.3", 1},
                                                {"192.0.2.1", 1},
                                                {"192.0.2.2", 1},
                                                {"192.0.2.3", 1},
                                                {std::string(61, 'h') + ".com", 1}};
        const auto chosen = hints_for_announcement(all);
        QVERIFY((chosen == std::vector<run::PeerHint>{
                               {"192.0.2.1", 1}, {"192.0.2.2", 1}, {"192.168.1.1", 1}, {"192.168.1.2", 1}}));
        QCOMPARE(hints_for_announcement({all[0], all[1], all[2]}).size(), std::size_t{2});
    }
};

QTEST_APPLESS_MAIN(TestAnnouncement)
#include "test_announcement.moc"

// Keys, signatures, the key file and the recovery words.
#include <QtTest>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include <sys/stat.h>

#include "core/base/rng.h"
#include "core/identity/identity.h"
#include "core/identity/recovery_words.h"

using namespace potluck;
using namespace potluck::identity;
namespace fs = std::filesystem;

namespace {

std::array<std::byte, 32> seed_number(std::uint64_t number) {
    Rng rng(number);
    std::array<std::byte, 32> seed{};
    for (std::byte& byte : seed) byte = static_cast<std::byte>(rng.below(256));
    return seed;
}

std::string content_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write_private(const fs::path& file, const std::string& content) {
    std::ofstream(file, std::ios::binary) << content;
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
}

mode_t mode_of(const fs::path& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 ? facts.st_mode & 0777U : 0;
}

std::vector<std::string> split(const std::string& words) {
    std::istringstream in(words);
    return {std::istream_iterator<std::string>(in), {}};
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
}

bool mentions(const std::string& message, std::string_view text) { return message.find(text) != std::string::npos; }

}  // namespace

class TestIdentity : public QObject {
    Q_OBJECT
private slots:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }

    void the_public_key_is_that_of_rfc_8032();
    void generated_people_differ();
    void a_signature_fits_its_bytes_domain_and_signer_only();
    void a_signature_with_any_flipped_bit_fails();
    void domain_and_bytes_cannot_trade_letters();
    void a_degenerate_key_verifies_nothing();

    void the_first_opening_makes_a_private_file_in_a_private_folder();
    void the_second_opening_gives_the_same_person();
    void a_lax_umask_opens_no_window();
    void every_damage_is_refused_and_left_alone();
    void a_cut_or_grown_file_is_refused();
    void a_file_others_can_read_is_refused_with_the_cure();
    void a_path_to_no_regular_file_is_refused();
    void saving_an_identity_never_overwrites_a_file();
    void a_copy_imports_as_the_same_person();
    void a_missing_import_is_not_found_and_not_made();
    void processes_that_start_at_once_share_one_person();

    void words_are_distinct_in_four_letters();
    void words_bring_the_person_back();
    void case_and_whitespace_do_not_matter();
    void any_single_wrong_letter_is_found_in_its_word();
    void the_wrong_word_is_named();
    void swapped_words_are_noticed();
    void a_wrong_number_of_words_is_said();
    void hostile_words_come_back_printable_and_short();

private:
    [[nodiscard]] fs::path at(const char* name) const { return fs::path(m_dir->path().toStdString()) / name; }
    std::unique_ptr<QTemporaryDir> m_dir;
};

void TestIdentity::the_public_key_is_that_of_rfc_8032() {
    std::array<std::byte, 32> seed{};
    QVERIFY(from_hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", seed));
    QCOMPARE(Identity::from_seed(seed).id().hex(),
             std::string("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"));
}

void TestIdentity::generated_people_differ() {
    std::set<PeerId> people;
    for (int i = 0; i < 100; ++i) people.insert(Identity::generate().id());
    QCOMPARE(people.size(), std::size_t{100});
}

void TestIdentity::a_signature_fits_its_bytes_domain_and_signer_only() {
    const Identity alice = Identity::from_seed(seed_number(1));
    const Identity bob = Identity::from_seed(seed_number(2));
    const Signature signature = alice.sign("potluck/test/1", as_bytes("bread"));
    QVERIFY(verify(alice.id(), "potluck/test/1", as_bytes("bread"), signature));
    QVERIFY(!verify(alice.id(), "potluck/test/1", as_bytes("breed"), signature));
    QVERIFY(!verify(alice.id(), "potluck/test/1", as_bytes("brea"), signature));
    QVERIFY(!verify(alice.id(), "potluck/test/2", as_bytes("bread"), signature));
    QVERIFY(!verify(bob.id(), "potluck/test/1", as_bytes("bread"), signature));
    QVERIFY(verify(alice.id(), "d", {}, alice.sign("d", {})));
}

void TestIdentity::a_signature_with_any_flipped_bit_fails() {
    const Identity alice = Identity::from_seed(seed_number(3));
    const Signature signature = alice.sign("d", as_bytes("soup"));
    for (std::size_t bit = 0; bit < signature.size() * 8; ++bit) {
        Signature wrong = signature;
        wrong[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
        QVERIFY(!verify(alice.id(), "d", as_bytes("soup"), wrong));
    }
}

void TestIdentity::domain_and_bytes_cannot_trade_letters() {
    const Identity alice = Identity::from_seed(seed_number(4));
    QVERIFY(!verify(alice.id(), "a", as_bytes("bc"), alice.sign("ab", as_bytes("c"))));
}

void TestIdentity::a_degenerate_key_verifies_nothing() {
    // With the neutral point as key and S = 0, a lax verifier takes (R = neutral, S = 0) for any message.
    PeerId neutral;
    neutral.bytes[0] = std::byte{1};
    Signature signature{};
    signature[0] = std::byte{1};
    QVERIFY(!verify(neutral, "d", as_bytes("anything"), signature));
    QVERIFY(!verify(PeerId{}, "d", as_bytes("anything"), Signature{}));
}

void TestIdentity::the_first_opening_makes_a_private_file_in_a_private_folder() {
    QVERIFY(Identity::open_or_create(at("a/b/identity")).ok());
    QCOMPARE(mode_of(at("a/b/identity")), mode_t{0600});
    QCOMPARE(mode_of(at("a")), mode_t{0700});
    QCOMPARE(mode_of(at("a/b")), mode_t{0700});
    QCOMPARE(std::distance(fs::directory_iterator(at("a/b")), {}), 1);  // no temporary file stays
}

void TestIdentity::the_second_opening_gives_the_same_person() {
    const Result<Identity> first = Identity::open_or_create(at("identity"));
    const std::string content = content_of(at("identity"));
    const Result<Identity> second = Identity::open_or_create(at("identity"));
    QVERIFY(first.ok() && second.ok());
    QCOMPARE(first->id().hex(), second->id().hex());
    QCOMPARE(content_of(at("identity")), content);
    QVERIFY(content.starts_with("potluck identity 1\nseed "));
}

void TestIdentity::a_lax_umask_opens_no_window() {
    const mode_t before = ::umask(0);
    const bool made = Identity::open_or_create(at("lax/identity")).ok();
    ::umask(before);
    QVERIFY(made);
    QCOMPARE(mode_of(at("lax/identity")), mode_t{0600});
    QCOMPARE(mode_of(at("lax")), mode_t{0700});
}

void TestIdentity::every_damage_is_refused_and_left_alone() {
    QVERIFY(Identity::open_or_create(at("identity")).ok());
    const std::string good = content_of(at("identity"));
    for (std::size_t i = 0; i < good.size(); ++i) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ 1);
        write_private(at("damaged"), bad);
        const Result<Identity> opened = Identity::open_or_create(at("damaged"));
        QVERIFY2(!opened.ok(), bad.c_str());
        QCOMPARE(opened.error().code, ErrorCode::malformed);
        QCOMPARE(content_of(at("damaged")), bad);
    }
}

void TestIdentity::a_cut_or_grown_file_is_refused() {
    QVERIFY(Identity::open_or_create(at("identity")).ok());
    const std::string good = content_of(at("identity"));
    for (std::size_t size = 0; size < good.size(); ++size) {
        write_private(at("cut"), good.substr(0, size));
        QVERIFY(!Identity::open_or_create(at("cut")).ok());
        QCOMPARE(fs::file_size(at("cut")), size);
    }
    write_private(at("grown"), good + "\n");
    QVERIFY(!Identity::open_or_create(at("grown")).ok());
    write_private(at("huge"), good);
    fs::resize_file(at("huge"), std::uintmax_t{1} << 36U);  // sparse; reading it whole would not end well
    QCOMPARE(Identity::import_file(at("huge")).error().code, ErrorCode::malformed);
}

void TestIdentity::a_file_others_can_read_is_refused_with_the_cure() {
    QVERIFY(Identity::open_or_create(at("identity")).ok());
    for (const mode_t mode : {0640, 0604, 0620, 0601, 0777}) {
        QCOMPARE(::chmod(at("identity").c_str(), mode), 0);
        const Result<Identity> opened = Identity::open_or_create(at("identity"));
        QVERIFY(!opened.ok());
        QCOMPARE(opened.error().code, ErrorCode::permission);
        QVERIFY(mentions(opened.error().message, "chmod 600 '" + at("identity").string()));
    }
    QCOMPARE(::chmod(at("identity").c_str(), 0600), 0);
    QVERIFY(Identity::open_or_create(at("identity")).ok());
}

void TestIdentity::a_path_to_no_regular_file_is_refused() {
    QVERIFY(fs::create_directory(at("folder")));
    QVERIFY(!Identity::open_or_create(at("folder")).ok());
    QCOMPARE(::mkfifo(at("pipe").c_str(), 0600), 0);
    QVERIFY(!Identity::open_or_create(at("pipe")).ok());  // and does not wait for a writer
    write_private(at("file"), "x");
    QVERIFY(!Identity::open_or_create(at("file/below")).ok());
}

void TestIdentity::saving_an_identity_never_overwrites_a_file() {
    write_private(at("taken"), "something dear");
    const Status saved = Identity::from_seed(seed_number(5)).save(at("taken"));
    QVERIFY(!saved.ok());
    QCOMPARE(saved.error().code, ErrorCode::already_exists);
    QCOMPARE(content_of(at("taken")), std::string("something dear"));
    fs::create_symlink(at("nowhere"), at("dangling"));
    QVERIFY(!Identity::from_seed(seed_number(5)).save(at("dangling")).ok());
    QVERIFY(!fs::exists(at("nowhere")));
}

void TestIdentity::a_copy_imports_as_the_same_person() {
    const Identity alice = Identity::from_seed(seed_number(6));
    QVERIFY(alice.save(at("copy")).ok());
    QCOMPARE(mode_of(at("copy")), mode_t{0600});
    const Result<Identity> imported = Identity::import_file(at("copy"));
    QVERIFY(imported.ok());
    QCOMPARE(imported->id().hex(), alice.id().hex());
    QVERIFY(verify(alice.id(), "d", as_bytes("x"), imported->sign("d", as_bytes("x"))));
    QCOMPARE(::chmod(at("copy").c_str(), 0644), 0);  // as on a stick, or after a download
    QCOMPARE(Identity::import_file(at("copy"))->id().hex(), alice.id().hex());
    QCOMPARE(Identity::open(at("copy")).error().code, ErrorCode::permission);
}

void TestIdentity::a_missing_import_is_not_found_and_not_made() {
    QCOMPARE(Identity::import_file(at("none")).error().code, ErrorCode::not_found);
    QCOMPARE(Identity::open(at("none")).error().code, ErrorCode::not_found);
    QVERIFY(!fs::exists(at("none")));
    QCOMPARE(Identity::from_seed(seed_number(7)).save(at("no/folder")).error().code, ErrorCode::not_found);
}

void TestIdentity::processes_that_start_at_once_share_one_person() {
    for (int turn = 0; turn < 20; ++turn) {
        const fs::path file = at("race") / std::to_string(turn) / "identity";
        std::array<std::string, 4> ids;
        std::vector<std::thread> starters;
        for (std::string& id : ids) {
            starters.emplace_back([&] {
                const Result<Identity> opened = Identity::open_or_create(file);
                id = opened.ok() ? opened->id().hex() : opened.error().message;
            });
        }
        for (std::thread& starter : starters) starter.join();
        for (const std::string& id : ids) QCOMPARE(id, ids[0]);
        QCOMPARE(Identity::import_file(file)->id().hex(), ids[0]);
    }
}

void TestIdentity::words_are_distinct_in_four_letters() {
    std::set<std::string> beginnings;
    for (unsigned index = 0; index < recovery_word_kinds; ++index) {
        const std::string word = recovery_word(index);
        QCOMPARE(word.size(), std::size_t{5});
        QVERIFY(std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; }));
        QVERIFY(recovery_index(word) == index);
        beginnings.insert(word.substr(0, 4));
    }
    QCOMPARE(beginnings.size(), std::size_t{recovery_word_kinds});
}

void TestIdentity::words_bring_the_person_back() {
    for (std::uint64_t number = 0; number < 200; ++number) {
        const Identity person = Identity::from_seed(seed_number(number));
        const std::string words = person.recovery_words();
        QCOMPARE(split(words).size(), std::size_t{24});
        const Result<Identity> again = Identity::from_recovery_words(words);
        QVERIFY(again.ok());
        QCOMPARE(again->id().hex(), person.id().hex());
        QCOMPARE(again->recovery_words(), words);
    }
}

void TestIdentity::case_and_whitespace_do_not_matter() {
    const Identity person = Identity::from_seed(seed_number(8));
    std::string text = " \t\r\n";
    for (const std::string& word : split(person.recovery_words())) {
        text += static_cast<char>(word[0] - 'a' + 'A') + word.substr(1) + "\r\n\t ";
    }
    const Result<Identity> again = Identity::from_recovery_words(text);
    QVERIFY(again.ok());
    QCOMPARE(again->id().hex(), person.id().hex());
}

void TestIdentity::any_single_wrong_letter_is_found_in_its_word() {
    for (unsigned index = 0; index < recovery_word_kinds; ++index) {
        const std::string word = recovery_word(index);
        for (std::size_t letter = 0; letter < word.size(); ++letter) {
            for (char c = 'a'; c <= 'z'; ++c) {
                std::string wrong = word;
                wrong[letter] = c;
                if (c != word[letter]) QVERIFY2(!recovery_index(wrong), wrong.c_str());
            }
        }
    }
}

void TestIdentity::the_wrong_word_is_named() {
    std::vector<std::string> words = split(Identity::from_seed(seed_number(9)).recovery_words());
    for (const std::size_t at_word : {0U, 11U, 23U}) {
        std::vector<std::string> wrong = words;
        wrong[at_word] = "kitchen";
        const Result<Identity> opened = Identity::from_recovery_words(joined(wrong));
        QCOMPARE(opened.error().code, ErrorCode::malformed);
        QVERIFY(mentions(opened.error().message, "Word " + std::to_string(at_word + 1) + ", \"kitchen\""));
    }
}

void TestIdentity::swapped_words_are_noticed() {
    // Eight bits of checksum: of many swaps, about one in 256 passes.
    int passed = 0;
    int tried = 0;
    for (std::uint64_t number = 0; number < 100; ++number) {
        std::vector<std::string> words = split(Identity::from_seed(seed_number(number)).recovery_words());
        for (std::size_t i = 1; i < words.size(); ++i) {
            std::vector<std::string> swapped = words;
            std::swap(swapped[0], swapped[i]);
            if (swapped == words) continue;
            ++tried;
            if (Identity::from_recovery_words(joined(swapped)).ok()) ++passed;
        }
    }
    QVERIFY(tried > 2000);
    QVERIFY2(passed < tried / 100, qPrintable(QString("%1 of %2").arg(passed).arg(tried)));
}

void TestIdentity::a_wrong_number_of_words_is_said() {
    std::vector<std::string> words = split(Identity::from_seed(seed_number(10)).recovery_words());
    QVERIFY(mentions(Identity::from_recovery_words("").error().message, "but 0 were given"));
    words.pop_back();
    QVERIFY(mentions(Identity::from_recovery_words(joined(words)).error().message, "but 23 were given"));
    words.insert(words.end(), 2, words[0]);
    QVERIFY(mentions(Identity::from_recovery_words(joined(words)).error().message, "but more were given"));
}

void TestIdentity::hostile_words_come_back_printable_and_short() {
    const std::string message = Identity::from_recovery_words("\x1b[2J" + std::string(500, 'x')).error().message;
    QVERIFY(message.size() < 200);
    QVERIFY(std::none_of(message.begin(), message.end(), [](char c) { return c < ' ' || c == '\x7f'; }));
    QVERIFY(!Identity::from_recovery_words(std::string(1U << 20U, 'x')).ok());
}

QTEST_APPLESS_MAIN(TestIdentity)
#include "test_identity.moc"

// The secure channel: who gets in, who does not, and that one wrong byte ends it. The attacker who stands in the
// middle is real: it knows libsodium and the layouts, and does everything short of forging a signature.
#include <QtTest>

#include <algorithm>
#include <array>
#include <optional>

#include <QFile>

#include <sodium.h>

#include "core/base/rng.h"
#include "net/links/secure_channel.h"

using namespace potluck;
using namespace potluck::net;
using identity::Identity;
using identity::Signature;
using identity::verify;
using State = SecureChannel::State;

namespace {

Identity person(std::uint8_t number) {
    std::array<std::byte, 32> seed{};
    seed.fill(std::byte{number});
    return Identity::from_seed(seed);
}

Bytes bytes_of(std::string_view text) {
    const ByteSpan span = as_bytes(text);
    return {span.begin(), span.end()};
}

/// Two people and the two ends of a session between them. Stays where it is: the ends refer to the people.
struct Pair {
    Pair() = default;
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;

    Identity alice = person(1);
    Identity bob = person(2);
    SecureChannel a{alice, as_bytes("run 1")};
    SecureChannel b{bob, as_bytes("run 1")};

    void exchange() {
        const Bytes proof_a = a.receive(b.hello()).reply.value();
        const Bytes proof_b = b.receive(a.hello()).reply.value();
        static_cast<void>(a.receive(proof_b));
        static_cast<void>(b.receive(proof_a));
    }
};

bool arrives(SecureChannel& from, SecureChannel& to, const Bytes& message) {
    const SecureChannel::Received received = to.receive(from.seal(message));
    return !received.reply && received.message == message;
}

unsigned char* raw(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }
const unsigned char* raw(const std::byte* bytes) { return reinterpret_cast<const unsigned char*>(bytes); }

/// One end of a session spoken by hand, without a person behind it.
struct Attacker {
    std::array<std::byte, 32> secret{};
    std::array<std::byte, 32> key{};
    std::array<std::byte, 32> send_key{};
    std::array<std::byte, 32> receive_key{};

    Attacker() { crypto_box_keypair(raw(key.data()), raw(secret.data())); }

    [[nodiscard]] Bytes hello() const {
        ByteWriter frame;
        frame.u8(1);
        frame.raw(key);
        return frame.take();
    }

    void meet(const Bytes& their_hello, std::string_view context) {
        std::array<std::byte, 32> their_key{};
        std::copy_n(their_hello.begin() + 1, 32, their_key.begin());
        std::array<std::byte, 32> shared{};
        QCOMPARE(crypto_scalarmult(raw(shared.data()), raw(secret.data()), raw(their_key.data())), 0);
        ByteWriter text;
        text.raw(as_bytes("potluck/channel-keys/1"));
        text.raw(shared);
        text.raw(std::min(key, their_key));
        text.raw(std::max(key, their_key));
        text.raw(as_bytes(context));
        std::array<std::byte, 64> keys{};
        crypto_generichash(raw(keys.data()), keys.size(), raw(text.bytes().data()), text.bytes().size(), nullptr, 0);
        std::copy_n(keys.begin() + (key < their_key ? 0 : 32), 32, send_key.begin());
        std::copy_n(keys.begin() + (key < their_key ? 32 : 0), 32, receive_key.begin());
    }

    /// The content of the other side's proof.
    [[nodiscard]] Bytes open_proof(const Bytes& frame) const {
        crypto_secretstream_xchacha20poly1305_state state;
        Bytes content(96);
        crypto_secretstream_xchacha20poly1305_init_pull(&state, raw(frame.data()), raw(receive_key.data()));
        const bool opened =
            crypto_secretstream_xchacha20poly1305_pull(&state, raw(content.data()), nullptr, nullptr,
                                                       raw(frame.data() + 24), frame.size() - 24, nullptr, 0) == 0;
        return opened ? content : Bytes();
    }

    /// What an honest end of his would prove: that `who` made the key in hello().
    [[nodiscard]] Bytes proof_of(const Identity& who, const Bytes& their_hello, std::string_view context) const {
        std::array<std::byte, 32> their_key{};
        std::copy_n(their_hello.begin() + 1, 32, their_key.begin());
        ByteWriter text;
        text.u64(context.size());
        text.raw(as_bytes(context));
        text.raw(std::min(key, their_key));
        text.raw(std::max(key, their_key));
        text.u8(key < their_key ? 0 : 1);
        ByteWriter proof;
        proof.raw(who.id().bytes);
        proof.raw(who.sign("potluck/channel/1", text.bytes()));
        return proof.take();
    }

    /// A proof frame of any content; `stream` goes on from it.
    [[nodiscard]] Bytes seal_proof(const Bytes& content, unsigned char tag = 0) {
        Bytes frame(24 + content.size() + 17);
        crypto_secretstream_xchacha20poly1305_init_push(&stream, raw(frame.data()), raw(send_key.data()));
        crypto_secretstream_xchacha20poly1305_push(&stream, raw(frame.data() + 24), nullptr, raw(content.data()),
                                                   content.size(), nullptr, 0, tag);
        return frame;
    }
    crypto_secretstream_xchacha20poly1305_state stream{};
};

/// Field `number` of wire/<name>.hex: one line is one field there, whatever its comment says.
Bytes field_of(const char* name, int number) {
    QFile file(QStringLiteral(POTLUCK_SOURCE_DIR "/tests/golden/wire/%1.hex").arg(QLatin1String(name)));
    if (!file.open(QIODevice::ReadOnly)) qFatal("no vector %s", name);
    const QByteArray digits = file.readAll().split('\n')[number].split('#').front().trimmed();
    const QByteArray bytes = QByteArray::fromHex(digits);
    return bytes_of({bytes.constData(), static_cast<std::size_t>(bytes.size())});
}

/// While it lives libsodium draws these bytes over and over.
class Drawn {
public:
    explicit Drawn(const Bytes& bytes) {
        s_bytes = bytes;
        static randombytes_implementation fixed{};
        fixed.implementation_name = [] { return "fixed"; };
        fixed.random = [] { return std::uint32_t{4}; };
        fixed.buf = [](void* out, std::size_t size) {
            for (std::size_t i = 0; i < size; ++i) static_cast<std::byte*>(out)[i] = s_bytes[i % s_bytes.size()];
        };
        randombytes_set_implementation(&fixed);
    }
    Drawn(const Drawn&) = delete;
    Drawn& operator=(const Drawn&) = delete;
    ~Drawn() { randombytes_set_implementation(&randombytes_sysrandom_implementation); }

private:
    inline static Bytes s_bytes;
};

Bytes flipped(Bytes frame, std::size_t bit) {
    frame[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    return frame;
}

}  // namespace

class TestSecureChannel : public QObject {
    Q_OBJECT
private slots:
    void both_sides_learn_who_the_other_is();
    void the_handshake_is_that_of_the_vectors();
    void the_hello_stays_the_same();
    void messages_of_every_size_arrive_in_both_directions();
    void the_key_changes_with_every_4096th_message();
    void messages_pass_changes_of_key_in_both_directions();
    void frames_show_nothing_of_the_message();
    void talking_to_oneself_is_told_by_the_id();
    void a_moved_channel_goes_on();

    void a_reflected_hello_breaks();
    void reflected_proofs_and_messages_break();
    void another_context_breaks();
    void a_second_hello_breaks();
    void another_version_breaks();
    void keys_of_small_order_break();
    void any_flipped_bit_in_the_hello_ends_without_a_peer();
    void any_flipped_bit_in_the_proof_breaks();
    void any_flipped_bit_in_a_message_breaks();
    void cut_and_grown_frames_break();
    void a_repeated_message_breaks();
    void swapped_messages_break();
    void a_left_out_message_breaks();
    void a_message_of_another_session_breaks();
    void a_frame_of_the_longest_message_passes_and_one_byte_more_breaks();
    void a_message_before_the_proof_breaks();
    void a_broken_channel_stays_broken_and_silent();

    void a_stranger_in_the_middle_is_seen_as_himself();
    void an_attacker_who_knows_the_layout_gets_in_as_himself_only();
    void a_proof_carried_over_from_another_session_breaks();
    void tags_that_are_never_sent_break();
};

void TestSecureChannel::both_sides_learn_who_the_other_is() {
    Pair pair;
    QVERIFY(pair.a.state() == State::handshaking);
    QVERIFY(!pair.a.peer());
    pair.exchange();
    QVERIFY(pair.a.state() == State::open && pair.b.state() == State::open);
    QVERIFY(pair.a.peer() == pair.bob.id());
    QVERIFY(pair.b.peer() == pair.alice.id());
}

/// Keys and proof text as docs/wire-format.md has them, with the secrets that the vectors name.
void TestSecureChannel::the_handshake_is_that_of_the_vectors() {
    const Bytes run = field_of("channel_proof", 1);
    for (const int side : {0, 1}) {
        const Identity alice = person(1);
        const Bytes own_key = field_of("channel_keys", 2 + side), peer_key = field_of("channel_keys", 3 - side);
        std::optional<SecureChannel> channel;
        {
            const Drawn secret(field_of("channel_keys", side));
            channel.emplace(alice, run);
        }
        Bytes own_hello{std::byte{1}}, peer_hello{std::byte{1}};
        own_hello.insert(own_hello.end(), own_key.begin(), own_key.end());
        peer_hello.insert(peer_hello.end(), peer_key.begin(), peer_key.end());
        QCOMPARE(channel->hello(), own_hello);
        const Bytes frame = channel->receive(peer_hello).reply.value();

        Attacker reader;
        const Bytes stream_key = field_of("channel_keys", 5 + side);
        std::copy(stream_key.begin(), stream_key.end(), reader.receive_key.begin());
        const Bytes proof = reader.open_proof(frame);
        QCOMPARE(proof.size(), std::size_t{96});
        QVERIFY(std::equal(alice.id().bytes.begin(), alice.id().bytes.end(), proof.begin()));
        Bytes text;
        for (const int field : {0, 1, 2, 3}) {
            const Bytes part = field_of("channel_proof", field);
            text.insert(text.end(), part.begin(), part.end());
        }
        text.push_back(static_cast<std::byte>(side));
        Signature signature{};
        std::copy(proof.begin() + 32, proof.end(), signature.begin());
        QVERIFY(verify(alice.id(), "potluck/channel/1", text, signature));
    }
}

void TestSecureChannel::the_hello_stays_the_same() {
    Pair pair;
    const Bytes hello = pair.a.hello();
    QCOMPARE(hello.size(), std::size_t{33});
    QVERIFY(hello == pair.a.hello());
    pair.exchange();
    QVERIFY(hello == pair.a.hello());
    QVERIFY(hello != pair.b.hello());
}

void TestSecureChannel::messages_of_every_size_arrive_in_both_directions() {
    Pair pair;
    pair.exchange();
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, channel_message_bytes_max}) {
        const Bytes message(size, std::byte{7});
        QVERIFY(arrives(pair.a, pair.b, message));
        QVERIFY(arrives(pair.b, pair.a, message));
    }
    QCOMPARE(pair.a.seal(Bytes(100)).size(), 100 + channel_overhead_bytes);
}

void TestSecureChannel::the_key_changes_with_every_4096th_message() {
    // Read by hand, where the tag that changes the key can be seen. The proof is the first message under a key.
    const Identity alice = person(1);
    const Identity mallory = person(66);
    SecureChannel sender(alice, as_bytes("run 1"));
    Attacker hand;
    hand.meet(sender.hello(), "run 1");
    const Bytes proof = sender.receive(hand.hello()).reply.value();
    static_cast<void>(sender.receive(hand.seal_proof(hand.proof_of(mallory, sender.hello(), "run 1"))));
    QVERIFY(sender.state() == State::open);

    crypto_secretstream_xchacha20poly1305_state stream;
    crypto_secretstream_xchacha20poly1305_init_pull(&stream, raw(proof.data()), raw(hand.receive_key.data()));
    Bytes opened(proof.size() - 24 - channel_overhead_bytes);
    std::vector<int> changes;
    for (int count = 1; count <= 3 * 4096; ++count) {
        const Bytes frame = count == 1 ? Bytes(proof.begin() + 24, proof.end()) : sender.seal(bytes_of("m"));
        unsigned char tag = 0;
        QCOMPARE(crypto_secretstream_xchacha20poly1305_pull(&stream, raw(opened.data()), nullptr, &tag,
                                                            raw(frame.data()), frame.size(), nullptr, 0),
                 0);
        if (tag == crypto_secretstream_xchacha20poly1305_TAG_REKEY) {
            changes.push_back(count);
        } else {
            QCOMPARE(int{tag}, int{crypto_secretstream_xchacha20poly1305_TAG_MESSAGE});
        }
    }
    QCOMPARE(changes, (std::vector<int>{4096, 2 * 4096, 3 * 4096}));
}

void TestSecureChannel::messages_pass_changes_of_key_in_both_directions() {
    Pair pair;
    pair.exchange();
    for (int i = 0; i < 9000; ++i) QVERIFY(arrives(pair.a, pair.b, bytes_of(std::to_string(i))));
    for (int i = 0; i < 5000; ++i) QVERIFY(arrives(pair.b, pair.a, bytes_of(std::to_string(i))));
}

void TestSecureChannel::frames_show_nothing_of_the_message() {
    Pair pair;
    pair.exchange();
    const Bytes message(64, std::byte{'m'});
    const Bytes first = pair.a.seal(message);
    const Bytes second = pair.a.seal(message);
    QVERIFY(first != second);
    QVERIFY(std::search(first.begin(), first.end(), message.begin(), message.begin() + 4) == first.end());
}

void TestSecureChannel::talking_to_oneself_is_told_by_the_id() {
    const Identity alice = person(1);
    SecureChannel a(alice, {});
    SecureChannel b(alice, {});
    const Bytes proof_a = a.receive(b.hello()).reply.value();
    const Bytes proof_b = b.receive(a.hello()).reply.value();
    static_cast<void>(a.receive(proof_b));
    static_cast<void>(b.receive(proof_a));
    QVERIFY(a.peer() == alice.id() && b.peer() == alice.id());
}

void TestSecureChannel::a_moved_channel_goes_on() {
    Pair pair;
    pair.exchange();
    SecureChannel moved = std::move(pair.a);
    QVERIFY(arrives(moved, pair.b, bytes_of("x")));
}

void TestSecureChannel::a_reflected_hello_breaks() {
    Pair pair;
    QVERIFY(!pair.a.receive(pair.a.hello()).reply);
    QVERIFY(pair.a.state() == State::broken);
}

void TestSecureChannel::reflected_proofs_and_messages_break() {
    Pair pair;
    const Bytes proof = pair.a.receive(pair.b.hello()).reply.value();
    static_cast<void>(pair.a.receive(proof));
    QVERIFY(pair.a.state() == State::broken);
    Pair open;
    open.exchange();
    QVERIFY(!open.a.receive(open.a.seal(bytes_of("x"))).message);
    QVERIFY(open.a.state() == State::broken);
}

void TestSecureChannel::another_context_breaks() {
    const Identity alice = person(1);
    const Identity bob = person(2);
    SecureChannel a(alice, as_bytes("run 1"));
    SecureChannel b(bob, as_bytes("run 2"));
    const Bytes proof_a = a.receive(b.hello()).reply.value();
    const Bytes proof_b = b.receive(a.hello()).reply.value();
    static_cast<void>(a.receive(proof_b));
    static_cast<void>(b.receive(proof_a));
    QVERIFY(a.state() == State::broken && b.state() == State::broken);
    QVERIFY(!a.peer() && !b.peer());
}

void TestSecureChannel::a_second_hello_breaks() {
    Pair pair;
    QVERIFY(pair.a.receive(pair.b.hello()).reply);
    QVERIFY(!pair.a.receive(pair.b.hello()).reply);
    QVERIFY(pair.a.state() == State::broken);
}

void TestSecureChannel::another_version_breaks() {
    Pair pair;
    Bytes hello = pair.b.hello();
    hello[0] = std::byte{2};
    QVERIFY(!pair.a.receive(hello).reply);
    QVERIFY(pair.a.state() == State::broken);
}

void TestSecureChannel::keys_of_small_order_break() {
    for (const unsigned low : {0U, 1U}) {
        Pair pair;
        Bytes hello(33);
        hello[0] = std::byte{1};
        hello[1] = static_cast<std::byte>(low);
        QVERIFY(!pair.a.receive(hello).reply);
        QVERIFY(pair.a.state() == State::broken);
    }
}

void TestSecureChannel::any_flipped_bit_in_the_hello_ends_without_a_peer() {
    for (std::size_t bit = 0; bit < 33 * 8; ++bit) {
        Pair pair;
        const std::optional<Bytes> proof_a = pair.a.receive(flipped(pair.b.hello(), bit)).reply;
        const Bytes proof_b = pair.b.receive(pair.a.hello()).reply.value();
        static_cast<void>(pair.a.receive(proof_b));
        if (proof_a) static_cast<void>(pair.b.receive(*proof_a));
        QVERIFY(!pair.a.peer());
        QVERIFY(!pair.b.peer());
    }
}

void TestSecureChannel::any_flipped_bit_in_the_proof_breaks() {
    for (std::size_t bit = 0; bit < 137 * 8; ++bit) {
        Pair pair;
        static_cast<void>(pair.a.receive(pair.b.hello()));
        const Bytes proof = pair.b.receive(pair.a.hello()).reply.value();
        QCOMPARE(proof.size(), std::size_t{137});
        static_cast<void>(pair.a.receive(flipped(proof, bit)));
        QVERIFY(pair.a.state() == State::broken);
    }
}

void TestSecureChannel::any_flipped_bit_in_a_message_breaks() {
    const std::size_t size = 20;
    for (std::size_t bit = 0; bit < (size + channel_overhead_bytes) * 8; ++bit) {
        Pair pair;
        pair.exchange();
        QVERIFY(!pair.b.receive(flipped(pair.a.seal(Bytes(size)), bit)).message);
        QVERIFY(pair.b.state() == State::broken);
    }
}

void TestSecureChannel::cut_and_grown_frames_break() {
    for (std::size_t size = 0; size <= 33 + 1; ++size) {
        Pair pair;
        Bytes hello = pair.b.hello();
        if (size == hello.size()) continue;
        hello.resize(size);
        QVERIFY(!pair.a.receive(hello).reply);
        QVERIFY(pair.a.state() == State::broken);
    }
    for (std::size_t size = 0; size <= 137 + 1; ++size) {
        Pair pair;
        static_cast<void>(pair.a.receive(pair.b.hello()));
        Bytes proof = pair.b.receive(pair.a.hello()).reply.value();
        if (size == proof.size()) continue;
        proof.resize(size);
        static_cast<void>(pair.a.receive(proof));
        QVERIFY(pair.a.state() == State::broken);
    }
    for (std::size_t size = 0; size <= 27 + 1; ++size) {
        Pair pair;
        pair.exchange();
        Bytes frame = pair.a.seal(Bytes(10));
        if (size == frame.size()) continue;
        frame.resize(size);
        QVERIFY(!pair.b.receive(frame).message);
        QVERIFY(pair.b.state() == State::broken);
    }
}

void TestSecureChannel::a_repeated_message_breaks() {
    Pair pair;
    pair.exchange();
    const Bytes frame = pair.a.seal(bytes_of("pay"));
    QVERIFY(pair.b.receive(frame).message);
    QVERIFY(!pair.b.receive(frame).message);
    QVERIFY(pair.b.state() == State::broken);
}

void TestSecureChannel::swapped_messages_break() {
    Pair pair;
    pair.exchange();
    const Bytes first = pair.a.seal(bytes_of("1"));
    const Bytes second = pair.a.seal(bytes_of("2"));
    QVERIFY(!pair.b.receive(second).message);
    QVERIFY(!pair.b.receive(first).message);
    QVERIFY(pair.b.state() == State::broken);
}

void TestSecureChannel::a_left_out_message_breaks() {
    Pair pair;
    pair.exchange();
    QVERIFY(arrives(pair.a, pair.b, bytes_of("1")));
    static_cast<void>(pair.a.seal(bytes_of("2")));
    QVERIFY(!pair.b.receive(pair.a.seal(bytes_of("3"))).message);
    QVERIFY(pair.b.state() == State::broken);
}

void TestSecureChannel::a_message_of_another_session_breaks() {
    Pair first;
    first.exchange();
    Pair second;
    second.exchange();
    QVERIFY(!second.b.receive(first.a.seal(bytes_of("x"))).message);
    QVERIFY(second.b.state() == State::broken);
}

void TestSecureChannel::a_frame_of_the_longest_message_passes_and_one_byte_more_breaks() {
    // Both are sealed by the rules, by a member who has the keys: only the length tells them apart.
    const Identity alice = person(1);
    const Identity mallory = person(66);
    SecureChannel victim(alice, as_bytes("run 1"));
    Attacker hand;
    hand.meet(victim.hello(), "run 1");
    static_cast<void>(victim.receive(hand.hello()));
    static_cast<void>(victim.receive(hand.seal_proof(hand.proof_of(mallory, victim.hello(), "run 1"))));
    const auto sealed = [&](std::size_t size) {
        const Bytes message(size, std::byte{3});
        Bytes frame(size + channel_overhead_bytes);
        crypto_secretstream_xchacha20poly1305_push(&hand.stream, raw(frame.data()), nullptr, raw(message.data()),
                                                   message.size(), nullptr, 0, 0);
        return frame;
    };
    const auto longest = victim.receive(sealed(channel_message_bytes_max)).message;
    QVERIFY(longest && longest->size() == channel_message_bytes_max);
    QVERIFY(!victim.receive(sealed(channel_message_bytes_max + 1)).message);
    QVERIFY(victim.state() == State::broken);
}

void TestSecureChannel::a_message_before_the_proof_breaks() {
    Pair pair;
    static_cast<void>(pair.b.receive(pair.a.hello()));
    const Bytes proof_a = pair.a.receive(pair.b.hello()).reply.value();
    static_cast<void>(proof_a);
    static_cast<void>(pair.b.receive(Bytes(40)));
    QVERIFY(pair.b.state() == State::broken);
    static_cast<void>(pair.b.receive(proof_a));
    QVERIFY(!pair.b.peer());
}

void TestSecureChannel::a_broken_channel_stays_broken_and_silent() {
    Pair pair;
    pair.exchange();
    const Bytes good = pair.a.seal(bytes_of("good"));
    static_cast<void>(pair.b.receive(Bytes(30)));
    for (const Bytes& frame : {good, pair.a.hello(), Bytes()}) {
        const SecureChannel::Received received = pair.b.receive(frame);
        QVERIFY(!received.reply && !received.message);
        QVERIFY(pair.b.state() == State::broken);
    }
    QVERIFY(!pair.b.peer());
}

void TestSecureChannel::a_stranger_in_the_middle_is_seen_as_himself() {
    Pair pair;
    const Identity mallory = person(66);
    SecureChannel to_alice(mallory, as_bytes("run 1"));
    const Bytes proof_alice = pair.a.receive(to_alice.hello()).reply.value();
    const Bytes proof_mallory = to_alice.receive(pair.a.hello()).reply.value();
    static_cast<void>(to_alice.receive(proof_alice));
    static_cast<void>(pair.a.receive(proof_mallory));
    QVERIFY(pair.a.peer() == mallory.id());
}

void TestSecureChannel::an_attacker_who_knows_the_layout_gets_in_as_himself_only() {
    // Swaps both ephemeral keys for his own, so that he reads everything, and hands each proof on.
    Pair pair;
    Attacker to_alice;
    Attacker to_bob;
    to_alice.meet(pair.a.hello(), "run 1");
    to_bob.meet(pair.b.hello(), "run 1");
    const Bytes proof_alice = pair.a.receive(to_alice.hello()).reply.value();
    const Bytes proof_bob = pair.b.receive(to_bob.hello()).reply.value();
    const Bytes content_alice = to_alice.open_proof(proof_alice);
    const Bytes content_bob = to_bob.open_proof(proof_bob);
    QCOMPARE(content_alice.size(), std::size_t{96});  // he really has the session keys
    QVERIFY(std::equal(content_alice.begin(), content_alice.begin() + 32, pair.alice.id().bytes.begin()));
    static_cast<void>(pair.a.receive(to_alice.seal_proof(content_bob)));
    static_cast<void>(pair.b.receive(to_bob.seal_proof(content_alice)));
    QVERIFY(pair.a.state() == State::broken && pair.b.state() == State::broken);

    // The same tools with a signature of his own do open a session: what failed above was the signature alone.
    const Identity mallory = person(66);
    SecureChannel victim(pair.alice, as_bytes("run 1"));
    Attacker hand;
    hand.meet(victim.hello(), "run 1");
    static_cast<void>(victim.receive(hand.hello()));
    static_cast<void>(victim.receive(hand.seal_proof(hand.proof_of(mallory, victim.hello(), "run 1"))));
    QVERIFY(victim.peer() == mallory.id());
}

void TestSecureChannel::a_proof_carried_over_from_another_session_breaks() {
    // He once talked to Bob, kept the proof, and now shows it to Alice as his own.
    const Identity bob = person(2);
    SecureChannel old(bob, as_bytes("run 1"));
    Attacker then;
    then.meet(old.hello(), "run 1");
    const Bytes kept = then.open_proof(old.receive(then.hello()).reply.value());
    Pair pair;
    Attacker now;
    now.meet(pair.a.hello(), "run 1");
    static_cast<void>(pair.a.receive(now.hello()));
    static_cast<void>(pair.a.receive(now.seal_proof(kept)));
    QVERIFY(pair.a.state() == State::broken);
    // Nor does Alice's own proof, sent back to her under his key, pass for his.
    Pair other;
    Attacker mirror;
    mirror.meet(other.a.hello(), "run 1");
    const Bytes own = mirror.open_proof(other.a.receive(mirror.hello()).reply.value());
    QCOMPARE(own.size(), std::size_t{96});
    static_cast<void>(other.a.receive(mirror.seal_proof(own)));
    QVERIFY(other.a.state() == State::broken);
}

void TestSecureChannel::tags_that_are_never_sent_break() {
    for (const int tag :
         {crypto_secretstream_xchacha20poly1305_TAG_PUSH, crypto_secretstream_xchacha20poly1305_TAG_FINAL}) {
        const Identity alice = person(1);
        const Identity mallory = person(66);
        SecureChannel victim(alice, {});
        Attacker hand;
        hand.meet(victim.hello(), "");
        static_cast<void>(victim.receive(hand.hello()));
        const Bytes proof = hand.proof_of(mallory, victim.hello(), "");
        static_cast<void>(victim.receive(hand.seal_proof(proof, static_cast<unsigned char>(tag))));
        QVERIFY(victim.state() == State::broken);
    }
}

QTEST_APPLESS_MAIN(TestSecureChannel)
#include "test_secure_channel.moc"

// Layouts. hello: version u8, ephemeral key 32. proof: secretstream header 24, sealed (PeerId 32, signature 64).
//
// Keys: BLAKE2b-512 over (tag, X25519 secret, low key, high key, context); the first half seals what side 0 sends, the
// second what side 1 sends. So a frame sent back to its sender never opens, and peers with different contexts cannot
// read each other even before the signatures are looked at.
//
// Who talks to whom is hidden from those who only listen: names and signatures travel sealed. The ephemeral secret is
// wiped once the keys are derived, and each key when its stream begins, so a long-term key that leaks later opens no
// recorded session. secretstream counts its messages: one that is lost, repeated or out of order breaks the session.
#include "net/links/secure_channel.h"

#include <algorithm>
#include <array>

#include <sodium.h>

#include "core/base/check.h"
#include "core/identity/secret.h"

namespace potluck::net {

namespace {

using identity::Identity;
using identity::raw;
using identity::Signature;
using identity::start_sodium;
using identity::verify;
using identity::wipe;

using Key = std::array<std::byte, 32>;

constexpr std::uint8_t version = 1;
constexpr std::string_view key_tag = "potluck/channel-keys/1";
constexpr std::string_view proof_domain = "potluck/channel/1";
constexpr std::size_t hello_bytes = 1 + 32;
constexpr std::size_t overhead = crypto_secretstream_xchacha20poly1305_ABYTES;
constexpr std::size_t header_bytes = crypto_secretstream_xchacha20poly1305_HEADERBYTES;
constexpr std::size_t proof_bytes = 32 + 64;
/// Messages sealed with one stream key, so that a key which leaks opens no more than these.
constexpr std::uint32_t messages_per_key = 4096;

static_assert(overhead == channel_overhead_bytes);
static_assert(crypto_scalarmult_BYTES == 32 && crypto_secretstream_xchacha20poly1305_KEYBYTES == 32);

/// One direction of the session. Wipes itself.
struct Stream {
    crypto_secretstream_xchacha20poly1305_state state{};
    Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { clear(); }
    void clear() { sodium_memzero(&state, sizeof state); }
};

void update(crypto_generichash_state& hash, ByteSpan bytes) {
    crypto_generichash_update(&hash, raw(bytes.data()), bytes.size());
}

}  // namespace

struct SecureChannel::Session {
    enum class Stage { hello, proof, open, broken };

    Session(const Identity& own, ByteSpan bound) : identity(&own), context(bound.begin(), bound.end()) {
        start_sodium();
        crypto_box_keypair(raw(own_key.data()), raw(own_secret.data()));
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() { forget(); }

    void forget() {
        wipe(own_secret);
        wipe(receive_key);
        sending.clear();
        receiving.clear();
    }
    void end() {
        forget();
        stage = Stage::broken;
    }

    [[nodiscard]] std::uint8_t own_side() const { return own_key < peer_key ? 0 : 1; }
    [[nodiscard]] Bytes proof_text(std::uint8_t side) const;
    [[nodiscard]] bool derive(Key& send_key);
    [[nodiscard]] std::optional<Bytes> take_hello(ByteSpan frame);
    [[nodiscard]] bool take_proof(ByteSpan frame);
    [[nodiscard]] Bytes push(ByteSpan message);
    [[nodiscard]] std::optional<Bytes> pull(ByteSpan sealed);

    const Identity* identity;
    Bytes context;
    Key own_key{};
    Key own_secret{};
    Key peer_key{};
    Key receive_key{};  // until the proof of the other side brings its stream's header
    Stream sending;
    Stream receiving;
    std::uint32_t sent_with_key = 0;
    PeerId peer;
    Stage stage = Stage::hello;
};

/// What a side signs: context (length first), both ephemeral keys in side order, its side.
Bytes SecureChannel::Session::proof_text(std::uint8_t side) const {
    ByteWriter text;
    text.u64(context.size());
    text.raw(context);
    text.raw(std::min(own_key, peer_key));
    text.raw(std::max(own_key, peer_key));
    text.u8(side);
    return text.take();
}

/// Makes `send_key` and `receive_key`. False for a key of small order, whose secret anybody could guess.
bool SecureChannel::Session::derive(Key& send_key) {
    Key secret{};
    if (crypto_scalarmult(raw(secret.data()), raw(own_secret.data()), raw(peer_key.data())) != 0) return false;
    std::array<std::byte, 64> keys{};
    crypto_generichash_state hash;
    crypto_generichash_init(&hash, nullptr, 0, keys.size());
    update(hash, as_bytes(key_tag));
    update(hash, secret);
    update(hash, std::min(own_key, peer_key));
    update(hash, std::max(own_key, peer_key));
    update(hash, context);
    crypto_generichash_final(&hash, raw(keys.data()), keys.size());
    sodium_memzero(&hash, sizeof hash);
    wipe(secret);
    std::copy_n(keys.begin() + (own_side() == 0 ? 0 : 32), 32, send_key.begin());
    std::copy_n(keys.begin() + (own_side() == 0 ? 32 : 0), 32, receive_key.begin());
    wipe(keys);
    return true;
}

/// Returns our proof; nothing if the hello does not fit.
std::optional<Bytes> SecureChannel::Session::take_hello(ByteSpan frame) {
    if (frame.size() != hello_bytes || frame[0] != std::byte{version}) return std::nullopt;
    std::copy_n(frame.begin() + 1, 32, peer_key.begin());
    if (peer_key == own_key) return std::nullopt;  // our own hello, sent back
    Key send_key{};
    if (!derive(send_key)) return std::nullopt;
    wipe(own_secret);

    Bytes reply(header_bytes);
    crypto_secretstream_xchacha20poly1305_init_push(&sending.state, raw(reply.data()), raw(send_key.data()));
    wipe(send_key);

    ByteWriter proof;
    proof.raw(identity->id().bytes);
    proof.raw(identity->sign(proof_domain, proof_text(own_side())));
    const Bytes sealed = push(proof.bytes());
    reply.insert(reply.end(), sealed.begin(), sealed.end());
    return reply;
}

bool SecureChannel::Session::take_proof(ByteSpan frame) {
    if (frame.size() != header_bytes + proof_bytes + overhead) return false;
    const int started =
        crypto_secretstream_xchacha20poly1305_init_pull(&receiving.state, raw(frame.data()), raw(receive_key.data()));
    wipe(receive_key);
    if (started != 0) return false;
    const std::optional<Bytes> proof = pull(frame.subspan(header_bytes));
    if (!proof) return false;
    ByteReader reader(*proof);
    PeerId claimed;
    Signature signature{};
    reader.array(claimed.bytes);
    reader.array(signature);
    const auto side = static_cast<std::uint8_t>(1 - own_side());
    if (!reader.finished() || !verify(claimed, proof_domain, proof_text(side), signature)) return false;
    peer = claimed;
    return true;
}

Bytes SecureChannel::Session::push(ByteSpan message) {
    POTLUCK_CHECK(message.size() <= channel_message_bytes_max);
    const bool last_with_key = ++sent_with_key == messages_per_key;
    if (last_with_key) sent_with_key = 0;
    const unsigned char tag = last_with_key ? crypto_secretstream_xchacha20poly1305_TAG_REKEY
                                            : crypto_secretstream_xchacha20poly1305_TAG_MESSAGE;
    Bytes sealed(message.size() + overhead);
    crypto_secretstream_xchacha20poly1305_push(&sending.state, raw(sealed.data()), nullptr, raw(message.data()),
                                               message.size(), nullptr, 0, tag);
    return sealed;
}

std::optional<Bytes> SecureChannel::Session::pull(ByteSpan sealed) {
    if (sealed.size() < overhead || sealed.size() - overhead > channel_message_bytes_max) return std::nullopt;
    Bytes message(sealed.size() - overhead);
    unsigned char tag = 0;
    if (crypto_secretstream_xchacha20poly1305_pull(&receiving.state, raw(message.data()), nullptr, &tag,
                                                   raw(sealed.data()), sealed.size(), nullptr, 0) != 0) {
        return std::nullopt;
    }
    // libsodium has changed the key itself if the tag says so. The other tags are never sent.
    const bool known = tag == crypto_secretstream_xchacha20poly1305_TAG_MESSAGE ||
                       tag == crypto_secretstream_xchacha20poly1305_TAG_REKEY;
    if (!known) return std::nullopt;
    return message;
}

SecureChannel::SecureChannel(const Identity& identity, ByteSpan context)
    : m_session(std::make_unique<Session>(identity, context)) {}
SecureChannel::~SecureChannel() = default;
SecureChannel::SecureChannel(SecureChannel&&) noexcept = default;
SecureChannel& SecureChannel::operator=(SecureChannel&&) noexcept = default;

Bytes SecureChannel::hello() const {
    m_owner.check();
    ByteWriter frame;
    frame.u8(version);
    frame.raw(m_session->own_key);
    return frame.take();
}

SecureChannel::State SecureChannel::state() const {
    m_owner.check();
    switch (m_session->stage) {
        case Session::Stage::open: return State::open;
        case Session::Stage::broken: return State::broken;
        default: return State::handshaking;
    }
}

std::optional<PeerId> SecureChannel::peer() const {
    m_owner.check();
    if (m_session->stage != Session::Stage::open) return std::nullopt;
    return m_session->peer;
}

SecureChannel::Received SecureChannel::receive(ByteSpan frame) {
    m_owner.check();
    Received received;
    Session& session = *m_session;
    bool fits = false;
    switch (session.stage) {
        case Session::Stage::hello:
            received.reply = session.take_hello(frame);
            fits = received.reply.has_value();
            if (fits) session.stage = Session::Stage::proof;
            break;
        case Session::Stage::proof:
            fits = session.take_proof(frame);
            if (fits) session.stage = Session::Stage::open;
            break;
        case Session::Stage::open:
            received.message = session.pull(frame);
            fits = received.message.has_value();
            break;
        case Session::Stage::broken: break;
    }
    if (!fits) session.end();
    return received;
}

Bytes SecureChannel::seal(ByteSpan message) {
    m_owner.check();
    POTLUCK_CHECK(m_session->stage == Session::Stage::open);
    return m_session->push(message);
}

}  // namespace potluck::net

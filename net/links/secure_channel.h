// A session between two peers: signed X25519 handshake, then authenticated encryption (XChaCha20-Poly1305, libsodium
// secretstream) of every message in each direction.
//
//   A -> B   hello:   version, ephemeral key a
//   A <- B   hello:   version, ephemeral key b                 (both sides send at once; no client, no server)
//   A -> B   proof:   PeerId, signature over (context, a, b, own role byte), encrypted under the session keys
//   A <- B   proof
//
// The lower ephemeral key is side 0. `context` binds the session to its run. After both proofs `peer()` is known and
// seal/receive work. A wrong byte anywhere ends the session for good. Does no I/O; bytes in, bytes out.
// Does not: refuse a session with one's own identity (peer() tells, the caller decides), or notice that the last
// messages never came (the connection's end says nothing about how much was sent).
// Threads: one at a time.
#pragma once

#include <memory>
#include <optional>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/thread_owner.h"
#include "core/identity/identity.h"

namespace potluck::net {

/// What a sealed frame adds to its message, and the longest message (a frame fits a BEP 10 message of 1 MiB with room
/// for its own header). A longer frame breaks the session before memory is taken for it.
inline constexpr std::size_t channel_overhead_bytes = 17;
inline constexpr std::size_t channel_message_bytes_max = 1024 * 1024 - 1024;

class SecureChannel {
public:
    /// `identity` outlives the channel.
    SecureChannel(const identity::Identity& identity, ByteSpan context);
    ~SecureChannel();
    SecureChannel(SecureChannel&&) noexcept;
    SecureChannel& operator=(SecureChannel&&) noexcept;

    /// The first bytes to send; the same on every call.
    [[nodiscard]] Bytes hello() const;

    enum class State { handshaking, open, broken };
    [[nodiscard]] State state() const;
    /// Known once the state is `open`.
    [[nodiscard]] std::optional<PeerId> peer() const;

    struct Received {
        std::optional<Bytes> reply;    // to be sent at once (handshake)
        std::optional<Bytes> message;  // decrypted
    };
    /// Takes one frame from the other side. After a frame that does not fit, state() is `broken`.
    [[nodiscard]] Received receive(ByteSpan frame);
    /// Encrypts one message of at most channel_message_bytes_max; the state is `open`.
    [[nodiscard]] Bytes seal(ByteSpan message);

private:
    struct Session;
    ThreadOwner m_owner;
    std::unique_ptr<Session> m_session;
};

}  // namespace potluck::net

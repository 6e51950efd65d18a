// One message on a channel, before it is sealed: a bencoded dictionary
//
//   { "f": sender (32 bytes), "k": kind (integer), "m": body, "p": payload, "s": signature (64 bytes) }
//
// "p" stands in some contributions only.
// Unknown keys are skipped, so that later versions can add fields; the run is that of the channel and not repeated.
// Decoding is bounded in size, depth and number of tokens before anything is copied. Does not check the signature or
// look into the body (core/run/message.h does).
// Threads: functions of values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <libtorrent/socket.hpp>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/run/message.h"

namespace potluck::net {

/// The longest frame: the longest message and its dictionary.
inline constexpr std::size_t frame_bytes_max = run::message_bytes_max + 1024;
inline constexpr int frame_depth_max = 4;
inline constexpr int frame_tokens_max = 64;

/// The first message of a session tells which process speaks. Its kind is none of section 6 of docs/wire-format.md, so
/// versions that do not know it skip it; the session vouches for it, so it is not signed.
inline constexpr std::uint8_t greeting_kind = 255;
inline constexpr std::size_t process_bytes = 33;  // a hello that was never sent: random, and nobody else's
[[nodiscard]] Bytes encode_greeting(const PeerId& sender, ByteSpan process);
/// The process that a frame tells; nothing if it is no greeting.
[[nodiscard]] std::optional<Bytes> decode_greeting(ByteSpan frame);

/// Two more that concern a session and no run (../rendezvous.h): "tell me where this member is", and the answer.
inline constexpr std::uint8_t question_kind = 254, introduction_kind = 253;
struct Introduction {
    PeerId peer;
    lt::tcp::endpoint at;
    bool operator==(const Introduction&) const = default;
};
[[nodiscard]] Bytes encode_question(const PeerId& sender, const PeerId& wanted);
[[nodiscard]] Bytes encode_introduction(const PeerId& sender, const Introduction& introduction);
/// Nothing if the frame is none, or not as long as one.
[[nodiscard]] std::optional<PeerId> decode_question(ByteSpan frame);
[[nodiscard]] std::optional<Introduction> decode_introduction(ByteSpan frame);

/// What two computers on the board say to each other (core/find/board_message.h), which this room does not read.
inline constexpr std::uint8_t board_kind = 252;
inline constexpr std::size_t board_bytes_max = 2049;
[[nodiscard]] Bytes encode_board(const PeerId& sender, ByteSpan message);
/// Nothing if the frame is none, empty or longer than one.
[[nodiscard]] std::optional<Bytes> decode_board(ByteSpan frame);

[[nodiscard]] Bytes encode_frame(const run::Envelope& envelope);

/// Errors: `malformed`; `unavailable` for a well-formed frame of a kind this version does not know, which is skipped.
[[nodiscard]] Result<run::Envelope> decode_frame(ByteSpan frame, const RunId& run);

}  // namespace potluck::net

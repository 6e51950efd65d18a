// Frames are bencoded dictionaries, written by libtorrent's encoder and read by its decoder, which copies nothing:
// their size, depth and number of tokens are bounded before anything of them is taken over. Four kinds concern a
// session and no run (greeting, question, introduction, board): they are not signed, for the session vouches for them.
// The bodies of the first three have one length each, or two.
//
// Invariant: what decodes encodes to the same bytes, but for keys of later versions, which are skipped.
#include "net/links/frame.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include <libtorrent/address.hpp>
#include <libtorrent/bdecode.hpp>
#include <libtorrent/bencode.hpp>
#include <libtorrent/entry.hpp>

namespace potluck::net {

namespace {

lt::bdecode_node decode(ByteSpan bytes, lt::error_code& failure) {
    int position = 0;
    const std::string_view text = as_text(bytes);
    return lt::bdecode({text.data(), static_cast<std::ptrdiff_t>(text.size())}, failure, &position, frame_depth_max,
                       frame_tokens_max);
}

ByteSpan bytes_of(const lt::bdecode_node& field) {
    return as_bytes({field.string_ptr(), static_cast<std::size_t>(field.string_length())});
}

Error malformed(const char* what) { return {ErrorCode::malformed, std::string("The frame of a peer ") + what + "."}; }

/// Fills `out` from the string under `key`; false unless its length is exactly right.
template <std::size_t N>
bool copy_field(const lt::bdecode_node& frame, const char* key, std::array<std::byte, N>& out) {
    const lt::bdecode_node field = frame.dict_find_string(key);
    if (!field || field.string_length() != static_cast<int>(N)) return false;
    const ByteSpan bytes = bytes_of(field);
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return true;
}

}  // namespace

Bytes encode_frame(const run::Envelope& envelope) {
    lt::entry frame(lt::entry::dictionary_t);
    frame["f"] = std::string(as_text(envelope.sender.bytes));
    frame["k"] = static_cast<std::int64_t>(envelope.kind);
    frame["m"] = std::string(as_text(envelope.body));
    if (!envelope.payload.empty()) frame["p"] = std::string(as_text(envelope.payload));
    frame["s"] = std::string(as_text(envelope.signature));
    std::string text;
    text.reserve(envelope.body.size() + envelope.payload.size() + 160);
    lt::bencode(std::back_inserter(text), frame);
    const ByteSpan bytes = as_bytes(text);
    return {bytes.begin(), bytes.end()};
}

namespace {

Bytes encode_note(std::uint8_t kind, const PeerId& sender, ByteSpan body) {
    run::Envelope envelope;
    envelope.sender = sender;
    envelope.kind = static_cast<run::MessageKind>(kind);
    envelope.body.assign(body.begin(), body.end());
    return encode_frame(envelope);
}

/// The body of a frame of this kind; nothing if it is another.
std::optional<Bytes> decode_note(std::uint8_t kind, ByteSpan bytes) {
    lt::error_code failure;
    const lt::bdecode_node frame = decode(bytes, failure);
    if (failure || frame.type() != lt::bdecode_node::dict_t) return std::nullopt;
    const lt::bdecode_node body = frame.dict_find_string("m");
    if (frame.dict_find_int_value("k", 0) != kind || !body) return std::nullopt;
    const ByteSpan content = bytes_of(body);
    return Bytes(content.begin(), content.end());
}

}  // namespace

Bytes encode_greeting(const PeerId& sender, ByteSpan process) { return encode_note(greeting_kind, sender, process); }

Bytes encode_question(const PeerId& sender, const PeerId& wanted) {
    return encode_note(question_kind, sender, wanted.bytes);
}

std::optional<PeerId> decode_question(ByteSpan frame) {
    const std::optional<Bytes> body = decode_note(question_kind, frame);
    PeerId wanted;
    if (!body || body->size() != wanted.bytes.size()) return std::nullopt;
    ByteReader(*body).array(wanted.bytes);
    return wanted;
}

Bytes encode_introduction(const PeerId& sender, const Introduction& introduction) {
    ByteWriter out;
    out.raw(introduction.peer.bytes);
    out.u16(introduction.at.port());
    const auto add = [&](const auto& address) {
        out.raw(as_bytes({reinterpret_cast<const char*>(address.data()), address.size()}));
    };
    const lt::address address = introduction.at.address();
    if (address.is_v4()) {
        add(address.to_v4().to_bytes());
    } else {
        add(address.to_v6().to_bytes());
    }
    return encode_note(introduction_kind, sender, out.bytes());
}

std::optional<Introduction> decode_introduction(ByteSpan frame) {
    const std::optional<Bytes> body = decode_note(introduction_kind, frame);
    Introduction introduction;
    if (!body) return std::nullopt;
    ByteReader in(*body);
    in.array(introduction.peer.bytes);
    introduction.at.port(in.u16());
    const auto read = [&](auto bytes) {
        const ByteSpan rest = in.raw(bytes.size());
        if (!in.finished()) return false;
        std::memcpy(bytes.data(), rest.data(), bytes.size());
        if constexpr (std::tuple_size_v<decltype(bytes)> == 4) {
            introduction.at.address(lt::address_v4(bytes));
        } else {
            introduction.at.address(lt::address_v6(bytes));
        }
        return true;
    };
    const bool is_whole = in.remaining() == 4 ? read(lt::address_v4::bytes_type{}) : read(lt::address_v6::bytes_type{});
    return is_whole ? std::optional(introduction) : std::nullopt;
}

Bytes encode_board(const PeerId& sender, ByteSpan message) { return encode_note(board_kind, sender, message); }

std::optional<Bytes> decode_board(ByteSpan frame) {
    std::optional<Bytes> message = decode_note(board_kind, frame);
    return message && !message->empty() && message->size() <= board_bytes_max ? message : std::nullopt;
}

std::optional<Bytes> decode_greeting(ByteSpan frame) {
    std::optional<Bytes> process = decode_note(greeting_kind, frame);
    return process && process->size() == process_bytes ? process : std::nullopt;
}

Result<run::Envelope> decode_frame(ByteSpan bytes, const RunId& run) {
    if (bytes.size() > frame_bytes_max) return malformed("is too long");
    lt::error_code failure;
    const lt::bdecode_node frame = decode(bytes, failure);
    if (failure || frame.type() != lt::bdecode_node::dict_t) return malformed("is not a dictionary");
    // bdecode stops at the end of the first value; whatever follows it was not meant.
    if (frame.data_section().size() != static_cast<std::ptrdiff_t>(bytes.size()))
        return malformed("has bytes after its end");

    run::Envelope envelope;
    envelope.run = run;
    if (!copy_field(frame, "f", envelope.sender.bytes)) return malformed("names no sender");
    if (!copy_field(frame, "s", envelope.signature)) return malformed("has no signature");
    const lt::bdecode_node kind = frame.dict_find_int("k");
    const lt::bdecode_node body = frame.dict_find_string("m");
    if (!kind || !body) return malformed("lacks its kind or its body");
    if (static_cast<std::size_t>(body.string_length()) > run::message_bytes_max)
        return malformed("has too long a body");
    const std::int64_t number = kind.int_value();
    if (number < 1 || number > 255) return malformed("is of an impossible kind");
    if (number > static_cast<std::int64_t>(run::last_message_kind)) {
        return Error{ErrorCode::unavailable, "A peer sent a message that only newer versions know."};
    }
    envelope.kind = static_cast<run::MessageKind>(number);
    const ByteSpan content = bytes_of(body);
    envelope.body.assign(content.begin(), content.end());
    if (const lt::bdecode_node payload = frame.dict_find("p")) {
        const bool is_string = payload.type() == lt::bdecode_node::string_t;
        if (!is_string || payload.string_length() == 0 || envelope.kind != run::MessageKind::contribution)
            return malformed("has a payload where none belongs");
        if (static_cast<std::size_t>(payload.string_length()) > run::payload_in_message_max)
            return malformed("has too long a payload");
        const ByteSpan blob = bytes_of(payload);
        envelope.payload.assign(blob.begin(), blob.end());
    }
    return envelope;
}

}  // namespace potluck::net

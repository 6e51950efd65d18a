// One small valid value of everything a run is made of, shared by unit, golden and fuzz tests.
#pragma once

#include <array>
#include <cstdint>

#include "core/model/state_layout.h"
#include "core/run/accept_list.h"
#include "core/run/invite.h"
#include "core/run/manifest.h"
#include "core/run/message.h"

namespace potluck::run::samples {

/// An id whose 32 bytes are all `fill`.
template <class Id>
Id id(std::uint8_t fill) {
    Id value;
    value.bytes.fill(std::byte{fill});
    return value;
}

inline BlobRef plain_blob(std::uint8_t fill, std::uint64_t size) {
    return {.root = id<BlobId>(fill), .size = size, .kind = BlobKind::plain, .info_hash = {}};
}

inline BlobRef open_blob(std::uint8_t fill, std::uint64_t size) {
    return {.root = id<BlobId>(fill), .size = size, .kind = BlobKind::open, .info_hash = id<Digest>(0xd1)};
}

inline std::array<std::byte, 64> signature(std::uint8_t fill = 0x5a) {
    std::array<std::byte, 64> bytes{};
    bytes.fill(std::byte{fill});
    return bytes;
}

inline AcceptList accept_list() {
    AcceptList list;
    list.run = id<RunId>(0x11);
    list.term = 2;
    list.round = {7};
    list.previous = id<Digest>(0x33);
    list.base = id<StateDigest>(0x44);
    list.k = 128;
    list.committee = {id<PeerId>(0x05), id<PeerId>(0x22), id<PeerId>(0xa1), id<PeerId>(0xb2)};
    list.entries = {{id<PeerId>(0xa1), plain_blob(0xc1, 4'096), {65'536}, false, signature(0x61)},
                    {id<PeerId>(0xb2), plain_blob(0xc2, 8'192), {tokens_max}, true, signature(0x62)}};
    return list;
}

/// Of a computer of the person 77..77.
inline DeviceCertificate certificate() { return {id<PeerId>(0x77), signature(0x66)}; }

/// The list above, of two of whose members the keys are not persons' own.
inline AcceptList list_of_computers() {
    AcceptList list = accept_list();
    list.committee_owners = {{id<PeerId>(0x05), {id<PeerId>(0x44), signature(0x66)}},
                             {id<PeerId>(0xa1), certificate()}};
    list.entries[0].certificate = certificate();
    return list;
}

inline HostAction ban(std::uint32_t number) {
    return {
        .number = number, .kind = ActionKind::ban, .key = id<PeerId>(0xb2), .round = {}, .state = {}, .previous = {}};
}

inline HostAction readmit(std::uint32_t number) {
    return {.number = number,
            .kind = ActionKind::readmit,
            .key = id<PeerId>(0xb2),
            .round = {},
            .state = {},
            .previous = {}};
}

inline HostAction allow(std::uint32_t number) {
    return {
        .number = number, .kind = ActionKind::allow, .key = id<PeerId>(0xa1), .round = {}, .state = {}, .previous = {}};
}

inline HostAction lift(std::uint32_t number) {
    return {
        .number = number, .kind = ActionKind::lift, .key = id<PeerId>(0xe1), .round = {}, .state = {}, .previous = {}};
}

inline JurorVerdict verdict() {
    return {.person = id<PeerId>(0xe1),
            .times = 1,
            .first = {2},
            .last = {6},
            .judged = 4,
            .own = -14'000,
            .other = 2'000,
            .median = 75'000};
}

/// By two jurors of a committee of four.
inline Suspension suspension() {
    return {id<PeerId>(0xe1),
            {{id<PeerId>(0x05), verdict(), signature(0x74)}, {id<PeerId>(0x22), verdict(), signature(0x75)}}};
}

inline HostAction roll_back(std::uint32_t number) {
    return {.number = number,
            .kind = ActionKind::roll_back,
            .key = {},
            .round = {5},
            .state = open_blob(0xc2, blob_bytes_max),
            .previous = {}};
}

inline HostAction replacement(std::uint32_t number) {
    return {.number = number,
            .kind = ActionKind::replace,
            .key = {},
            .round = {7},
            .state = {},
            .term = 3,
            .previous = id<Digest>(0x33),
            .committee = {id<PeerId>(0x05)}};
}

/// The list above, which suspends a person.
inline AcceptList suspending_list() {
    AcceptList list = accept_list();
    list.suspensions = {suspension()};
    return list;
}

inline MeasuredLoss loss() { return {{5}, 3'000'000, 8'192}; }

/// The list above with losses of a person and of another one's computer.
inline AcceptList list_with_losses() {
    AcceptList list = accept_list();
    list.measured = Measured{{5},
                             8'192,
                             {{id<PeerId>(0xa1), 3'000'000, signature(0x76)},
                              {id<PeerId>(0xb2), 3'100'000, signature(0x77), certificate()}}};
    return list;
}

/// The list above with two actions of its host, the fourth and the fifth.
inline AcceptList moderated_list() {
    AcceptList list = accept_list();
    list.actions_before = 3;
    list.actions = {{ban(4), signature(0x71)}, {allow(5), signature(0x72)}};
    return list;
}

/// A list that takes the model back.
inline AcceptList roll_back_list() {
    AcceptList list = accept_list();
    list.entries.clear();
    list.actions_before = 5;
    list.actions = {{roll_back(6), signature(0x73)}};
    return list;
}

/// A list and bytes in place of a certificate: messages carry it without reading it.
inline CommittedList committed_list() { return {accept_list().encode(), Bytes(275, std::byte{0x5a})}; }

inline StepMessage step() {
    return {{7}, id<Digest>(0x33), {id<BlobId>(0xc1), 4'242, BlobKind::plain, {}}, id<StateDigest>(0x44)};
}

inline BallotMessage ballot() { return {Bytes(179, std::byte{0x5a}), accept_list().encode()}; }

inline StatusMessage status() {
    StatusMessage message;
    message.sequence = 42;
    message.role = Role::backbone;
    message.phase = Phase::collecting;
    message.round = {7};
    message.digest = id<StateDigest>(0x44);
    message.list = id<Digest>(0x33);
    message.window_tokens = {65'536};
    message.tokens_per_second = 1'250;
    message.loss = 2.5F;
    message.checkpoint_round = {5};
    message.checkpoint = open_blob(0xc2, blob_bytes_max);
    message.port = 6881;
    message.name = "B\xc3\xbcro";
    return message;
}

inline CloseMessage close() { return {.round = {7}}; }

inline ContributionMessage contribution() {
    return {.round = {7}, .base = id<StateDigest>(0x44), .payload = plain_blob(0xc1, 4'096), .tokens = {65'536}};
}

inline LayerMessage layer() {
    return {.state = id<StateDigest>(0x44), .first = 3, .hashes = {id<Digest>(0xc1), id<Digest>(0xc2)}};
}

inline model::ModelSpec model() {
    model::ModelSpec spec;
    spec.vocabulary = 256;
    spec.context = 16;
    spec.layers = 1;
    spec.heads = 2;
    spec.width = 8;
    return spec;
}

inline Manifest manifest() {
    Manifest manifest;
    manifest.name =
        "K\xc3\xbc"
        "che";
    manifest.purpose = "Shows the layout.\nTwo lines.";
    manifest.licence = "CC0-1.0";
    manifest.host = id<PeerId>(0x05);
    manifest.backbones = {id<PeerId>(0x22)};
    manifest.model = model();
    manifest.shards = {{open_blob(0xc1, 3'400), 100}};
    manifest.validation = {plain_blob(0xc2, 340), 10};
    manifest.bigram_loss = 2.5;
    manifest.initial_state = plain_blob(0xc3, model::state_layout(manifest.model).file_size());
    manifest.allowed = {id<PeerId>(0xa1), id<PeerId>(0xb2)};
    manifest.created = 1'750'000'000;
    return manifest;
}

inline Invite invite() {
    return {.run = id<RunId>(0x11),
            .name =
                "K\xc3\xbc"
                "che & Co",
            .hints = {{"192.0.2.7", 6881}, {"2001:db8::1", 6882}}};
}

}  // namespace potluck::run::samples

// What tests of announcements share: a sound one of any host, and certificates of committees of real keys.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/find/announcement.h"
#include "core/run/agreement/vote.h"

namespace potluck::find::samples {

inline constexpr std::int64_t now = 1'790'000'000'000;

inline identity::Identity key(std::uint64_t number) {
    std::array<std::byte, 32> seed{};
    for (std::size_t i = 0; i < 8; ++i) seed[i] = static_cast<std::byte>(number >> (8 * i));
    return identity::Identity::from_seed(seed);
}

inline RunId run(std::uint64_t number) {
    RunId id;
    id.bytes.fill(std::byte{0x11});
    for (std::size_t i = 0; i < 8; ++i) id.bytes[i] = static_cast<std::byte>(number >> (8 * i));
    return id;
}

/// Of a run in round 0, as `host` announces it.
inline Announcement fresh(const identity::Identity& host, std::uint64_t number = 1) {
    Announcement one;
    one.run = run(number);
    one.host = host.id();
    one.made = now;
    one.name = "Küche";
    one.purpose = "Writes recipes.";
    one.language = "de";
    one.licence = "CC0-1.0";
    one.model = "GPT-2 shape";
    one.family = "GPT-2";
    one.host_name = "Béa";
    one.parameters = 800'000;
    one.memory = 8'000'000;
    one.download = 3'500'000;
    one.rounds = 1000;
    one.baseline = 2.5F;
    one.flops = 5e6F;
    one.volunteers = 3;
    one.round_seconds = 70;
    one.hints = {{"192.0.2.7", 6881}, {"192.168.1.5", 6881}};
    one.page = "https://example.org/kueche";
    return one;
}

/// A committee of real keys.
struct Seats {
    explicit Seats(std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) keys.push_back(key(1'000 + i));
        std::ranges::sort(keys, {}, [](const identity::Identity& one) { return one.id(); });
    }
    [[nodiscard]] std::vector<PeerId> ids() const {
        std::vector<PeerId> ids;
        for (const identity::Identity& one : keys) ids.push_back(one.id());
        return ids;
    }
    /// Of the first `signers` of them.
    [[nodiscard]] run::Certificate certificate(const RunId& of, std::uint64_t round, std::size_t signers,
                                               run::Step step = run::Step::precommit) const {
        Digest list;
        list.bytes.fill(std::byte{0xc1});
        run::Certificate made{{of, 0, RoundId{round}}, 0, step, list, 0, {}};
        for (std::size_t i = 0; i < signers; ++i) {
            const run::IdentityKeyring keyring(keys[i]);
            made.signers = static_cast<std::uint8_t>(made.signers | 1U << i);
            made.signatures.push_back(
                run::sign(run::Vote{made.instance, made.view, made.step, made.list}, keyring).signature);
        }
        return made;
    }
    std::vector<identity::Identity> keys;
};

/// As fresh(), in `round`, which `signers` of a committee of `size` have decided.
inline Announcement decided(const identity::Identity& host, std::uint64_t round, std::size_t size,
                            std::size_t signers) {
    const Seats seats(size);
    Announcement one = fresh(host);
    one.round = round;
    one.loss = 2.25F;
    one.committee = seats.ids();
    one.certificate = run::encode(seats.certificate(one.run, round - 1, signers));
    return one;
}

inline run::Verdict verdict_of(ByteSpan bytes, std::int64_t at = now) {
    const auto parsed = parse_announcement(bytes);
    return parsed ? judge(*parsed, bytes, at, run::Ed25519Verifier()) : run::Verdict::malformed;
}

}  // namespace potluck::find::samples

// What tests of releases share: a release key of their own that signs as minisign does, and a sound index.
#pragma once

#include <array>
#include <string>

#include <sodium.h>

#include "core/base/sha256.h"
#include "core/release/release_index.h"

namespace potluck::release {

/// Signs as the program minisign does, with a key that follows from a number.
class TestKey {
public:
    explicit TestKey(unsigned char number = 1) {
        std::array<unsigned char, crypto_sign_SEEDBYTES> seed{};
        seed.fill(number);
        m_id.fill(number);
        crypto_sign_seed_keypair(m_public.data(), m_secret.data(), seed.data());
    }
    [[nodiscard]] std::string line() const {
        std::string bytes = "Ed";
        bytes.append(m_id.begin(), m_id.end()).append(m_public.begin(), m_public.end());
        return base64(bytes);
    }
    [[nodiscard]] identity::MinisignKey key() const { return *identity::MinisignKey::parse(line()); }
    [[nodiscard]] std::string sign(const std::string& file, const std::string& comment = "a release") const {
        std::array<unsigned char, 64> hash{};
        crypto_generichash(hash.data(), hash.size(), bytes_of(file), file.size(), nullptr, 0);
        const std::string signature = signed_by_us({hash.begin(), hash.end()});
        std::string whole = "ED";
        whole.append(m_id.begin(), m_id.end()).append(signature);
        return "untrusted comment: signature\n" + base64(whole) + "\ntrusted comment: " + comment + "\n" +
               base64(signed_by_us(signature + comment)) + "\n";
    }

private:
    static const unsigned char* bytes_of(const std::string& text) {
        return reinterpret_cast<const unsigned char*>(text.data());
    }
    static std::string base64(const std::string& bytes) {
        std::string text(sodium_base64_ENCODED_LEN(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
        sodium_bin2base64(text.data(), text.size(), bytes_of(bytes), bytes.size(), sodium_base64_VARIANT_ORIGINAL);
        text.pop_back();
        return text;
    }
    [[nodiscard]] std::string signed_by_us(const std::string& bytes) const {
        std::string signature(crypto_sign_BYTES, '\0');
        crypto_sign_detached(reinterpret_cast<unsigned char*>(signature.data()), nullptr, bytes_of(bytes), bytes.size(),
                             m_secret.data());
        return signature;
    }
    std::array<unsigned char, 8> m_id{};
    std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> m_public{};
    std::array<unsigned char, crypto_sign_SECRETKEYBYTES> m_secret{};
};

inline Pack sample_pack(PackKind kind = PackKind::cpu) {
    return {.name = std::string("potluck-trainer-0.1.0-linux-x86_64-") + name_of(kind) + ".tar.xz",
            .kind = kind,
            .apps = {Version{{0, 1, 0}}},
            .system = "linux",
            .architecture = "x86_64",
            .size = 1000,
            .unpacked = 4000,
            .files = 10,
            .sha256 = sha256(as_bytes("archive")),
            .root = BlobId{sha256(as_bytes("root")).bytes},
            .torrent = sha256(as_bytes("info")),
            .magnet = "magnet:?xt=urn:btmh:1220aa",
            .driver_min = kind == PackKind::cuda ? 580U : 0U,
            .url = "https://example.org/packs/pack.tar.xz"};
}

inline Index sample_index() {
    return {.serial = 7,
            .issued = 1'000,
            .expires = 2'000,
            .releases = {{Version{{0, 3, 0}}, "2026-11-20", 1, "It is faster.", "https://example.org/potluck"}},
            .packs = {sample_pack(), sample_pack(PackKind::cuda)}};
}

}  // namespace potluck::release

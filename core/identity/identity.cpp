#include "core/identity/identity.h"

#include <sodium.h>

#include "core/base/check.h"
#include "core/identity/key_file.h"
#include "core/identity/recovery_words.h"
#include "core/identity/secret.h"

namespace potluck::identity {

namespace {

/// What an Ed25519 signature covers: length of domain, domain, bytes.
Bytes tagged(std::string_view domain, ByteSpan bytes) {
    POTLUCK_CHECK(!domain.empty() && domain.size() <= 255);
    Bytes all;
    all.reserve(1 + domain.size() + bytes.size());
    all.push_back(static_cast<std::byte>(domain.size()));
    const ByteSpan tag = as_bytes(domain);
    all.insert(all.end(), tag.begin(), tag.end());
    all.insert(all.end(), bytes.begin(), bytes.end());
    return all;
}

}  // namespace

struct Identity::Secret {
    explicit Secret(const SecretSeed& from) : seed(from) {
        start_sodium();
        crypto_sign_seed_keypair(raw(id.bytes.data()), raw(key.data()), raw(seed.bytes.data()));
    }
    Secret(const Secret&) = delete;
    Secret& operator=(const Secret&) = delete;
    ~Secret() { wipe(key); }

    SecretSeed seed;
    std::array<std::byte, crypto_sign_SECRETKEYBYTES> key{};
    PeerId id;
};

Identity::Identity(std::unique_ptr<Secret> secret) : m_secret(std::move(secret)) {}
Identity::Identity(Identity&&) noexcept = default;
Identity& Identity::operator=(Identity&&) noexcept = default;
Identity::~Identity() = default;

Identity Identity::generate() {
    start_sodium();
    SecretSeed seed;
    randombytes_buf(seed.bytes.data(), seed.bytes.size());
    return Identity(std::make_unique<Secret>(seed));
}

Identity Identity::from_seed(const std::array<std::byte, 32>& seed) {
    return Identity(std::make_unique<Secret>(SecretSeed(seed)));
}

Result<Identity> Identity::open_or_create(const std::filesystem::path& file) {
    const Result<SecretSeed> present = read_key_file(file, KeyReaders::owner_only);
    if (present.ok()) return Identity(std::make_unique<Secret>(*present));
    if (present.error().code != ErrorCode::not_found) return present.error();
    if (const Status made = make_private_folder_of(file); !made.ok()) return made.error();
    Identity identity = generate();
    const Status written = write_key_file(file, identity.m_secret->seed);
    if (written.ok()) return identity;
    // Another process of this person was a moment earlier: its identity is the one.
    if (written.error().code == ErrorCode::already_exists) return open(file);
    return written.error();
}

Result<Identity> Identity::open(const std::filesystem::path& file) {
    const Result<SecretSeed> seed = read_key_file(file, KeyReaders::owner_only);
    if (!seed.ok()) return seed.error();
    return Identity(std::make_unique<Secret>(*seed));
}

Result<Identity> Identity::import_file(const std::filesystem::path& file) {
    const Result<SecretSeed> seed = read_key_file(file, KeyReaders::anybody);
    if (!seed.ok()) return seed.error();
    return Identity(std::make_unique<Secret>(*seed));
}

Result<Identity> Identity::from_recovery_words(std::string_view words) {
    const Result<SecretSeed> seed = seed_of(words);
    if (!seed.ok()) return seed.error();
    return Identity(std::make_unique<Secret>(*seed));
}

Status Identity::save(const std::filesystem::path& file) const { return write_key_file(file, m_secret->seed); }

std::string Identity::recovery_words() const { return words_of(m_secret->seed); }

const PeerId& Identity::id() const { return m_secret->id; }

Signature Identity::sign(std::string_view domain, ByteSpan bytes) const {
    const Bytes all = tagged(domain, bytes);
    Signature signature{};
    crypto_sign_detached(raw(signature.data()), nullptr, raw(all.data()), all.size(), raw(m_secret->key.data()));
    return signature;
}

bool verify(const PeerId& signer, std::string_view domain, ByteSpan bytes, const Signature& signature) {
    start_sodium();
    const Bytes all = tagged(domain, bytes);
    return crypto_sign_verify_detached(raw(signature.data()), raw(all.data()), all.size(), raw(signer.bytes.data())) ==
           0;
}

}  // namespace potluck::identity

#include "core/identity/minisign_signer.h"

#include <algorithm>
#include <array>

#include <sodium.h>

#include "core/base/check.h"
#include "core/identity/key_file.h"
#include "core/identity/secret.h"

namespace potluck::identity {

namespace {

std::string base64(std::string_view bytes) {
    std::string text(sodium_base64_ENCODED_LEN(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
    sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                      sodium_base64_VARIANT_ORIGINAL);
    text.pop_back();  // the zero at the end
    return text;
}

}  // namespace

struct MinisignSigner::Secret {
    explicit Secret(const SecretSeed& seed) {
        start_sodium();
        crypto_sign_seed_keypair(raw(key.key.data()), raw(secret.data()), raw(seed.bytes.data()));
        // minisign draws it at random; it only tells keys apart.
        std::copy_n(key.key.begin(), key.id.size(), key.id.begin());
    }
    Secret(const Secret&) = delete;
    Secret& operator=(const Secret&) = delete;
    ~Secret() { wipe(secret); }

    [[nodiscard]] std::string sign(ByteSpan bytes) const {
        std::array<std::byte, crypto_sign_BYTES> signature{};
        crypto_sign_detached(raw(signature.data()), nullptr, raw(bytes.data()), bytes.size(), raw(secret.data()));
        return std::string(as_text(signature));
    }

    MinisignKey key;
    std::array<std::byte, crypto_sign_SECRETKEYBYTES> secret{};
};

MinisignSigner::MinisignSigner(std::unique_ptr<Secret> secret) : m_secret(std::move(secret)) {}
MinisignSigner::MinisignSigner(MinisignSigner&&) noexcept = default;
MinisignSigner& MinisignSigner::operator=(MinisignSigner&&) noexcept = default;
MinisignSigner::~MinisignSigner() = default;

Result<MinisignSigner> MinisignSigner::open(const std::filesystem::path& file) {
    const Result<SecretSeed> seed = read_key_file(file, KeyReaders::owner_only);
    if (!seed.ok()) return seed.error();
    return MinisignSigner(std::make_unique<Secret>(*seed));
}

Result<MinisignSigner> MinisignSigner::open_or_create(const std::filesystem::path& file) {
    Result<MinisignSigner> present = open(file);
    if (present.ok() || present.error().code != ErrorCode::not_found) return present;
    if (const Status made = make_private_folder_of(file); !made.ok()) return made.error();
    start_sodium();
    SecretSeed seed;
    randombytes_buf(seed.bytes.data(), seed.bytes.size());
    if (const Status written = write_key_file(file, seed); !written.ok()) return written.error();
    return MinisignSigner(std::make_unique<Secret>(seed));
}

const MinisignKey& MinisignSigner::key() const { return m_secret->key; }

std::string MinisignSigner::key_line() const { return text_of(m_secret->key); }

std::string MinisignSigner::sign(ByteSpan content, std::string_view comment) const {
    POTLUCK_CHECK(comment.find('\n') == std::string_view::npos);
    std::array<std::byte, 64> hash{};
    crypto_generichash(raw(hash.data()), hash.size(), raw(content.data()), content.size(), nullptr, 0);
    const std::string signature = m_secret->sign(hash);
    const std::string of_comment = m_secret->sign(as_bytes(signature + std::string(comment)));
    const std::string whole = "ED" + std::string(as_text(m_secret->key.id)) + signature;
    return "untrusted comment: signature of a list of runs\n" + base64(whole) +
           "\ntrusted comment: " + std::string(comment) + "\n" + base64(of_comment) + "\n";
}

std::string text_of(const MinisignKey& key) {
    return base64("Ed" + std::string(as_text(key.id)) + std::string(as_text(key.key)));
}

}  // namespace potluck::identity

// A person's identity: one Ed25519 key per person, made silently, kept in a file only its owner can read, exportable as
// a file and as 24 recovery words. Signatures cover exact bytes under a domain tag, so that a signature made for one
// purpose never passes for another. The only home of libsodium; no header of this folder shows it.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/result.h"

namespace potluck::identity {

using Signature = std::array<std::byte, 64>;

/// Secret key of this computer's person. Owns: memory that is wiped when it dies. Moves, never copies.
class Identity {
public:
    Identity(Identity&&) noexcept;
    Identity& operator=(Identity&&) noexcept;
    ~Identity();

    [[nodiscard]] static Identity generate();
    /// Deterministic, for tests and simulations: never for people.
    [[nodiscard]] static Identity from_seed(const std::array<std::byte, 32>& seed);
    /// Opens the key file, or makes one (mode 0600, synced) if there is none. A file that is damaged or readable by
    /// others is an error that says what to do; it is never replaced.
    [[nodiscard]] static Result<Identity> open_or_create(const std::filesystem::path& file);
    /// The same, and makes nothing: `not_found` if there is none.
    [[nodiscard]] static Result<Identity> open(const std::filesystem::path& file);
    /// A copy that was brought from elsewhere; others may be able to read it.
    [[nodiscard]] static Result<Identity> import_file(const std::filesystem::path& file);
    [[nodiscard]] static Result<Identity> from_recovery_words(std::string_view words);

    [[nodiscard]] Status save(const std::filesystem::path& file) const;
    /// 24 words of the list in recovery_words.h, checksum included.
    [[nodiscard]] std::string recovery_words() const;

    [[nodiscard]] const PeerId& id() const;
    /// Ed25519 over: length of domain u8, domain, bytes.
    [[nodiscard]] Signature sign(std::string_view domain, ByteSpan bytes) const;

private:
    struct Secret;
    explicit Identity(std::unique_ptr<Secret> secret);
    std::unique_ptr<Secret> m_secret;
};

[[nodiscard]] bool verify(const PeerId& signer, std::string_view domain, ByteSpan bytes, const Signature& signature);

}  // namespace potluck::identity

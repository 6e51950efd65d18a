// Signs files as minisign does, for those who publish lists of runs without that program. What it signs,
// verify_minisign() and the program itself accept.
//
// The key has a file of its own in the format of key_file.h: it is nobody's identity, because what it signs carries no
// domain. Does not: sign releases; their makers use minisign.
// Threads: one. Owns: memory that is wiped when it dies.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/identity/minisign.h"

namespace potluck::identity {

class MinisignSigner {
public:
    MinisignSigner(MinisignSigner&&) noexcept;
    MinisignSigner& operator=(MinisignSigner&&) noexcept;
    ~MinisignSigner();

    /// Makes the key file (mode 0600) if there is none.
    [[nodiscard]] static Result<MinisignSigner> open_or_create(const std::filesystem::path& file);
    /// `not_found` if there is none.
    [[nodiscard]] static Result<MinisignSigner> open(const std::filesystem::path& file);

    [[nodiscard]] const MinisignKey& key() const;
    /// What MinisignKey::parse() reads.
    [[nodiscard]] std::string key_line() const;
    /// The content of the .minisig file of `content`; `comment` is one line, and signed.
    [[nodiscard]] std::string sign(ByteSpan content, std::string_view comment) const;

private:
    struct Secret;
    explicit MinisignSigner(std::unique_ptr<Secret> secret);
    std::unique_ptr<Secret> m_secret;
};

/// The line of a public key's file, as MinisignKey::parse() reads it.
[[nodiscard]] std::string text_of(const MinisignKey& key);

}  // namespace potluck::identity

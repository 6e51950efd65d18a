// Signing and checking as the agreement needs them. A seam, because a simulation of thousands of rounds cannot pay for
// Ed25519.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/identity/identity.h"

namespace potluck::run {

class Verifier {
public:
    virtual ~Verifier() = default;
    [[nodiscard]] virtual bool verify(const PeerId& signer, std::string_view domain, ByteSpan bytes,
                                      const identity::Signature& signature) const = 0;
};

class Keyring : public Verifier {
public:
    [[nodiscard]] virtual const PeerId& self() const = 0;
    [[nodiscard]] virtual identity::Signature sign(std::string_view domain, ByteSpan bytes) const = 0;
};

class Ed25519Verifier final : public Verifier {
public:
    [[nodiscard]] bool verify(const PeerId& signer, std::string_view domain, ByteSpan bytes,
                              const identity::Signature& signature) const override {
        return identity::verify(signer, domain, bytes, signature);
    }
};

/// Signs with an identity, which it borrows, and checks with `verify`: Ed25519, or a simulation's memory of it.
class IdentityKeyring final : public Keyring {
public:
    using Verify = std::function<bool(const PeerId& signer, std::string_view domain, ByteSpan bytes,
                                      const identity::Signature& signature)>;
    explicit IdentityKeyring(const identity::Identity& identity, Verify verify = identity::verify)
        : m_identity(identity), m_verify(std::move(verify)) {}
    [[nodiscard]] const PeerId& self() const override { return m_identity.id(); }
    [[nodiscard]] identity::Signature sign(std::string_view domain, ByteSpan bytes) const override {
        return m_identity.sign(domain, bytes);
    }
    [[nodiscard]] bool verify(const PeerId& signer, std::string_view domain, ByteSpan bytes,
                              const identity::Signature& signature) const override {
        return m_verify(signer, domain, bytes, signature);
    }

private:
    const identity::Identity& m_identity;
    const Verify m_verify;
};

}  // namespace potluck::run

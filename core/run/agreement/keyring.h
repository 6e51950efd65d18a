// Signing and checking as the agreement needs them. A seam, because a simulation of thousands of rounds cannot pay for
// Ed25519; in the program it is IdentityKeyring.
#pragma once

#include <string_view>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/identity/identity.h"

namespace potluck::run {

class Keyring {
public:
    virtual ~Keyring() = default;
    [[nodiscard]] virtual const PeerId& self() const = 0;
    [[nodiscard]] virtual identity::Signature sign(std::string_view domain, ByteSpan bytes) const = 0;
    [[nodiscard]] virtual bool verify(const PeerId& signer, std::string_view domain, ByteSpan bytes,
                                      const identity::Signature& signature) const = 0;
};

/// Ed25519 by core/identity. Borrows the identity, which must outlive it.
class IdentityKeyring final : public Keyring {
public:
    explicit IdentityKeyring(const identity::Identity& identity) : m_identity(identity) {}
    [[nodiscard]] const PeerId& self() const override { return m_identity.id(); }
    [[nodiscard]] identity::Signature sign(std::string_view domain, ByteSpan bytes) const override {
        return m_identity.sign(domain, bytes);
    }
    [[nodiscard]] bool verify(const PeerId& signer, std::string_view domain, ByteSpan bytes,
                              const identity::Signature& signature) const override {
        return identity::verify(signer, domain, bytes, signature);
    }

private:
    const identity::Identity& m_identity;
};

}  // namespace potluck::run

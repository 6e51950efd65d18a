// Signing and checking as the agreement needs them. A seam, because a simulation of thousands of rounds cannot pay for
// Ed25519.
#pragma once

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/identity/identity.h"
#include "core/run/device.h"

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

/// Whether the person that it names, if it names one, has signed that `device` is its computer.
[[nodiscard]] inline bool is_certified(const PeerId& device, const DeviceCertificate& certificate,
                                       const Verifier& verifier) {
    return certificate.is_own() ||
           verifier.verify(certificate.person, device_domain, signed_bytes_of_device(certificate.person, device),
                           certificate.signature);
}

[[nodiscard]] inline bool are_certified(const Owners& owners, const Verifier& verifier) {
    return std::all_of(owners.begin(), owners.end(),
                       [&](const auto& one) { return is_certified(one.first, one.second, verifier); });
}

/// The certificate by which `device` is a computer of `person`.
[[nodiscard]] inline DeviceCertificate certify(const identity::Identity& person, const PeerId& device) {
    return {person.id(), person.sign(device_domain, signed_bytes_of_device(person.id(), device))};
}

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

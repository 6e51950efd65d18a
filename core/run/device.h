// A person's computers. A person is one key; each computer has a key of its own, which the person's key signs: it
// speaks, trains, votes and sits in the committee as that computer, and credit, trust and bans are the person's. The
// computer on which a person's key was made uses that key itself and needs no certificate.
//
// Does not: verify a signature (core/run/agreement/keyring.h does), or take a computer away from its person again.
// Threads: values.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/wire/fields.h"

namespace potluck::run {

inline constexpr std::string_view device_domain = "potluck/device/1";
inline constexpr std::size_t certificate_bytes_max = 1 + 32 + 64;
/// Contributions of one person to a list. Together they weigh no more than one may, and each costs everybody a payload.
inline constexpr std::size_t devices_per_person_max = 16;

/// Whose a computer is.
struct DeviceCertificate {
    PeerId person{};                        // zero: the computer's key is a person's own
    std::array<std::byte, 64> signature{};  // the person's
    auto operator<=>(const DeviceCertificate&) const = default;

    [[nodiscard]] bool is_own() const { return person.is_zero(); }
    [[nodiscard]] const PeerId& person_of(const PeerId& device) const { return is_own() ? device : person; }

    static constexpr std::string_view label = "certificate";
    static void fields(auto& it, auto&& field) {
        std::uint8_t has_person = it.is_own() ? 0 : 1;
        field("has a person", has_person, wire::Whole{0, 1}, "0: the key is its own person's; 1: it is another's");
        if (!field.has(has_person == 1)) return;
        field("person", it.person, wire::Id{.not_zero = true}, "only after a 1: the person's key, not the computer's");
        field("signature", it.signature, wire::Raw{},
              "only after a 1: the person's, of its own key and the computer's");
    }

    void write(ByteWriter& out) const { wire::write(out, *this); }
    /// Fails the reader if it names nobody, or `device` as its own person.
    [[nodiscard]] static DeviceCertificate read(ByteReader& in, const PeerId* device = nullptr) {
        const auto certificate = wire::read<DeviceCertificate>(in);
        if (device != nullptr && !certificate.is_own() && certificate.person == *device) in.fail();
        return certificate;
    }
};

/// The field of a certificate behind the key of its computer.
struct CertificateOf {
    const PeerId& device;

    void write(ByteWriter& out, const DeviceCertificate& certificate) const { certificate.write(out); }
    void read(ByteReader& in, DeviceCertificate& certificate) const {
        certificate = DeviceCertificate::read(in, &device);
    }
    template <class Value>
    [[nodiscard]] std::string type() const {
        return std::string(DeviceCertificate::label);
    }
};

/// What the person signs.
[[nodiscard]] inline Bytes signed_bytes_of_device(const PeerId& person, const PeerId& device) {
    ByteWriter out;
    out.raw(person.bytes);
    out.raw(device.bytes);
    return out.take();
}

/// A computer's key and whose it is.
struct Device {
    PeerId key;
    DeviceCertificate certificate{};
    bool operator==(const Device&) const = default;
    [[nodiscard]] const PeerId& person() const { return certificate.person_of(key); }
};

/// Certificates of those of some computers whose keys are not persons' own.
using Owners = std::map<PeerId, DeviceCertificate>;

[[nodiscard]] inline DeviceCertificate certificate_in(const Owners& owners, const PeerId& device) {
    const auto found = owners.find(device);
    return found == owners.end() ? DeviceCertificate{} : found->second;
}

[[nodiscard]] inline PeerId person_in(const Owners& owners, const PeerId& device) {
    return certificate_in(owners, device).person_of(device);
}

/// Whether no person has two of these computers.
[[nodiscard]] inline bool are_different_persons(const std::vector<PeerId>& devices, const Owners& owners) {
    std::set<PeerId> persons;
    return std::all_of(devices.begin(), devices.end(),
                       [&](const PeerId& device) { return persons.insert(person_in(owners, device)).second; });
}

}  // namespace potluck::run

// A committee for tests: keys with signatures that cost one SHA-256, and messages of any member by its place in the
// order of proposers.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/sha256.h"
#include "core/run/agreement/vote.h"

namespace potluck::run::testing {

inline Digest digest_of(std::string_view text) { return sha256(as_bytes(text)); }

inline PeerId key_of(std::size_t number) { return {digest_of("key " + std::to_string(number)).bytes}; }

/// Signs by a hash that names the key: nobody can forge by accident, and no test here forges on purpose.
class HashKeyring final : public Keyring {
public:
    explicit HashKeyring(const PeerId& self) : m_self(self) {}
    const PeerId& self() const override { return m_self; }
    identity::Signature sign(std::string_view domain, ByteSpan bytes) const override {
        return signature_of(m_self, domain, bytes);
    }
    bool verify(const PeerId& signer, std::string_view domain, ByteSpan bytes,
                const identity::Signature& signature) const override {
        return signature == signature_of(signer, domain, bytes);
    }

private:
    static identity::Signature signature_of(const PeerId& signer, std::string_view domain, ByteSpan bytes) {
        ByteWriter out;
        out.raw(signer.bytes);
        out.string(domain);
        out.raw(bytes);
        const Digest digest = sha256(out.bytes());
        identity::Signature signature{};
        std::copy(digest.bytes.begin(), digest.bytes.end(), signature.begin());
        return signature;
    }
    PeerId m_self;
};

inline Instance instance() { return {RunId{digest_of("run").bytes}, 2, RoundId{5}}; }

inline Committee committee_of(std::size_t size) {
    std::vector<PeerId> keys;
    for (std::size_t i = 0; i < size; ++i) keys.push_back(key_of(i));
    return *Committee::from_keys(std::move(keys));
}

/// Members in the order in which they propose: member i proposes in view i.
class Members {
public:
    explicit Members(std::size_t size) : committee(committee_of(size)) {
        for (const PeerId& key : proposer_order(committee, previous)) keyrings.emplace_back(key);
    }
    const PeerId& key(std::size_t member) const { return keyrings[member].self(); }

    SignedVote vote(std::size_t member, Step step, std::uint32_t view, std::optional<Digest> list) const {
        return sign(Vote{instance(), view, step, list}, keyrings[member]);
    }
    SignedVote prevote(std::size_t member, std::uint32_t view, std::optional<Digest> list) const {
        return vote(member, Step::prevote, view, list);
    }
    SignedVote precommit(std::size_t member, std::uint32_t view, std::optional<Digest> list) const {
        return vote(member, Step::precommit, view, list);
    }
    SignedProposal proposal(std::uint32_t view, const Digest& list) const {
        return sign(Proposal{instance(), view, list, std::nullopt}, keyrings[view % keyrings.size()]);
    }
    SignedProposal proposal(std::uint32_t view, const Digest& list, const Certificate& proof) const {
        return sign(Proposal{instance(), view, list, proof}, keyrings[view % keyrings.size()]);
    }
    /// Of genuine votes of `from`, be they a quorum or not.
    Certificate certificate(Step step, std::uint32_t view, const Digest& list,
                            const std::vector<std::size_t>& from) const {
        std::vector<std::pair<std::size_t, identity::Signature>> signatures;
        for (const std::size_t member : from) {
            signatures.emplace_back(*committee.index_of(key(member)), vote(member, step, view, list).signature);
        }
        std::sort(signatures.begin(), signatures.end());
        Certificate certificate{instance(), view, step, list, 0, {}};
        for (const auto& [index, signature] : signatures) {
            certificate.signers = static_cast<std::uint8_t>(certificate.signers | 1U << index);
            certificate.signatures.push_back(signature);
        }
        return certificate;
    }

    Digest previous = digest_of("previous list");
    Committee committee;
    std::vector<HashKeyring> keyrings;
};

}  // namespace potluck::run::testing

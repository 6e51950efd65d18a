#include "core/run/offers.h"

#include <algorithm>

namespace potluck::run {

Verdict Offers::take(const PeerId& author, const ContributionMessage& message, const Signature& signature) {
    if (m_offers.contains(author)) return Verdict::repeated;
    if (m_offers.size() >= accepted_max) return Verdict::flood;
    // A person with so many computers does nothing wrong.
    if (devices_of(message.certificate.person_of(author)) >= devices_per_person_max) return Verdict::no_room;
    m_offers.emplace(author, Offer{message, signature});
    return Verdict::accepted;
}

std::size_t Offers::devices_of(const PeerId& person) const {
    const auto devices = std::count_if(m_offers.begin(), m_offers.end(), [&](const auto& one) {
        return one.second.message.certificate.person_of(one.first) == person;
    });
    return static_cast<std::size_t>(devices);
}

void Offers::put_own(const PeerId& self, const ContributionMessage& message, const Signature& signature) {
    m_offers[self] = Offer{message, signature, true, false};
}

bool Offers::holds(const PeerId& author, const ContributionMessage& message, const Signature& signature) const {
    const auto found = m_offers.find(author);
    return found != m_offers.end() && found->second.message == message && found->second.signature == signature;
}

bool Offers::is_in(const PeerId& author) const {
    const auto found = m_offers.find(author);
    return found != m_offers.end() && (found->second.held || found->second.bad);
}

bool Offers::any_held() const {
    return std::any_of(m_offers.begin(), m_offers.end(),
                       [](const auto& one) { return one.second.held && !one.second.bad; });
}

std::optional<SignedContribution> Offers::naming(const BlobId& payload) const {
    for (const auto& [author, offer] : m_offers) {
        if (offer.message.payload.root != payload || offer.bad) continue;
        return SignedContribution{author, offer.message, offer.signature};
    }
    return std::nullopt;
}

std::vector<SignedContribution> Offers::held() const {
    std::vector<SignedContribution> all;
    for (const auto& [author, offer] : m_offers) {
        if (offer.held && !offer.bad) all.push_back({author, offer.message, offer.signature});
    }
    return all;
}

std::vector<PeerId> Offers::payload_held(const BlobId& payload, const PeerId& author) {
    std::vector<PeerId> copiers;
    for (auto& [peer, offer] : m_offers) {
        if (offer.message.payload.root != payload || offer.bad) continue;
        offer.bad = peer != author;
        offer.held = !offer.bad;
        if (offer.bad) copiers.push_back(peer);
    }
    return copiers;
}

std::optional<PeerId> Offers::payload_bad(const BlobId& payload) {
    std::optional<PeerId> liar;
    for (auto& [peer, offer] : m_offers) {
        if (offer.message.payload.root != payload || offer.bad) continue;
        offer.bad = true;
        offer.held = false;
        if (!liar) liar = peer;
    }
    return liar;
}

}  // namespace potluck::run

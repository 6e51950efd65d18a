// A session that says exactly what a test tells it to, and remembers what it heard. With the key of a member that is
// down it speaks in that member's name.
#pragma once

#include <optional>
#include <vector>

#include "core/identity/identity.h"
#include "tests/sim/onlooker.h"
#include "tests/sim/world.h"

namespace potluck::sim {

/// A key that no member of a world has.
[[nodiscard]] identity::Identity hostile_key(std::uint8_t number);

/// `message` as `key`'s owner sends it.
[[nodiscard]] run::Envelope sealed(const identity::Identity& key, const RunId& run, const run::Message& message);

/// What `member` makes of an envelope out of `from`'s session: the one verdict that it counted.
[[nodiscard]] run::Verdict verdict_of(World& world, std::size_t member, const PeerId& from,
                                      const run::Envelope& envelope);

class Stranger final : public Onlooker {
public:
    /// Opens a session with every living member.
    Stranger(World& world, identity::Identity key);
    ~Stranger() override;

    [[nodiscard]] const PeerId& id() const { return m_key.id(); }
    [[nodiscard]] run::Envelope envelope(const run::Message& message) const {
        return sealed(m_key, m_world.run(), message);
    }
    /// What `member` makes of it when it comes from here.
    [[nodiscard]] run::Verdict verdict(std::size_t member, const run::Envelope& envelope) {
        return verdict_of(m_world, member, id(), envelope);
    }
    void send(std::size_t member, const run::Message& message) {
        m_port.send(m_world.home(member).id(), envelope(message));
    }
    void broadcast(const run::Message& message) { m_port.broadcast(envelope(message)); }
    /// A payload that every member can decode: `size` in each coordinate that is sent.
    [[nodiscard]] run::BlobRef publish_payload(float size);
    BlobFolder& folder() { return m_folder; }

    [[nodiscard]] const std::vector<run::Envelope>& heard() const { return m_heard; }
    /// The last message of `kind` that `sender` signed.
    [[nodiscard]] std::optional<run::Envelope> last(const PeerId& sender, run::MessageKind kind) const;

    void on_envelope(const PeerId&, run::Envelope envelope) override { m_heard.push_back(std::move(envelope)); }

private:
    World& m_world;
    identity::Identity m_key;
    Disk m_disk;
    BlobFolder m_folder;
    Port m_port;
    std::vector<run::Envelope> m_heard;
};

}  // namespace potluck::sim

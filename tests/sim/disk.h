// A disk in memory. What was committed or saved survives a kill; what was only begun does not. States can be damaged
// behind the owner's back. Before each effect that others or a later life can see, whoever watches is told; that is
// how a test ends a process between any two of them (tests/sim/crash.h).
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/merkle.h"
#include "core/model/state_layout.h"
#include "core/peer/seams/state_store.h"
#include "core/run/message.h"

namespace potluck::sim {

/// What a process does that outlasts it. An append to the ledger lies between two of these.
enum class Effect { save, commit, adopt, publish, send };

/// Who looks on while a member acts; it outlives the member's processes.
struct Effects {
    /// Called before each effect, with the message if it is a send.
    std::vector<std::function<void(Effect, const run::Envelope*)>> watchers;
    bool muted = false;  // the process is as good as dead: nothing reaches the others any more

    void before(Effect effect, const run::Envelope* envelope = nullptr) {
        for (const auto& watcher : watchers) watcher(effect, envelope);
    }
};

/// What a process that ends between two effects leaves behind.
enum class Loss {
    process,  // the system's page cache is written later
    power,    // only what was synced: the error feedback, a mapped file, is not
};

class Disk final : public peer::StateStore {
public:
    Disk(std::string name, model::StateLayout layout) : m_name(std::move(name)), m_layout(std::move(layout)) {}

    Effects effects;
    /// Where the bit is that this computer's arithmetic gets wrong in a state that it computes, if it gets one wrong.
    std::function<std::optional<std::uint64_t>(RoundId round)> miscalculates;

    /// Changes theta[round], which was just computed; `before` is theta[round - 1]. Its owner is a liar.
    std::function<void(RoundId round, std::span<const float> before, std::span<float> state)> falsifies;

    /// Remembers what a process that dies at this moment leaves; killed() brings it back.
    void freeze(Loss loss) {
        m_frozen = Frozen{m_states, m_record, m_votes, m_evidence, m_false_steps, {}};
        const auto error = m_scratch.find(peer::Scratch::error);
        if (loss == Loss::process && error != m_scratch.end()) m_frozen->error = *error->second;
    }
    /// The process died: begun states are gone, the error feedback (a mapped file) stays, other scratch does not.
    void killed() {
        m_begun.clear();
        m_scratch.erase(peer::Scratch::snapshot);
        m_scratch.erase(peer::Scratch::look_ahead);
        if (!m_frozen) return;
        m_states = std::move(m_frozen->states);
        m_record = std::move(m_frozen->record);
        m_votes = std::move(m_frozen->votes);
        m_evidence = std::move(m_frozen->evidence);
        m_false_steps = std::move(m_frozen->false_steps);
        m_scratch.erase(peer::Scratch::error);
        if (!m_frozen->error.empty()) {
            m_scratch[peer::Scratch::error] = std::make_shared<std::vector<float>>(std::move(m_frozen->error));
        }
        m_frozen.reset();
    }
    /// Digests of all states that were computed here, in any life; adopted ones are not among them.
    [[nodiscard]] const std::vector<Held>& computed() const { return m_computed; }
    /// Flips a bit of the newest state; false if there is none.
    bool damage(std::uint64_t where) { return !m_states.empty() && damage(m_states.rbegin()->first, where); }
    /// The same of theta[round]; the second time mends it.
    bool damage(RoundId round, std::uint64_t where) {
        const auto found = m_states.find(round);
        if (found == m_states.end()) return false;
        flip(*found->second.file, where);
        return true;
    }
    [[nodiscard]] const Bytes* file(const std::string& path) const {
        for (const auto& [round, state] : m_states) {
            if (path == path_of(round)) return state.file.get();
        }
        return nullptr;
    }
    [[nodiscard]] std::uint64_t saves() const { return m_saves; }
    [[nodiscard]] std::uint64_t votes_loaded() const { return m_votes_loaded; }
    std::function<void()> on_save;

    std::vector<Held> held() const override {
        std::vector<Held> list;
        for (const auto& [round, state] : m_states) list.push_back({round, state.digest});
        return list;
    }
    peer::State state(RoundId round) const override {
        const std::shared_ptr<Bytes>& file = m_states.at(round).file;
        return {*file, parameters_in(*file), file};
    }
    peer::VectorPlace state_place(RoundId round) const override { return {path_of(round), m_layout.header.size()}; }
    std::filesystem::path state_file(RoundId round) const override { return path_of(round); }

    Result<peer::Vector> begin_state(RoundId round) override {
        const auto file = std::make_shared<Bytes>(m_layout.header);
        file->resize(m_layout.file_size());
        m_begun[round] = file;
        return peer::Vector{parameters_in(*file), file};
    }
    Result<StateDigest> commit_state(RoundId round) override {
        effects.before(Effect::commit);
        auto begun = m_begun.extract(round);
        POTLUCK_CHECK(!begun.empty());
        if (const auto where = miscalculates ? miscalculates(round) : std::nullopt) flip(*begun.mapped(), *where);
        const auto before = m_states.find(RoundId{round.value - 1});
        if (falsifies && before != m_states.end()) {
            falsifies(round, parameters_in(*before->second.file), parameters_in(*begun.mapped()));
        }
        const StateDigest digest = merkle_root(*begun.mapped());
        m_computed.push_back({round, digest});
        m_states[round] = {std::move(begun.mapped()), digest};
        return digest;
    }
    Status adopt_state(RoundId round, const StateDigest& digest, ByteSpan file) override {
        if (merkle_root(file) != digest) return Error{ErrorCode::untrusted, "The fetched state is not the right one."};
        if (const auto parameters = model::parameters_of(m_layout, file); !parameters.ok()) return parameters.error();
        effects.before(Effect::adopt);
        m_states[round] = {std::make_shared<Bytes>(file.begin(), file.end()), digest};
        return {};
    }
    void drop_state(RoundId round) override {
        m_states.erase(round);
        m_begun.erase(round);
    }
    Result<peer::Vector> scratch(peer::Scratch which) override {
        std::shared_ptr<std::vector<float>>& vector = m_scratch[which];
        if (!vector) vector = std::make_shared<std::vector<float>>(m_layout.parameters);
        return peer::Vector{*vector, vector};
    }
    peer::VectorPlace scratch_place(peer::Scratch which) const override {
        return {m_name + "/scratch" + std::to_string(static_cast<int>(which)), 0};
    }
    Status save_record(ByteSpan record) override {
        effects.before(Effect::save);
        m_record = Bytes(record.begin(), record.end());
        ++m_saves;
        if (on_save) on_save();
        return {};
    }
    std::optional<Bytes> load_record() const override { return m_record; }
    Status save_votes(ByteSpan votes) override {
        effects.before(Effect::save);
        m_votes = Bytes(votes.begin(), votes.end());
        return {};
    }
    std::optional<Bytes> load_votes() const override {
        ++m_votes_loaded;
        return m_votes;
    }

    /// Kept by any loss: they are of use and nothing more.
    Status save_judgements(ByteSpan judgements) override {
        m_judgements = Bytes(judgements.begin(), judgements.end());
        return {};
    }
    std::optional<Bytes> load_judgements() const override { return m_judgements; }

    Status save_evidence(const PeerId& author, ByteSpan evidence) override {
        effects.before(Effect::save);
        m_evidence[author] = Bytes(evidence.begin(), evidence.end());
        return {};
    }
    std::vector<Bytes> load_evidence() const override {
        std::vector<Bytes> files;
        for (const auto& [author, file] : m_evidence) files.push_back(file);
        return files;
    }

    Status save_false_step(const Digest& list, ByteSpan evidence) override {
        effects.before(Effect::save);
        m_false_steps[list] = Bytes(evidence.begin(), evidence.end());
        return {};
    }
    std::vector<Digest> false_steps() const override {
        std::vector<Digest> lists;
        for (const auto& [list, file] : m_false_steps) lists.push_back(list);
        return lists;
    }
    std::optional<Bytes> load_false_step(const Digest& list) const override {
        const auto found = m_false_steps.find(list);
        return found == m_false_steps.end() ? std::nullopt : std::optional(found->second);
    }
    Bytes manifest_file() const override { return manifest; }
    Bytes manifest;  // of the run whose states these are

    /// The vector a trainer finds at `place`.
    std::span<float> vector_at(const peer::VectorPlace& place) {
        for (auto& [round, state] : m_states) {
            if (place.file == path_of(round)) return parameters_in(*state.file);
        }
        for (const peer::Scratch which : {peer::Scratch::error, peer::Scratch::snapshot, peer::Scratch::look_ahead}) {
            if (place.file == scratch_place(which).file) return scratch(which)->values;
        }
        return {};
    }

private:
    struct Whole {
        std::shared_ptr<Bytes> file;
        StateDigest digest;
    };
    struct Frozen {
        std::map<RoundId, Whole> states;
        std::optional<Bytes> record, votes;
        std::map<PeerId, Bytes> evidence;
        std::map<Digest, Bytes> false_steps;
        std::vector<float> error;  // empty: lost
    };
    void flip(Bytes& file, std::uint64_t where) const {
        file[m_layout.header.size() + where % (file.size() - m_layout.header.size())] ^= std::byte{0x10};
    }
    [[nodiscard]] std::span<float> parameters_in(Bytes& file) const {
        return {reinterpret_cast<float*>(file.data() + m_layout.header.size()), m_layout.parameters};
    }
    [[nodiscard]] std::string path_of(RoundId round) const { return m_name + "/state" + std::to_string(round.value); }

    std::string m_name;
    model::StateLayout m_layout;
    std::map<RoundId, Whole> m_states;
    std::optional<Bytes> m_judgements;
    std::map<RoundId, std::shared_ptr<Bytes>> m_begun;
    std::map<peer::Scratch, std::shared_ptr<std::vector<float>>> m_scratch;
    std::optional<Bytes> m_record, m_votes;
    std::map<PeerId, Bytes> m_evidence;
    std::map<Digest, Bytes> m_false_steps;
    std::uint64_t m_saves = 0;
    mutable std::uint64_t m_votes_loaded = 0;
    std::optional<Frozen> m_frozen;
    std::vector<Held> m_computed;
};

}  // namespace potluck::sim

// A run of a few rounds as its proof tells it: a signed manifest, lists with certificates, and the state after each
// round. From round 2 on four decide instead of the host alone.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/base/merkle.h"
#include "core/proof/check_proof.h"
#include "core/proof/proof_file.h"
#include "tests/unit/ledger/ledger_chain.h"
#include "tests/unit/run_samples.h"

namespace potluck::test {

class ProofSample {
public:
    static constexpr std::uint64_t host = 100, first_friend = 101;  // who may decide, host included: 100 to 103
    static constexpr std::uint64_t rounds = 4;

    ProofSample() {
        run::Manifest& manifest = m_manifest;
        manifest = run::samples::manifest();
        // Small, so that the search for a changed byte is short.
        manifest.model.vocabulary = 8;
        manifest.tokenizer.kind = run::TokenizerKind::none;
        manifest.initial_state.size = model::state_layout(manifest.model).file_size();
        manifest.host = key(host);
        manifest.backbones.clear();
        manifest.allowed.clear();
        for (const std::uint64_t person : {1U, 2U, 3U, 101U, 102U, 103U}) manifest.allowed.push_back(key(person));
        manifest.initial_state.root = merkle_root(state(0));
        for (std::uint64_t round = 0; round <= rounds; ++round) m_lists.push_back(draft(round));
        commit();
    }

    [[nodiscard]] const RunId& run() const { return m_run; }
    [[nodiscard]] run::Manifest& manifest() { return m_manifest; }
    /// To be changed, and committed again from there on.
    [[nodiscard]] run::AcceptList& list(std::size_t round) { return m_lists[round]; }
    [[nodiscard]] run::CommittedList& committed(std::size_t round) { return m_committed[round]; }

    /// The host shuts a key out with the list of this round.
    void ban(std::size_t round, const PeerId& who) {
        run::SignedAction one;
        one.action = run::samples::ban(1);
        one.action.key = who;
        const Bytes bytes = signed_bytes(m_run, one.action);
        one.signature = person(host).sign(run::domain_of(run::MessageKind::host_action), bytes);
        m_lists[round].actions = {one};
        for (std::size_t later = round + 1; later < m_lists.size(); ++later) m_lists[later].actions_before = 1;
        commit();
    }

    /// theta[round] as a file.
    [[nodiscard]] Bytes state(std::uint64_t round) const {
        const model::StateLayout layout = model::state_layout(m_manifest.model);
        ByteWriter out;
        for (const std::byte byte : layout.header) out.u8(std::to_integer<std::uint8_t>(byte));
        for (std::uint64_t i = 0; i < layout.parameters; ++i) out.f32(static_cast<float>(i + 1000 * round));
        return out.take();
    }

    /// Signs contributions, links and certificates of the lists as they are now.
    void commit() {
        m_committed.clear();
        std::vector<std::uint64_t> deciding{host};
        for (std::size_t round = 0; round < m_lists.size(); ++round) {
            run::AcceptList& list = m_lists[round];
            list.run = m_run;
            list.previous = round == 0 ? Digest{} : m_lists[round - 1].hash();
            for (run::Accepted& entry : list.entries) sign(list, entry);
            const run::Committee committee = *run::Committee::from_keys(keys_of(deciding));
            std::vector<const identity::Identity*> signers;
            for (std::size_t i = 0; i < committee.quorum(); ++i) signers.push_back(&person(deciding[i]));
            m_committed.push_back({list.encode(), certificate_of(list, signers, committee)});
            deciding = list.committee.size() == 1 ? std::vector<std::uint64_t>{host} : friends();
        }
    }

    /// The proof of theta[round]; of an initial state without a list if `lists` is 0.
    [[nodiscard]] Bytes proof(std::uint64_t round = rounds, std::uint64_t lists = rounds + 1) const {
        std::vector<std::size_t> all(lists);
        std::iota(all.begin(), all.end(), std::size_t{0});
        return proof_of(round, all, {});
    }
    /// With these lists, and a table of those before one of them.
    [[nodiscard]] Bytes proof_of(std::uint64_t round, const std::vector<std::size_t>& lists, ByteSpan table) const {
        const Bytes content = state(round);
        return written(round, merkle_layer(content, proof::piece_size_of(content.size())), lists, table);
    }
    /// What a receipt holds: all lists, and no hash of a piece.
    [[nodiscard]] Bytes history() const {
        std::vector<std::size_t> all(rounds + 1);
        std::iota(all.begin(), all.end(), std::size_t{0});
        return written(rounds, {}, all, {});
    }

    [[nodiscard]] static std::vector<std::uint64_t> friends() { return {100, 101, 102, 103}; }
    [[nodiscard]] static std::vector<PeerId> keys_of(const std::vector<std::uint64_t>& people) {
        std::vector<PeerId> keys;
        for (const std::uint64_t number : people) keys.push_back(key(number));
        std::sort(keys.begin(), keys.end());
        return keys;
    }

    /// An entry of this person's, to be signed by commit().
    [[nodiscard]] static run::Accepted entry(std::uint64_t number, std::uint64_t round, std::uint64_t tokens) {
        run::Accepted entry;
        entry.peer = key(number);
        entry.payload = run::samples::plain_blob(static_cast<std::uint8_t>(16 * round + number), 100);
        entry.tokens = {tokens};
        return entry;
    }

private:
    [[nodiscard]] Bytes written(std::uint64_t round, const std::vector<Digest>& pieces,
                                const std::vector<std::size_t>& lists, ByteSpan table) const {
        const std::string json = m_manifest.to_json_text();
        const Bytes manifest =
            run::manifest_file(as_bytes(json), person(host).sign(run::manifest_domain, as_bytes(json)));
        ByteWriter out;
        for (const std::byte byte : encode(proof::ProofHead{manifest, {round}, pieces, table, lists.size()}))
            out.u8(std::to_integer<std::uint8_t>(byte));
        for (const std::size_t list : lists) wire::write(out, m_committed[list]);
        return out.take();
    }

    [[nodiscard]] run::AcceptList draft(std::uint64_t round) const {
        run::AcceptList list;
        list.round = {round};
        list.base = merkle_root(state(round));
        list.k = m_manifest.recipe.k;
        list.committee = keys_of(round == 0 ? std::vector<std::uint64_t>{host} : friends());
        if (round == rounds) return list;  // nobody contributes to what nobody applies
        for (const std::uint64_t number : {1U, 2U, 3U}) {
            if (number <= round + 1) list.entries.push_back(entry(number, round, 100 * number));
        }
        std::sort(list.entries.begin(), list.entries.end());
        return list;
    }
    static void sign(const run::AcceptList& list, run::Accepted& entry) {
        for (const std::uint64_t number : {1U, 2U, 3U, 77U}) {
            if (key(number) != entry.peer) continue;
            const Bytes bytes = signed_bytes(list.run, run::contribution_of(list, entry));
            entry.signature = person(number).sign(run::domain_of(run::MessageKind::contribution), bytes);
        }
    }

    RunId m_run = id<RunId>(7);
    run::Manifest m_manifest;
    std::vector<run::AcceptList> m_lists;
    std::vector<run::CommittedList> m_committed;
};

}  // namespace potluck::test

// The chain is walked list by list from the proof's bytes (run::ChainWalk), so memory holds one list and the sums, not
// the history. Beside links and signatures each list must be one that may follow (run::check_link): a committee that
// nobody vouched for, or a contributor who was shut out, makes a chain that this run never had, with any signature.
//
// With a table the walk may leave out lists up to L[t-1]; from L[t] on, which names the table, all are there, and the
// host's changes that hold are the table's.
//
// Credit counts the lists before the last, since L[round] certifies theta[round] and only then adds to it. The digest
// of a state follows from the hashes of its pieces, which are compared with a file's piece by piece; the state's layout
// follows from the manifest, so the names of tensors in a message are the run's, not the file's.
#include "core/proof/check_proof.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/merkle.h"
#include "core/model/state_layout.h"
#include "core/run/agreement/chain_walk.h"
#include "core/run/agreement/vote.h"
#include "core/run/run_rules.h"

namespace potluck::proof {

namespace {

/// Pieces hashed between two reports of progress, in bytes.
constexpr std::uint64_t slice_bytes = 64ULL << 20U;

Error forged(const std::string& what) { return {ErrorCode::untrusted, what}; }

Error forged_list(RoundId round, const std::string& fault) {
    return forged("The list of round " + std::to_string(round.value) + " in this proof " + fault + ".");
}

std::vector<PeerId> signers_of(const run::CommittedList& list, const std::vector<PeerId>& committee) {
    std::vector<PeerId> signers;
    const Result<run::AgreementMessage> message = run::decode_agreement_message(list.certificate);
    const auto* certificate = message ? std::get_if<run::Certificate>(&*message) : nullptr;
    for (std::size_t i = 0; certificate != nullptr && i < committee.size(); ++i) {
        if ((certificate->signers >> i & 1U) != 0) signers.push_back(committee[i]);
    }
    return signers;
}

/// All lists of a proof, and what follows from them.
Result<Proven> walk_lists(const ProofFile& proof, const RunId& run, const run::Verifier& verifier,
                          const Progress& progress) {
    run::RunRules rules = run::rules_of(run, proof.manifest().manifest);
    run::ChainWalk walk(rules, verifier);
    Proven proven;
    proven.run = run;
    proven.round = proof.round();
    proven.digest = proof.manifest().manifest.initial_state.root;
    Credits credits;
    ByteReader in = proof.lists();
    std::optional<run::AcceptList> before;
    bool is_past_table = !proof.table();
    for (std::uint64_t taken = 0; taken < proof.list_count(); ++taken) {
        const run::CommittedList committed = wire::read<run::CommittedList>(in);
        const run::Gap gap = is_past_table ? run::Gap::refused : run::Gap::allowed;
        if (const std::string fault = walk.take(committed, gap); !fault.empty()) {
            return forged_list(walk.length(), fault);
        }
        const run::AcceptList& list = *walk.head();
        const RoundId round = list.round;
        if (!is_past_table && round < proof.table()->round) {
            if (before && before->committee != list.committee) ++proven.committee_changes;
            before = list;
            continue;
        }
        if (!is_past_table) {
            const bool follows = before && before->round.next() == round && round == proof.table()->round;
            const bool is_named = proof.table()->run == run && list.table == proof.table_ref();
            if (!follows || !is_named) return forged_list(round, "does not name the table of the lists before it");
            credits.begin_with(*proof.table());
            proof.table()->apply_to(rules);
            is_past_table = true;
        }
        const run::Verdict verdict = run::check_link(list, before ? &*before : nullptr, rules);
        if (verdict != run::Verdict::accepted) {
            return forged_list(round, std::string("may not follow the one before it (") + run::name_of(verdict) + ")");
        }
        if (round.value == 0 && list.base != proven.digest) {
            return forged_list(round, "does not begin with the initial state of the run's description");
        }
        const bool certifies = round == proof.round();
        if (certifies) {
            proven.digest = list.base;
            proven.term = list.term;
            proven.committee = walk.committee_of_head();
            proven.signers = signers_of(committed, proven.committee);
        } else {
            credits.add(list);
            if (before && before->committee != list.committee) ++proven.committee_changes;
            for (const run::SignedAction& one : list.actions) proven.actions.push_back(run::describe(one.action));
        }
        rules.follow(list);
        before = list;
        if (progress) progress(static_cast<double>(taken + 1) / static_cast<double>(proof.list_count()));
    }
    const bool leads_there = proof.list_count() == 0 || (is_past_table && walk.length() == proof.round().next());
    if (!leads_there) return forged("The lists in this proof do not lead to the round that it speaks of.");
    proven.tokens = credits.tokens();
    proven.contributions = credits.contributions();
    proven.contributors = credits.contributors();
    proven.curve = rules.curve;
    return proven;
}

/// "h.0.attn.c_attn.weight[128..4223]" for what of each tensor lies in these bytes of a state file.
std::vector<std::string> places_in(const model::ModelSpec& model, std::uint64_t header, std::uint64_t begin,
                                   std::uint64_t end) {
    std::vector<std::string> places;
    if (begin < header) places.emplace_back("header");
    if (end <= header) return places;
    const std::uint64_t first = begin < header ? 0 : (begin - header) / 4;
    const std::uint64_t last = (end - header + 3) / 4;
    for (const model::TensorSpec& tensor : model::tensors_of(model)) {
        const std::uint64_t from = std::max(first, tensor.offset);
        const std::uint64_t to = std::min(last, tensor.offset + tensor.elements());
        if (from >= to) continue;
        if (places.size() == places_max) break;
        places.push_back(tensor.name + "[" + std::to_string(from - tensor.offset) + ".." +
                         std::to_string(to - tensor.offset - 1) + "]");
    }
    return places;
}

/// Hashes of the pieces of `file` from byte `at` on, a slice at a time. Of several pieces the last is lifted to the
/// height of a whole one, as in the tree.
std::vector<Digest> hash_slice(ByteSpan file, std::uint64_t at, std::uint64_t piece, unsigned threads) {
    const std::uint64_t step = std::max(piece, slice_bytes / piece * piece);
    const ByteSpan slice = file.subspan(at, std::min<std::uint64_t>(step, file.size() - at));
    if (slice.size() > piece) return merkle_layer(slice, piece, threads);
    return {merkle_last_piece(merkle_root(slice, threads), slice.size(), piece)};
}

}  // namespace

Result<Proven> check_history(const ProofFile& proof, const RunId& run, const run::Verifier& verifier,
                             const Progress& progress) {
    const run::SignedManifest& manifest = proof.manifest();
    if (!verifier.verify(manifest.manifest.host, run::manifest_domain, manifest.json, manifest.signature)) {
        return forged("The run's description in this proof is not signed by the host that it names.");
    }
    return walk_lists(proof, run, verifier, progress);
}

Result<Proven> check_proof(const ProofFile& proof, const RunId& run, const run::Verifier& verifier,
                           const Progress& progress) {
    Result<Proven> proven = check_history(proof, run, verifier, progress);
    if (!proven) return proven.error();
    const std::uint64_t size = proof.manifest().manifest.initial_state.size;
    if (merkle_root_of_layer(proof.pieces(), size, piece_size_of(size)) != proven->digest) {
        return forged(
            "The hashes of the state's pieces in this proof do not lead to the state that was agreed on after "
            "round " +
            std::to_string(proof.round().value) + ".");
    }
    return proven;
}

Result<StateCheck> check_state(const ProofFile& proof, ByteSpan file, unsigned threads, const Progress& progress) {
    const run::Manifest& manifest = proof.manifest().manifest;
    const std::uint64_t size = manifest.initial_state.size;
    if (file.size() != size) {
        return Error{ErrorCode::untrusted, "The model has " + std::to_string(file.size()) +
                                               " bytes where the state has " + std::to_string(size) +
                                               "; it is cut short, or of another run."};
    }
    const std::uint64_t header = size - 4 * manifest.model.parameters();
    StateCheck check{proof.pieces().size(), piece_size_of(size), {}};
    std::size_t piece = 0;
    for (std::uint64_t at = 0; at < size;) {
        const std::vector<Digest> hashes = hash_slice(file, at, check.piece_size, threads);
        for (const Digest& hash : hashes) {
            const std::uint64_t end = std::min(at + check.piece_size, size);
            if (hash != proof.pieces()[piece]) {
                const bool goes_on = !check.damaged.empty() && check.damaged.back().end == at;
                if (!goes_on) check.damaged.push_back({at, end, {}});
                check.damaged.back().end = end;
            }
            at = end;
            ++piece;
        }
        if (progress) progress(static_cast<double>(at) / static_cast<double>(size));
    }
    for (Damage& one : check.damaged) one.places = places_in(manifest.model, header, one.begin, one.end);
    return check;
}

}  // namespace potluck::proof

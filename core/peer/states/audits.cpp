// A word differs from this member's own step either because the seat lied or because this computer was wrong, and F is
// computed anew to tell: from the payloads' bytes, whose hashes the list names. Where the same does not come out twice
// nobody is convicted.
//
// Only seats of a list can cause that work, once for each word, and it costs them their seats. Words of keys that have
// no seat of the list are kept only until the list is known.
//
// Jobs own what they read: the list, pointers to payloads, and a copy of the recipe. Threads: the peer's.
#include "core/peer/states/audits.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/log.h"
#include "core/peer/states/weighted_list.h"
#include "core/proof/true_step.h"
#include "core/run/agreement/vote.h"

namespace potluck::peer {

static_assert(proof::payload_key_bytes == payload_author_bytes);

struct Audits::Case {
    StateStore& store;
    run::AcceptList list;
    Digest hash;
    std::vector<PayloadPointer> payloads;         // of the entries that have weight
    run::BlobRef step = {};                       // as this member has made it
    std::vector<proof::SignedStep> accused = {};  // of another
    run::Recipe recipe;
    std::uint64_t parameters = 0;
    unsigned threads = 1;
    bool keeps_proof = false;
};

struct Audits::Finding {
    Status same;  // step as before
    bool on_disk = false;
    Status kept;
};

namespace {

std::vector<ByteSpan> blobs_of(const std::vector<PayloadPointer>& payloads) {
    std::vector<ByteSpan> blobs;
    blobs.reserve(payloads.size());
    for (const PayloadPointer& payload : payloads) blobs.push_back(payload->blob->bytes());
    return blobs;
}

}  // namespace

void Audits::heard(const proof::SignedStep& word) {
    auto& of_round = m_words[word.message.round];
    if (of_round.size() >= step_signers_max) keep_seats(word.message.round, of_round);
    if (!of_round.contains(word.seat) && of_round.size() >= step_signers_max) return;
    std::vector<proof::SignedStep>& words = of_round[word.seat];
    // What was said of lists that were not to be this round's makes room.
    if (words.size() >= words_of_seat_max && word.message.round < m.chain.height()) {
        const Digest list = m.chain.hash_at(word.message.round);
        std::erase_if(words, [&](const proof::SignedStep& one) { return one.message.list != list; });
    }
    const bool is_known = std::any_of(words.begin(), words.end(), [&](const proof::SignedStep& one) {
        return one.message.list == word.message.list && one.message.step == word.message.step;
    });
    if (is_known || words.size() >= words_of_seat_max) return;
    words.push_back(word);
    judge(word.message.list);
}

/// Those who could have had a seat make room for those who have one, once the list is known.
void Audits::keep_seats(RoundId round, std::map<PeerId, std::vector<proof::SignedStep>>& words) const {
    const auto list = round < m.chain.height() ? m.chain.list_at(round) : std::nullopt;
    if (!list) return;
    std::erase_if(words, [&](const auto& one) { return !run::has_seat(list->committee, one.first); });
}

void Audits::computed(RoundId round, const Digest& list, const run::BlobRef& step) {
    m_true.insert_or_assign(list, True{round, step});
    judge(list);
}

bool Audits::is_false(const Digest& list, const run::BlobRef& step) const {
    const auto known = m_true.find(list);
    return known != m_true.end() && known->second.step != step;
}

/// One word of each seat that is not `step`, in the order of their keys.
std::vector<proof::SignedStep> Audits::differing(RoundId round, const Digest& list, const run::BlobRef& step) const {
    std::vector<proof::SignedStep> found;
    const auto of_round = m_words.find(round);
    if (of_round == m_words.end()) return found;
    for (const auto& [seat, words] : of_round->second) {
        const auto word = std::find_if(words.begin(), words.end(), [&](const proof::SignedStep& one) {
            return one.message.list == list && one.message.step != step;
        });
        if (word != words.end()) found.push_back(*word);
    }
    return found;
}

/// The payloads of entries that have weight; nothing while one is not here.
std::optional<std::vector<PayloadPointer>> Audits::payloads_of(const run::AcceptList& list) const {
    std::vector<PayloadPointer> payloads;
    const std::vector<TokenCount> weights = run::weights_of(list);
    for (std::size_t i = 0; i < list.entries.size(); ++i) {
        if (weights[i].value == 0) continue;
        payloads.push_back(m.payloads.find(list.entries[i].payload.root));
        if (!payloads.back()) return std::nullopt;
    }
    return payloads;
}

void Audits::took_step(RoundId round, const Digest& list, std::uint64_t step_bytes) {
    if (m_audit && m_audit->list.round.value + audit_rounds_max <= round.value) m_audit.reset();
    auto committed = m.chain.list_at(round);
    if (m_audit || !committed || m.chain.hash_at(round) != list) return;
    if (audit_lot(m.context.identity, list) >= audit_odds(step_bytes, payload_bytes_of(*committed))) return;
    (void)begin(round, list);
}

bool Audits::begin(RoundId round, const Digest& list) {
    auto committed = m.chain.list_at(round);
    if ((m_audit && m_audit->computing) || !committed || m.chain.hash_at(round) != list) return false;
    m_audit = Audit{std::move(*committed), list};
    m.payloads.want_accepted(m_audit->list, m.context.now(), Payloads::Holders::seats);
    look();
    return true;
}

void Audits::look() {
    if (!m_audit || m_audit->computing) return;
    auto payloads = payloads_of(m_audit->list);
    if (!payloads) return;
    m_audit->computing = true;
    const auto in = std::make_shared<const Case>(Case{.store = m.store,
                                                      .list = m_audit->list,
                                                      .hash = m_audit->hash,
                                                      .payloads = std::move(*payloads),
                                                      .recipe = m.context.manifest.recipe,
                                                      .parameters = m.context.layout.parameters,
                                                      .threads = m.context.settings.threads});
    m.jobs.run([in] { return step_of(*in); },
               [this, in](const Result<std::optional<run::BlobRef>>& step) {
                   m_audit.reset();
                   if (!step.ok() || !*step) return;
                   ++m_audited;
                   log::of("peer").info("audited the step of round {}", in->list.round.value);
                   computed(in->list.round, in->hash, **step);
               });
}

void Audits::judge(const Digest& list) {
    const auto known = m_true.find(list);
    if (known == m_true.end() || m_examined.contains(list)) return;
    const RoundId round = known->second.round;
    auto committed = m.chain.list_at(round);
    if (!committed || m.chain.hash_at(round) != list) return;
    std::vector<proof::SignedStep> accused = differing(round, list, known->second.step);
    std::erase_if(accused, [&](const proof::SignedStep& one) {
        return one.seat == m.context.self() || !proof::speaks_of(one, *committed, list);
    });
    const bool is_news = std::any_of(accused.begin(), accused.end(),
                                     [&](const proof::SignedStep& one) { return !m_lies.contains(one.seat); });
    if (!is_news) return;
    auto payloads = payloads_of(*committed);
    if (!payloads) return;
    m_examined.insert(list);
    const bool keeps_proof = m_files.contains(list) || m_files.size() < false_steps_kept_max;
    const auto in = std::make_shared<const Case>(
        Case{m.store, std::move(*committed), list, std::move(*payloads), known->second.step, std::move(accused),
             m.context.manifest.recipe, m.context.layout.parameters, m.context.settings.threads, keeps_proof});
    m.jobs.run([in] { return examine(*in); }, [this, in](const Finding& found) { on_finding(*in, found); });
}

Result<std::optional<run::BlobRef>> Audits::step_of(const Case& in) {
    return proof::true_step(in.list, blobs_of(in.payloads), {in.recipe, in.parameters}, in.threads);
}

/// By other kernels than those of a round, so that one that is wrong on this kind of processor convicts nobody.
Audits::Finding Audits::examine(const Case& in) {
    Finding found;
    const auto step =
        proof::true_step(in.list, blobs_of(in.payloads), {in.recipe, in.parameters}, in.threads, Isa::baseline);
    if (!step.ok()) {
        found.same = step.error();
        return found;
    }
    if (*step != in.step) {
        found.same =
            Error{ErrorCode::untrusted, "It came out otherwise the second time; this computer was wrong once."};
        return found;
    }
    std::vector<ByteSpan> blobs = blobs_of(in.payloads);
    std::uint64_t bytes = 0;
    for (const ByteSpan& blob : blobs) bytes += blob.size();
    const Bytes manifest = in.store.manifest_file();
    if (!in.keeps_proof || manifest.empty() || bytes > proof::false_step_payloads_max) return found;
    found.kept =
        in.store.save_false_step(in.hash, proof::FalseStep{manifest, in.list, in.accused, std::move(blobs)}.encode());
    found.on_disk = found.kept.ok();
    return found;
}

void Audits::on_finding(const Case& in, const Finding& found) {
    m_examined.erase(in.hash);
    if (!found.same.ok()) {
        m.errors.report("The step of round " + std::to_string(in.list.round.value) +
                        " cannot be checked: " + found.same.error().message);
        m_true.erase(in.hash);
        return;
    }
    if (!found.kept.ok()) m.errors.report(found.kept.error().message);
    if (found.on_disk) m_files.insert(in.hash);
    for (const proof::SignedStep& word : in.accused) convict(word, in.list, found.on_disk);
    judge(in.hash);  // what was heard meanwhile
}

/// The first proof that a key lied is as good as all others.
void Audits::convict(const proof::SignedStep& word, const run::AcceptList& list, bool on_disk) {
    m.seats.convict(word.seat, run::person_in(list.committee_owners, word.seat));
    if (!m_lies.try_emplace(word.seat, Lie{list.round, word.message.list, on_disk}).second) return;
    log::of("peer").error("{} has signed {}: its seat goes to the next trusted member that can take it",
                          word.seat.hex(), proof::describe_false_step(list.round));
}

void Audits::load() { load_next(m.store.false_steps()); }

/// One after the other: each is as long as the payloads of a round.
void Audits::load_next(std::vector<Digest> left) {
    if (left.empty()) return;
    struct Read {
        StateStore& store;
        Digest list;
        RunId run;
        unsigned threads;
    };
    const Digest list = left.back();
    left.pop_back();
    m.jobs.run(
        [in = Read{m.store, list, m.context.run, m.context.settings.threads}]() -> Result<proof::ProvenFalse> {
            const auto file = in.store.load_false_step(in.list);
            if (!file) return Error{ErrorCode::io, "It cannot be read."};
            return proof::check_false_step(*file, in.run, run::Ed25519Verifier(), in.threads);
        },
        [this, list, left](const Result<proof::ProvenFalse>& read) {
            if (!read.ok() || read->list != list) {
                log::of("peer").warn("a file of evidence is damaged or of another run, and is left aside");
            } else {
                m_files.insert(list);
                for (std::size_t i = 0; i < read->seats.size(); ++i) {
                    m.seats.convict(read->seats[i], read->persons[i]);
                    m_lies.try_emplace(read->seats[i], Lie{read->round, list, true});
                }
            }
            load_next(left);
        });
}

bool Audits::is_by_liars(const CheckedList& decided) const {
    if (m_lies.empty()) return false;
    const Result<run::AgreementMessage> message = run::decode_agreement_message(decided.committed.certificate);
    const auto* certificate = message.ok() ? std::get_if<run::Certificate>(&*message) : nullptr;
    const Result<run::Committee> committee = run::Committee::from_keys(m.chain.committee());
    if (certificate == nullptr || !committee.ok()) return false;
    std::size_t unconvicted = 0;
    for (std::size_t i = 0; i < committee->size(); ++i) {
        const bool has_signed = (certificate->signers >> i & 1U) != 0;
        unconvicted += has_signed && !m_lies.contains(committee->members()[i]) ? 1 : 0;
    }
    return unconvicted <= committee->faults();
}

void Audits::forget_before(RoundId round) {
    m_words.erase(m_words.begin(), m_words.lower_bound(round));
    std::erase_if(m_true, [&](const auto& one) { return one.second.round < round; });
}

}  // namespace potluck::peer

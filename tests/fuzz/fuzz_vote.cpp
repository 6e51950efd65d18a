// What committee members send and keep. The first byte says what follows: a message (0), evidence (1) or the record of
// one's own votes without its SHA-256 (2), which is added here, because no mutation would guess it. What decodes
// encodes to the same bytes, and a machine that holds every signature for genuine takes a message once.
#include <algorithm>

#include "core/base/sha256.h"
#include "core/run/agreement/agreement.h"
#include "tests/fuzz/fuzz_target.h"

using namespace potluck;
using namespace potluck::run;

namespace {

bool equal(ByteSpan a, ByteSpan b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

/// Signs nothing and believes everything, so that inputs come as far as they can.
class Credulous final : public Keyring {
public:
    const PeerId& self() const override { return m_self; }
    identity::Signature sign(std::string_view, ByteSpan) const override { return {}; }
    bool verify(const PeerId&, std::string_view, ByteSpan, const identity::Signature&) const override { return true; }

private:
    PeerId m_self;
};

class NoLists final : public ListSource {
public:
    Validity validity(const Digest& list) override {
        return std::to_integer<int>(list.bytes[0]) % 2 == 0 ? Validity::valid : Validity::invalid;
    }
    std::optional<Digest> list_to_propose() override { return std::nullopt; }
};

template <class Statement>
Agreement machine_for(const Statement& statement, const PeerId& author, const Keyring& keyring, ListSource& lists) {
    PeerId other = author;
    other.bytes[31] ^= std::byte{1};
    std::vector<PeerId> keys{author, other};
    if (!author.is_zero() && !other.is_zero()) keys.emplace_back();  // the machine's own
    return Agreement({statement.instance, *Committee::from_keys(keys), {}, {}}, keyring, lists, {});
}

void take_message(const AgreementMessage& message) {
    const Credulous keyring;
    NoLists lists;
    const auto* vote = std::get_if<SignedVote>(&message);
    const auto* proposal = std::get_if<SignedProposal>(&message);
    if (vote == nullptr && proposal == nullptr) return;
    Agreement machine = vote != nullptr ? machine_for(vote->statement, vote->author, keyring, lists)
                                        : machine_for(proposal->statement, proposal->author, keyring, lists);
    (void)machine.start({});
    Actions actions = machine.receive(message, {});
    if (actions.persist) {
        POTLUCK_CHECK(VoteRecord::decode(actions.persist->record.encode()).ok());
        (void)machine.persisted(actions.persist->number, {});
    }
    POTLUCK_CHECK(machine.receive(message, {}).verdict != VoteVerdict::accepted);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const ByteSpan bytes = fuzz::input(data, size).subspan(1);
    if (data[0] == 0) {
        const Result<AgreementMessage> message = decode_agreement_message(bytes);
        if (!message.ok()) return 0;
        POTLUCK_CHECK(equal(encode(*message), bytes));
        take_message(*message);
    } else if (data[0] == 1) {
        const Result<Evidence> evidence = Evidence::decode(bytes);
        if (!evidence.ok()) return 0;
        POTLUCK_CHECK(equal(evidence->encode(), bytes) && contradict(evidence->first, evidence->second));
    } else {
        ByteWriter out;
        out.raw(bytes);
        out.raw(sha256(bytes).bytes);
        const Result<VoteRecord> record = VoteRecord::decode(out.bytes());
        if (record.ok()) POTLUCK_CHECK(equal(record->encode(), out.bytes()));
    }
    return 0;
}

#include "core/run/agreement/vote_record.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/sha256.h"

namespace potluck::run {

namespace {

constexpr std::string_view record_magic = "PLKVOT1\n";
constexpr std::size_t digest_bytes = 32;

enum class Present : std::uint8_t { locked = 1, valid = 2, proposal = 4, prevote = 8, precommit = 16 };
constexpr std::uint8_t present_all = 31;

std::uint8_t flag(bool is_there, Present part) { return is_there ? static_cast<std::uint8_t>(part) : std::uint8_t{0}; }

bool has(std::uint8_t parts, Present part) { return (parts & static_cast<std::uint8_t>(part)) != 0; }

template <class Statement>
std::optional<Signed<Statement>> read_own(ByteReader& in) {
    const AgreementMessage message = read_agreement_message(in);
    const auto* own = std::get_if<Signed<Statement>>(&message);
    if (own != nullptr) return *own;
    in.fail();
    return std::nullopt;
}

template <class Statement>
bool is_own(const VoteRecord& record, const std::optional<Signed<Statement>>& message) {
    return !message || (message->author == record.author && message->statement.instance == record.instance &&
                        message->statement.view == record.view);
}

/// What `encode` never writes: another member's messages as its own, a lock without its polka.
bool is_consistent(const VoteRecord& record) {
    if (!is_own(record, record.proposal) || !is_own(record, record.prevote) || !is_own(record, record.precommit)) {
        return false;
    }
    if (record.prevote && record.prevote->statement.step != Step::prevote) return false;
    if (record.precommit && record.precommit->statement.step != Step::precommit) return false;
    const std::optional<Certificate>& valid = record.valid;
    if (valid && (valid->instance != record.instance || valid->step != Step::prevote)) return false;
    return !record.locked || (valid && valid->view >= record.locked->view && record.locked->view <= record.view);
}

void read_parts(ByteReader& in, std::uint8_t parts, VoteRecord& record) {
    if (has(parts, Present::locked)) {
        record.locked.emplace().view = read_view(in);
        in.array(record.locked->list.bytes);
    }
    if (has(parts, Present::valid)) record.valid = wire::read<Certificate>(in);
    if (has(parts, Present::proposal)) record.proposal = read_own<Proposal>(in);
    if (has(parts, Present::prevote)) record.prevote = read_own<Vote>(in);
    if (has(parts, Present::precommit)) record.precommit = read_own<Vote>(in);
    const std::size_t entries = in.u8();
    if (entries > entry_messages_max) in.fail();
    for (std::size_t i = 0; i < entries && !in.failed(); ++i) record.entry.push_back(read_agreement_message(in));
}

}  // namespace

Bytes VoteRecord::encode() const {
    POTLUCK_CHECK(entry.size() <= entry_messages_max && is_consistent(*this));
    ByteWriter out;
    out.raw(as_bytes(record_magic));
    out.raw(author.bytes);
    wire::write(out, instance);
    out.u32(view);
    out.u8(static_cast<std::uint8_t>(
        flag(locked.has_value(), Present::locked) | flag(valid.has_value(), Present::valid) |
        flag(proposal.has_value(), Present::proposal) | flag(prevote.has_value(), Present::prevote) |
        flag(precommit.has_value(), Present::precommit)));
    if (locked) {
        out.u32(locked->view);
        out.raw(locked->list.bytes);
    }
    if (valid) wire::write(out, *valid);
    if (proposal) write(out, AgreementMessage(*proposal));
    if (prevote) write(out, AgreementMessage(*prevote));
    if (precommit) write(out, AgreementMessage(*precommit));
    out.u8(static_cast<std::uint8_t>(entry.size()));
    for (const AgreementMessage& message : entry) write(out, message);
    const Digest digest = sha256(out.bytes());
    out.raw(digest.bytes);
    POTLUCK_CHECK(out.bytes().size() <= vote_record_bytes_max);
    return out.take();
}

Result<VoteRecord> VoteRecord::decode(ByteSpan bytes) {
    const Error damaged{ErrorCode::malformed, "The record of this computer's votes is damaged."};
    if (bytes.size() < digest_bytes || bytes.size() > vote_record_bytes_max) return damaged;
    const ByteSpan content = bytes.first(bytes.size() - digest_bytes);
    const Digest digest = sha256(content);
    if (!std::equal(digest.bytes.begin(), digest.bytes.end(), bytes.end() - digest_bytes)) return damaged;
    ByteReader in(content);
    if (as_text(in.raw(record_magic.size())) != record_magic) return damaged;
    VoteRecord record;
    in.array(record.author.bytes);
    wire::read(in, record.instance);
    record.view = read_view(in);
    const std::uint8_t parts = in.u8();
    if (parts > present_all) return damaged;
    read_parts(in, parts, record);
    if (!in.finished() || !is_consistent(record)) return damaged;
    return record;
}

}  // namespace potluck::run

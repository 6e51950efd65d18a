// An accept list from anybody. What decodes is sorted, bounded and encodes to the same bytes, and what its entries
// weigh stays within the bounds that claims of tokens cannot move.
#include <algorithm>
#include <set>

#include "core/run/accept_list.h"
#include "tests/fuzz/fuzz_target.h"

using namespace potluck;
using namespace potluck::run;

namespace {

void check_weights(const std::vector<Accepted>& entries) {
    const std::vector<TokenCount> weights = weights_of(entries, {});
    POTLUCK_CHECK(weights.size() == entries.size());
    std::uint64_t newcomers = 0, others = 0;
    bool has_others = false;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        POTLUCK_CHECK(weights[i].value <= entries[i].tokens.value);
        POTLUCK_CHECK(weights[i].value > 0 || entries[i].newcomer);
        (entries[i].newcomer ? newcomers : others) += weights[i].value;
        has_others = has_others || !entries[i].newcomer;
    }
    POTLUCK_CHECK(!has_others || newcomers <= others / newcomer_divisor);
    POTLUCK_CHECK(entries.empty() || newcomers + others > 0);
}

/// Numbered without a gap, and what takes the model back is alone.
void check_actions(const AcceptList& list) {
    POTLUCK_CHECK(list.actions_before <= action_number_max && list.actions.size() <= actions_per_list_max);
    for (std::size_t i = 0; i < list.actions.size(); ++i) {
        const HostAction& action = list.actions[i].action;
        POTLUCK_CHECK(action.number == list.actions_before + i + 1 && action.number <= action_number_max);
        if (action.kind != ActionKind::roll_back) continue;
        POTLUCK_CHECK(list.roll_back() == &action && list.entries.empty() && action.round.value <= round_max);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const ByteSpan bytes = fuzz::input(data, size);
    const Result<AcceptList> list = AcceptList::decode(bytes);
    if (!list.ok()) return 0;
    POTLUCK_CHECK(list->term <= term_max && list->entries.size() <= accepted_max);
    POTLUCK_CHECK(!list->committee.empty() && list->committee.size() <= committee_members_max);
    std::set<BlobId> payloads;
    for (std::size_t i = 0; i < list->entries.size(); ++i) {
        const Accepted& entry = list->entries[i];
        POTLUCK_CHECK(entry.tokens.value >= 1 && entry.tokens.value <= tokens_max);
        POTLUCK_CHECK(entry.payload.kind == BlobKind::plain && entry.payload.size >= 1);
        POTLUCK_CHECK(i == 0 || list->entries[i - 1].peer < entry.peer);
        POTLUCK_CHECK(payloads.insert(entry.payload.root).second);
    }
    for (std::size_t i = 1; i < list->committee.size(); ++i) {
        POTLUCK_CHECK(list->committee[i - 1] < list->committee[i]);
    }
    check_weights(list->entries);
    check_actions(*list);
    const Bytes again = list->encode();
    POTLUCK_CHECK(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
    return 0;
}

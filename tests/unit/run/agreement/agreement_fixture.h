// One machine for tests, with a disk that writes at once and a source of lists that says what it is told to.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "core/run/agreement/agreement.h"
#include "tests/unit/run/agreement/committee_fixture.h"

namespace potluck::run::testing {

class KnownLists final : public ListSource {
public:
    Validity validity(const Digest& list) override {
        const auto found = known.find(list);
        return found == known.end() ? Validity::unknown : found->second;
    }
    std::optional<Digest> list_to_propose() override {
        ++asked;
        return own;
    }
    std::map<Digest, Validity> known;
    std::optional<Digest> own;
    int asked = 0;
};

/// One member under test. `step` stands for its disk: it writes every record and hands on what was waiting for it.
class Bench {
public:
    explicit Bench(std::size_t size, std::size_t self = 0) : members(size), m_self(self) { make({}); }

    Actions step(Actions actions) {
        Actions all = std::move(actions);
        std::optional<Actions::Persist> persist = all.persist;
        while (persist) {
            saved = VoteRecord::decode(persist->record.encode()).value();
            Actions more = machine->persisted(persist->number, now);
            persist = more.persist;
            all.send.insert(all.send.end(), more.send.begin(), more.send.end());
            if (more.decided) all.decided = more.decided;
        }
        return all;
    }
    Actions start() { return step(machine->start(now)); }
    Actions receive(const AgreementMessage& message) { return step(machine->receive(message, now)); }
    Actions receive_all(const std::vector<AgreementMessage>& messages) {
        Actions all;
        for (const AgreementMessage& message : messages) {
            Actions more = receive(message);
            all.send.insert(all.send.end(), more.send.begin(), more.send.end());
            all.evidence.insert(all.evidence.end(), more.evidence.begin(), more.evidence.end());
            if (more.decided) all.decided = more.decided;
        }
        return all;
    }
    Actions wait(Duration duration) {
        now = now + duration;
        return step(machine->tick(now));
    }
    /// The process dies and comes back with what is on disk.
    void restart() { make(saved); }
    void make(std::optional<VoteRecord> record) {
        machine.emplace(AgreementSettings{instance(), members.committee, members.previous, times},
                        members.keyrings[m_self], lists, std::move(record));
    }
    Digest list(std::string_view name, Validity validity = Validity::valid) {
        const Digest hash = digest_of(name);
        lists.known[hash] = validity;
        return hash;
    }

    Members members;
    KnownLists lists;
    AgreementTimes times;
    TimePoint now{Duration{1'000}};
    std::optional<VoteRecord> saved;
    std::optional<Agreement> machine;

private:
    std::size_t m_self;
};

/// Votes of one's own step among `messages`.
inline std::vector<Vote> votes_in(const std::vector<AgreementMessage>& messages, const PeerId& author, Step step) {
    std::vector<Vote> votes;
    for (const AgreementMessage& message : messages) {
        const auto* vote = std::get_if<SignedVote>(&message);
        if (vote != nullptr && vote->author == author && vote->statement.step == step) votes.push_back(vote->statement);
    }
    return votes;
}

}  // namespace potluck::run::testing

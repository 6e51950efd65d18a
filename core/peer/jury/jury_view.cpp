#include "core/peer/jury/jury_view.h"

namespace potluck::peer {

namespace {

std::optional<JuryView::Own> own_of(const Juror& juror, const PeerId& person) {
    const run::Judgement* known = juror.tests().find(person);
    if (known == nullptr) return std::nullopt;
    return JuryView::Own{known->judged, known->mean_own(), juror.tests().median().value_or(0), !known->is_enough()};
}

}  // namespace

std::optional<JuryView::Shut> shut_of(const ChainLog& chain, const PeerId& person) {
    const run::SuspendedPersons& all = chain.rules().suspended;
    if (!run::is_suspended(all, person, chain.height())) return std::nullopt;
    JuryView::Shut shut{person, *run::find_suspended(all, person), {}, std::nullopt};
    const auto told = chain.suspensions().find(person);
    if (told == chain.suspensions().end()) return shut;
    shut.since = told->second.round;
    shut.figures = told->second.suspension.verdicts.front().verdict;
    return shut;
}

std::optional<JuryView> jury_view(const Context& context, const ChainLog& chain, const Verdicts& verdicts,
                                  const Juror& juror) {
    if (!chain.rules().has_jury) return std::nullopt;
    JuryView view;
    for (const PeerId& seat : chain.committee()) {
        const Verdicts::Word word = verdicts.word_of(seat);
        view.seats.push_back({seat, word.verdicts, word.unshared});
    }
    for (const run::Suspended& one : chain.rules().suspended) {
        if (auto shut = shut_of(chain, one.person)) view.suspended.push_back(*std::move(shut));
    }
    for (const auto& [person, of_person] : verdicts.all())
        view.accused.push_back({person, of_person.size(), of_person.begin()->second.verdict});
    view.measured = juror.measured();
    view.time_taken = juror.time_taken();
    view.own = own_of(juror, context.self_person());
    const auto against = verdicts.all().find(context.self_person());
    view.against_own = against == verdicts.all().end() ? 0 : against->second.size();
    return view;
}

}  // namespace potluck::peer

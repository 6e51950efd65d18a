#include "ui/members/member_words.h"

#include <QCoreApplication>

#include "ui/client/plain_text.h"

namespace potluck::ui {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(potluck::ui::MemberWords)
};

}  // namespace

QString phaseText(const control::MemberRow& member) {
    switch (member.phase) {
        case run::Phase::joining: return Tr::tr("joining");
        case run::Phase::training: return member.role == run::Role::backbone ? Tr::tr("relaying") : Tr::tr("training");
        case run::Phase::collecting: return Tr::tr("collecting");
        case run::Phase::applying: return Tr::tr("applying");
        case run::Phase::repairing: return Tr::tr("repairing");
        case run::Phase::paused: return Tr::tr("paused");
        case run::Phase::finished: return Tr::tr("finished");
        case run::Phase::leaving: return Tr::tr("leaving");
    }
    return {};
}

QString partText(const control::MemberRow& member) {
    const QString phase = phaseText(member);
    return member.role == run::Role::backbone ? Tr::tr("backbone, %1").arg(phase) : phase;
}

QString memberName(const control::MemberRow& member) {
    const QString name = displayName(member.name, member.id);
    return member.self ? Tr::tr("%1 (you)").arg(name) : name;
}

const std::string& personOf(const control::MemberRow& member) {
    return member.person.empty() ? member.id : member.person;
}

QString withOwner(const control::MemberRow& member, const QString& way, const std::string& ownPerson) {
    if (!member.self && personOf(member) == ownPerson) return Tr::tr("%1, your other computer").arg(way);
    if (member.self || member.person.empty()) return way;
    return Tr::tr("%1, a computer of %2").arg(way, displayName({}, member.person));
}

QString speedText(const control::MemberRow& member) {
    return member.tokens_per_second > 0 ? Tr::tr("%1 tok/s").arg(shortCount(member.tokens_per_second)) : QString();
}

}  // namespace potluck::ui

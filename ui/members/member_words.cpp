#include "ui/members/member_words.h"

#include <QCoreApplication>
#include <QStringList>

#include "ui/client/plain_text.h"

namespace potluck::ui {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(potluck::ui::MemberWords)
};

QString wayText(const control::MemberRow& member, const QString& through) {
    if (member.connected) return Tr::tr("direct, %1").arg(flowText(member));
    return through.isEmpty() ? Tr::tr("through others") : Tr::tr("through %1").arg(through);
}

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
    return member.role == run::Role::backbone ? Tr::tr("relay, %1").arg(phase) : phase;
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

QString flowText(const control::MemberRow& member) {
    return Tr::tr("%1/s to it, %2/s from it")
        .arg(sizeText(member.sent_per_second), sizeText(member.received_per_second));
}

QString memberLine(const control::MemberRow& member, const QString& through, const std::string& ownPerson) {
    QStringList parts{memberName(member), withOwner(member, partText(member), ownPerson)};
    if (member.seat) parts << Tr::tr("confirms rounds");
    if (const QString speed = speedText(member); !speed.isEmpty()) parts << speed;
    if (!member.self) parts << wayText(member, through);
    return parts.join(QStringLiteral(", "));
}

}  // namespace potluck::ui

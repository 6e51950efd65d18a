#include "ui/client/invite_link.h"

#include <QRegularExpression>
#include <QUrl>
#include <QUrlQuery>

#include "core/run/invite.h"
#include "ui/client/plain_text.h"

namespace potluck::ui {

namespace {

constexpr int pasted_characters_max = 64 * 1024;

}  // namespace

bool looksLikeInvite(const QString& text) {
    const QString link = text.trimmed();
    if (link.size() > invite_characters_max) return false;
    return link.startsWith(QLatin1String("potluck:"), Qt::CaseInsensitive) ||
           link.startsWith(QLatin1String("magnet:"), Qt::CaseInsensitive);
}

QString inviteWithin(const QString& text) {
    static const QRegularExpression link(QStringLiteral("(?:potluck|magnet):\\?[^\\s<>\"']+"),
                                         QRegularExpression::CaseInsensitiveOption);
    static const QRegularExpression sentence_end(QStringLiteral("[.,;:!?)]+$"));
    auto found = link.globalMatch(text.left(pasted_characters_max));
    while (found.hasNext()) {
        QString candidate = found.next().captured();
        candidate.remove(sentence_end);
        if (run::Invite::parse(candidate.toStdString()).ok()) return candidate;
    }
    return text.left(invite_characters_max).simplified();
}

QString claimedName(const QString& link) {
    const qsizetype mark = link.indexOf(QLatin1Char('?'));
    if (!looksLikeInvite(link) || mark < 0) return {};
    QString query = link.trimmed().mid(mark + 1);
    query.replace(QLatin1Char('+'), QLatin1String("%20"));
    return plainText(QUrlQuery(query).queryItemValue(QStringLiteral("dn"), QUrl::FullyDecoded), 60);
}

bool namesRun(const QString& link, const QString& run) {
    const auto invite = run::Invite::parse(link.trimmed().toStdString());
    return invite.ok() && invite->run.hex() == run.toStdString();
}

}  // namespace potluck::ui

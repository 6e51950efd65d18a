#include "ui/client/invite_link.h"

#include <QUrl>
#include <QUrlQuery>

#include "core/run/invite.h"
#include "ui/client/plain_text.h"

namespace potluck::ui {

bool looksLikeInvite(const QString& text) {
    const QString link = text.trimmed();
    if (link.size() > invite_characters_max) return false;
    return link.startsWith(QLatin1String("potluck:"), Qt::CaseInsensitive) ||
           link.startsWith(QLatin1String("magnet:"), Qt::CaseInsensitive);
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

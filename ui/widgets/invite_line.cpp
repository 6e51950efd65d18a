#include "ui/widgets/invite_line.h"

#include "ui/client/invite_link.h"

namespace potluck::ui {

InviteLine::InviteLine(const char* name, QWidget* parent) : QLineEdit(parent) {
    setObjectName(QLatin1String(name));
    setPlaceholderText(tr("potluck:?xt=…  or  magnet:?xt=…"));
    setMaxLength(invite_characters_max);
}

QString InviteLine::link() const { return inviteWithin(text()); }

QString InviteLine::problem() const {
    return looksLikeInvite(link()) ? QString()
                                   : tr("An invite begins with potluck: or magnet: – paste the whole link.");
}

}  // namespace potluck::ui

#include "ui/resources/about_card.h"

#include <array>

#include <QPushButton>
#include <QVBoxLayout>

#include "ui/widgets/parts.h"

namespace potluck::ui {

namespace {

struct Library {
    const char* name;
    const char* licence;  // by SPDX
};

constexpr std::array libraries = {
    Library{"Qt", "LGPL-3.0-only"},
    Library{"LibTorch", "BSD-3-Clause"},
    Library{"libtorrent", "BSD-3-Clause"},
    Library{"Boost", "BSL-1.0"},
    Library{"libsodium", "ISC"},
    Library{"SQLite", "blessing"},
    Library{"OpenSSL", "Apache-2.0"},
    Library{"curl", "curl"},
    Library{"libarchive", "BSD-2-Clause"},
    Library{"sentencepiece", "Apache-2.0"},
    Library{"PCRE2", "BSD-3-Clause"},
    Library{"utf8proc", "MIT"},
    Library{"nlohmann-json", "MIT"},
    Library{"CLI11", "BSD-3-Clause"},
    Library{"spdlog, fmt", "MIT"},
    Library{"libpng", "libpng-2.0"},
    Library{"zlib", "Zlib"},
    Library{"libqrencode", "LGPL-2.1-or-later"},
};

}  // namespace

AboutCard::AboutCard(const Desktop& desktop, QWidget* parent) : QFrame(parent) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    const QString version = desktop.own_program ? desktop.own_program().version : QString();
    auto* name = makeLabel(tr("Potluck %1").arg(version).trimmed(), "heading", this);
    name->setObjectName(QStringLiteral("aboutVersion"));
    column->addWidget(name);
    column->addWidget(makeWrappedLabel(tr("Free software under the licence Apache-2.0: everyone brings what they have, "
                                          "and together they train one model."),
                                       "muted", this));
    QStringList lines;
    for (const Library& library : libraries)
        lines << QStringLiteral("%1 (%2)").arg(QLatin1String(library.name), QLatin1String(library.licence));
    auto* list = makeWrappedLabel(lines.join(QStringLiteral(", ")), "muted", this);
    list->setObjectName(QStringLiteral("licences"));
    list->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    list->setAccessibleName(tr("Libraries and their licences"));
    list->hide();
    auto* show = makeButton(tr("Libraries and their &licences"), {}, Emphasis::normal, this);
    show->setObjectName(QStringLiteral("showLicences"));
    show->setCheckable(true);
    column->addWidget(show, 0, Qt::AlignLeft);
    column->addWidget(list);
    connect(show, &QPushButton::toggled, list, &QWidget::setVisible);
}

}  // namespace potluck::ui

#include "ui/widgets/translations.h"

#include <QCoreApplication>
#include <QLibraryInfo>
#include <QTranslator>

#include "ui/widgets/theme.h"

namespace potluck::ui {

void installTranslations(QCoreApplication& application, const QLocale& locale) {
    loadResources();
    const QString qt = QLibraryInfo::path(QLibraryInfo::TranslationsPath);
    const QString ours = QStringLiteral(":/translations");
    const auto install = [&](const QLocale& wanted, const QString& name, const QString& folder) {
        auto* translator = new QTranslator(&application);
        if (translator->load(wanted, name, QStringLiteral("_"), folder))
            QCoreApplication::installTranslator(translator);
    };
    // What is installed later is asked first: English plurals are the fallback.
    install(QLocale(QLocale::English), QStringLiteral("potluck"), ours);
    install(locale, QStringLiteral("qtbase"), qt);
    install(locale, QStringLiteral("potluck"), ours);
}

}  // namespace potluck::ui

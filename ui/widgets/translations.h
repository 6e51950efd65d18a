// The languages of the window: our own texts from the resources, Qt's from where Qt keeps them. English has a file too,
// for its plurals.
//
// Threads: Qt's main thread.
#pragma once

#include <QLocale>

class QCoreApplication;

namespace potluck::ui {

/// Installs what there is for `locale`; the texts in the source are used for the rest. Call before the first widget.
void installTranslations(QCoreApplication& application, const QLocale& locale);

}  // namespace potluck::ui

#include "ui/model/save_model.h"

#include <QCoreApplication>
#include <QFileDialog>

#include "ui/client/plain_text.h"
#include "ui/widgets/parts.h"

namespace potluck::ui {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(potluck::ui::ModelPage)
};

}  // namespace

void askWhereToSave(NodeClient& client, QWidget* parent) {
    QFileDialog* dialog = makeFileDialog(Tr::tr("An empty folder for the model"), parent);
    dialog->setObjectName(QStringLiteral("modelFolder"));
    dialog->setFileMode(QFileDialog::Directory);
    dialog->setOption(QFileDialog::ShowDirsOnly);
    QObject::connect(dialog, &QFileDialog::fileSelected, &client,
                     [&client](const QString& folder) { client.saveModel(folder); });
    dialog->open();
}

QString savedText(const control::ExportedFiles& files, const QString& folder) {
    const QString where = plainText(folder, 300), round = fullCount(files.round);
    return files.agreed
               ? Tr::tr("Saved after %1 rounds in %2, with a proof that the run agreed on it.").arg(round, where)
               : Tr::tr("Saved after %1 rounds in %2. The run has not agreed on this state yet.").arg(round, where);
}

}  // namespace potluck::ui

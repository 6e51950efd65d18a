#include "ui/records/delete_question.h"

#include <utility>

#include "ui/records/run_table.h"
#include "ui/widgets/question.h"

namespace potluck::ui {

void askToDelete(const control::KnownRun& run, const QString& kept, QWidget* parent, std::function<void()> agreed) {
    QString text = kept;
    if (run.hosted)
        text += u' ' +
                RunModel::tr("You host this run: if nobody else has its model and its text, they are lost for good.");
    ask({.weight = Question::Weight::grave,
         .title = RunModel::tr("Delete the files?"),
         .text = text,
         .yes = RunModel::tr("&Delete"),
         .no = RunModel::tr("&Keep")},
        parent, std::move(agreed));
}

}  // namespace potluck::ui

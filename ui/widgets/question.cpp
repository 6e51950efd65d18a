#include "ui/widgets/question.h"

#include <utility>

#include <QMessageBox>
#include <QPushButton>

namespace potluck::ui {

void ask(const Question& question, QWidget* parent, std::function<void()> agreed) {
    const auto icon = question.weight == Question::Weight::grave ? QMessageBox::Warning : QMessageBox::Question;
    auto* box = new QMessageBox(icon, question.title, question.text, QMessageBox::NoButton, parent);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setTextFormat(Qt::PlainText);
    const QPushButton* yes = box->addButton(question.yes, QMessageBox::AcceptRole);
    box->setDefaultButton(box->addButton(question.no, QMessageBox::RejectRole));
    QObject::connect(yes, &QPushButton::clicked, parent, std::move(agreed));
    box->open();
}

}  // namespace potluck::ui

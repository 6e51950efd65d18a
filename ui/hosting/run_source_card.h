// The first part of the form of a new run: what to train on, and which model, a fresh one or one that is trained
// already.
//
// Threads: Qt's main thread.
#pragma once

#include <QFrame>
#include <vector>

#include "ui/client/node_client.h"

class QBoxLayout;
class QComboBox;
class QRadioButton;
class QSpinBox;

namespace potluck::ui {

class FormField;
class PathField;

class RunSourceCard : public QFrame {
    Q_OBJECT

public:
    explicit RunSourceCard(QWidget* parent);

    void offer(const control::RunOptions& options);
    void fill(control::RunChoices& choices) const;
    /// Null if another card has it.
    [[nodiscard]] FormField* fieldOf(control::ChoiceField place) const;

signals:
    void edited();

private:
    void addData(QBoxLayout& column);
    void addModel(QBoxLayout& column);
    void addTuning(QBoxLayout& column);
    void refresh();
    void listModels();
    [[nodiscard]] control::DataKind dataKind() const;

    std::vector<control::ModelChoice> m_models;
    QRadioButton* m_text = nullptr;
    QRadioButton* m_tokens = nullptr;
    QRadioButton* m_pictures = nullptr;
    PathField* m_data = nullptr;
    FormField* m_dataField = nullptr;
    QRadioButton* m_fresh = nullptr;
    QRadioButton* m_trained = nullptr;
    QComboBox* m_model = nullptr;
    FormField* m_modelField = nullptr;
    PathField* m_checkpoint = nullptr;
    FormField* m_checkpointField = nullptr;
    PathField* m_tokenizer = nullptr;
    FormField* m_tokenizerField = nullptr;
    QSpinBox* m_context = nullptr;
    FormField* m_contextField = nullptr;
    QComboBox* m_optimizer = nullptr;
};

}  // namespace potluck::ui

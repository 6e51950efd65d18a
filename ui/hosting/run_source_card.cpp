// Fields are added from top to bottom, in the order of the tab key. Two groups of radio buttons decide which of the
// fields below them are shown: text, token files and pictures share one field and differ in its hint and in the models
// that are listed; a fresh model has a list of shapes, a trained one its folder. What is hidden keeps its content, so
// that a look at the other choice loses nothing, but fill() passes on only what is shown.
//
// Does not: look at any file.
#include "ui/hosting/run_source_card.h"

#include <QButtonGroup>
#include <QComboBox>
#include <QHBoxLayout>
#include <QRadioButton>
#include <QSignalBlocker>
#include <QSpinBox>

#include "ui/client/plain_text.h"
#include "ui/widgets/form_field.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/path_field.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using control::ChoiceField;

namespace {

constexpr int context_max = 1 << 20;
constexpr int model_characters_min = 16;
constexpr const char* usual_model = "small";  // trains on a laptop in hours

/// Two choices beside each other, the first of which is on.
QRadioButton* addChoice(QHBoxLayout& row, QButtonGroup& group, const QString& text, const char* name, QWidget* parent) {
    auto* button = new QRadioButton(text, parent);
    button->setObjectName(QLatin1String(name));
    button->setChecked(group.buttons().isEmpty());
    group.addButton(button);
    row.addWidget(button);
    return button;
}

}  // namespace

RunSourceCard::RunSourceCard(QWidget* parent) : QFrame(parent) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    addData(*column);
    addModel(*column);
    addTuning(*column);
    refresh();
}

void RunSourceCard::addData(QBoxLayout& column) {
    column.addWidget(makeLabel(tr("What to train on"), "heading", this));
    auto* row = new QHBoxLayout;
    row->setSpacing(2 * grid);
    auto* group = new QButtonGroup(this);
    m_text = addChoice(*row, *group, tr("&Text"), "dataText", this);
    m_tokens = addChoice(*row, *group, tr("T&oken files"), "dataTokens", this);
    m_pictures = addChoice(*row, *group, tr("P&ictures"), "dataPictures", this);
    row->addStretch(1);
    column.addLayout(row);
    m_data = new PathField(PathField::Takes::file_or_folder, tr("File or folder to train on"), "data", this);
    m_dataField = new FormField(tr("&File or folder"), m_data, this);
    column.addWidget(m_dataField);
    for (QRadioButton* button : {m_text, m_tokens, m_pictures}) {
        connect(button, &QRadioButton::toggled, this, [this](bool on) {
            if (!on) return;
            listModels();
            refresh();
            emit edited();
        });
    }
    connect(m_data, &PathField::edited, this, &RunSourceCard::edited);
}

void RunSourceCard::addModel(QBoxLayout& column) {
    column.addSpacing(grid);
    column.addWidget(makeLabel(tr("The model"), "heading", this));
    auto* row = new QHBoxLayout;
    row->setSpacing(2 * grid);
    auto* group = new QButtonGroup(this);
    m_fresh = addChoice(*row, *group, tr("A &new one"), "modelFresh", this);
    m_trained = addChoice(*row, *group, tr("&Go on from a trained one"), "modelTrained", this);
    row->addStretch(1);
    column.addLayout(row);
    m_model = new QComboBox(this);
    m_model->setObjectName(QStringLiteral("model"));
    m_model->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);  // a narrow window cuts its text
    m_model->setMinimumContentsLength(model_characters_min);
    m_model->setAccessibleName(tr("Shape and size of the model"));
    m_modelField = new FormField(tr("S&hape and size"), m_model, this);
    column.addWidget(m_modelField);
    m_checkpoint = new PathField(PathField::Takes::folder, tr("Folder of the trained model"), "checkpoint", this);
    m_checkpointField = new FormField(tr("Its &folder"), m_checkpoint, this);
    column.addWidget(m_checkpointField);
    m_tokenizer = new PathField(PathField::Takes::file_or_folder, tr("Tokenizer"), "tokenizer", this);
    m_tokenizerField = new FormField(tr("To&kenizer, if you have one"), m_tokenizer, this);
    column.addWidget(m_tokenizerField);
    for (QRadioButton* button : {m_fresh, m_trained}) {
        connect(button, &QRadioButton::toggled, this, [this](bool on) {
            refresh();
            if (on) emit edited();
        });
    }
    connect(m_model, &QComboBox::currentIndexChanged, this, &RunSourceCard::edited);
    connect(m_checkpoint, &PathField::edited, this, &RunSourceCard::edited);
    connect(m_tokenizer, &PathField::edited, this, &RunSourceCard::edited);
}

void RunSourceCard::addTuning(QBoxLayout& column) {
    auto* row = new QHBoxLayout;
    row->setSpacing(2 * grid);
    m_context = new QSpinBox(this);
    m_context->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_context->setObjectName(QStringLiteral("context"));
    m_context->setRange(0, context_max);
    m_context->setSpecialValueText(tr("default"));
    m_context->setAccessibleName(tr("Context in tokens"));
    m_contextField = new FormField(tr("&Context in tokens"), m_context, this);
    row->addWidget(m_contextField, 1);
    m_optimizer = new QComboBox(this);
    m_optimizer->setObjectName(QStringLiteral("optimizer"));
    m_optimizer->setAccessibleName(tr("Optimizer"));
    for (const char* name : control::names<run::Optimizer>) m_optimizer->addItem(QString::fromLatin1(name));
    row->addWidget(new FormField(tr("Opti&mizer"), m_optimizer, this), 1);
    column.addLayout(row);
    connect(m_context, &QSpinBox::valueChanged, this, &RunSourceCard::edited);
    connect(m_optimizer, &QComboBox::currentIndexChanged, this, &RunSourceCard::edited);
}

void RunSourceCard::offer(const control::RunOptions& options) {
    if (!m_models.empty()) return;
    m_models = options.models;
    listModels();
}

control::DataKind RunSourceCard::dataKind() const {
    if (m_pictures->isChecked()) return control::DataKind::pictures;
    return m_tokens->isChecked() ? control::DataKind::tokens : control::DataKind::text;
}

/// Those that the chosen data trains; the one that was chosen stays if it is among them.
void RunSourceCard::listModels() {
    if (m_model == nullptr) return;
    const QSignalBlocker quiet(m_model);
    const QString chosen = m_model->currentData().toString();
    const bool pictures = m_pictures->isChecked();
    m_model->clear();
    for (const control::ModelChoice& model : m_models) {
        if ((model.data_kind == control::DataKind::pictures) != pictures) continue;
        const QString name = plainText(model.preset, 60), size = shortCount(model.parameters);
        m_model->addItem(pictures ? tr("%1 – %2 parameters").arg(name, size)
                                  : tr("%1 – %2 parameters, context %3").arg(name, size, fullCount(model.context)),
                         name);
    }
    const int kept = m_model->findData(chosen);
    m_model->setCurrentIndex(kept >= 0 ? kept : std::max(0, m_model->findData(QLatin1String(usual_model))));
}

void RunSourceCard::fill(control::RunChoices& choices) const {
    const bool pictures = m_pictures->isChecked();
    choices.data_kind = dataKind();
    choices.data = m_data->path().toStdString();
    choices.model = m_model->currentData().toString().toStdString();
    if (m_trained->isChecked()) choices.checkpoint = m_checkpoint->path().toStdString();
    if (!pictures) choices.tokenizer = m_tokenizer->path().toStdString();
    if (!pictures) choices.context = static_cast<std::uint32_t>(m_context->value());
    choices.optimizer = static_cast<run::Optimizer>(m_optimizer->currentIndex());
}

FormField* RunSourceCard::fieldOf(ChoiceField place) const {
    switch (place) {
        case ChoiceField::data: return m_dataField;
        case ChoiceField::model: return m_trained->isChecked() ? m_checkpointField : m_modelField;
        case ChoiceField::checkpoint: return m_checkpointField;
        case ChoiceField::tokenizer: return m_tokenizerField;
        default: return nullptr;
    }
}

void RunSourceCard::refresh() {
    const bool pictures = m_pictures->isChecked();
    m_dataField->setHint(pictures ? tr("A folder of PNG or PPM pictures, at least 128; each becomes a small square.")
                         : m_tokens->isChecked()
                             ? tr("Files of nanoGPT or llm.c, which end in .bin; those called val… are for validation.")
                             : tr("Plain text, from 100 kB to gigabytes; of a folder, all text files in it."));
    if (m_contextField == nullptr) return;
    m_modelField->setVisible(m_fresh->isChecked());
    m_checkpointField->setVisible(m_trained->isChecked());
    m_checkpointField->setHint(pictures
                                   ? tr("A picture coder as Potluck exports it.")
                                   : tr("A GPT-2, OPT, Llama, Qwen2 or Qwen3 as Hugging Face transformers saves it."));
    m_tokenizerField->setVisible(!pictures);
    m_tokenizerField->setHint(m_trained->isChecked() ? tr("Without one, that of the trained model.")
                                                     : tr("Without one, every byte is a token."));
    m_contextField->setVisible(!pictures);
}

}  // namespace potluck::ui

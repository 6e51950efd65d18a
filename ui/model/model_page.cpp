// A text is a card of its own below the prompt, newest first: heading with its round, then prompt and text as one
// paragraph, as the model continued it. All of it is plain text, because a model that strangers trained wrote it.
//
// What a model drew stands below its prompt, each pixel as a square of its own: pictures are small, and smoothing them
// would show what the model has not drawn. A model that embeds pictures has no prompt: it is asked which of those that
// were held out it thinks alike.
//
// Asking again by itself compares the run's round with that in which it was asked last, at each snapshot; a request
// that is under way, a page that is not shown and a run in which nothing was written yet ask nothing.
#include "ui/model/model_page.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QPixmap>
#include <QScrollArea>

#include "ui/client/plain_text.h"
#include "ui/client/status_summary.h"
#include "ui/model/save_model.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using namespace control;

namespace {

constexpr int prompt_characters_max = 500;
constexpr int text_characters_max = 2000;
constexpr int picture_side = 192, nearest_width_max = 640;

/// How large a picture is shown. Many pictures that stand in one are enlarged by a whole number, all pixels alike.
QSize shownSize(const Sample& sample, const QSize& size) {
    if (sample.nearest == 0 || size.width() > nearest_width_max)
        return size.scaled(picture_side, picture_side, Qt::KeepAspectRatio);
    return size * (nearest_width_max / size.width());
}

/// What the person asked and the model wrote, or what its picture shows.
QString wordsOf(const Sample& sample) {
    if (sample.nearest == 0) return plainText(sample.prompt + sample.text, text_characters_max);
    return ModelPage::tr(
               "In each row a picture that was held out, then the %1 that are nearest to it by what the model has "
               "learnt, nearest first.")
        .arg(sample.nearest);
}

QLabel* makePicture(const Sample& sample, QWidget* parent) {
    QLabel* label = makeLabel({}, "muted", parent);
    label->setObjectName(QStringLiteral("picture"));
    label->setAccessibleName(sample.nearest > 0
                                 ? ModelPage::tr("Held-out pictures, each with those nearest to it")
                                 : ModelPage::tr("Picture of: %1").arg(plainText(sample.prompt, text_characters_max)));
    const QImage picture = QImage::fromData(sample.picture, "PNG");
    if (picture.isNull()) {
        label->setText(ModelPage::tr("The picture cannot be shown."));
    } else {
        label->setPixmap(QPixmap::fromImage(picture.scaled(shownSize(sample, picture.size()))));
    }
    return label;
}

}  // namespace

ModelPage::ModelPage(NodeClient& client, QWidget* parent) : QWidget(parent), m_client(client) {
    const auto [scroll, scrolled, cards] = makeScrolledCards(this);
    cards->addWidget(makeAskCard());
    m_texts = makeCard(scrolled);
    m_textColumn = static_cast<QVBoxLayout*>(cardLayout(m_texts));
    cards->addWidget(m_texts);
    cards->addWidget(makeSaveCard());
    cards->addStretch(1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2 * grid);
    column->addWidget(makeLabel(tr("The model"), "title", this));
    column->addWidget(scroll, 1);
    connect(&client, &NodeClient::changed, this, &ModelPage::refresh);
    connect(&client, &NodeClient::samplesChanged, this, &ModelPage::refreshTexts);
    connect(&client, &NodeClient::modelSaved, this, [this](const ExportedFiles& files, const QString& folder) {
        setRole(m_saved, "good");
        showOrHide(m_saved, savedText(files, folder));
        refresh();
    });
    connect(&client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        if (method == method_of<SampleText>) showOrHide(m_problem, sentence);
        if (method == method_of<ExportModel>) {
            setRole(m_saved, "problem");
            showOrHide(m_saved, sentence);
        }
        refresh();
    });
    refreshTexts();
}

QFrame* ModelPage::makeAskCard() {
    QFrame* card = makeCard(this);
    QBoxLayout* column = cardLayout(card);
    m_heading = makeLabel({}, "heading", card);
    m_heading->setObjectName(QStringLiteral("askHeading"));
    m_explanation = makeWrappedLabel({}, "muted", card);
    column->addWidget(m_heading);
    column->addWidget(m_explanation);
    auto* row = new QHBoxLayout;
    m_beginning = makeLabel(tr("&Beginning"), "strong", card);
    m_prompt = new QLineEdit(card);
    m_prompt->setObjectName(QStringLiteral("prompt"));
    m_prompt->setAccessibleName(tr("Beginning of a text"));
    m_prompt->setPlaceholderText(tr("for example: Once upon a time"));
    m_prompt->setMaxLength(prompt_characters_max);
    m_beginning->setBuddy(m_prompt);
    m_write = makeButton({}, {}, Emphasis::primary, card);
    m_write->setObjectName(QStringLiteral("write"));
    row->addWidget(m_beginning);
    row->addWidget(m_prompt, 1);
    row->addWidget(m_write);
    row->addStretch(0);  // keeps the button small where there is nothing to begin
    column->addLayout(row);
    m_again = new QCheckBox(tr("&Again after every %1 rounds, while this page is open").arg(ask_again_rounds), card);
    m_again->setObjectName(QStringLiteral("writeAgain"));
    column->addWidget(m_again);
    m_problem = makeWrappedLabel({}, "problem", card);
    m_problem->setObjectName(QStringLiteral("writeProblem"));
    m_problem->hide();
    column->addWidget(m_problem);
    connect(m_write, &QPushButton::clicked, this, &ModelPage::write);
    connect(m_prompt, &QLineEdit::returnPressed, this, &ModelPage::write);
    return card;
}

QFrame* ModelPage::makeSaveCard() {
    QFrame* card = makeCard(this);
    QBoxLayout* column = cardLayout(card);
    auto* head = new QHBoxLayout;
    head->addWidget(makeLabel(tr("Keep it"), "heading", card), 1);
    m_save = makeButton(tr("&Save the model…"), iconNamed(QStringLiteral("flag")), Emphasis::normal, card);
    m_save->setObjectName(QStringLiteral("saveModel"));
    head->addWidget(m_save);
    column->addLayout(head);
    column->addWidget(
        makeWrappedLabel(tr("Writes the model into a folder, in the format that other programs read."), "muted", card));
    m_saved = makeWrappedLabel({}, "good", card);
    m_saved->setObjectName(QStringLiteral("saveOutcome"));
    m_saved->hide();
    column->addWidget(m_saved);
    connect(m_save, &QPushButton::clicked, this, [this] {
        showOrHide(m_saved, {});
        askWhereToSave(m_client, this);
    });
    return card;
}

void ModelPage::write() {
    if (!m_write->isEnabled()) return;
    showOrHide(m_problem, {});
    m_askedIn = m_client.view().snapshot.run->round;
    m_client.writeSample(comparesPictures(m_client.view()) ? QString() : m_prompt->text());
    refresh();
}

/// What this model can be asked: to go on with a beginning, or which pictures it thinks alike.
void ModelPage::refreshQuestion(bool asked) {
    const bool compares = comparesPictures(m_client.view());
    m_heading->setText(compares ? tr("What it thinks alike") : tr("What it writes"));
    m_explanation->setText(
        compares
            ? tr("Some of the pictures that were held out, and beside each those that the model as it is now takes "
                 "for the most alike, though nobody told it what they show. Early rounds go by colour; look again "
                 "later.")
            : tr("Begin a text, and the model as it is now goes on with it, or draws what you say if that is what "
                 "it learns. Early on the model writes nonsense; look again later."));
    m_beginning->setVisible(!compares);
    m_prompt->setVisible(!compares);
    if (compares) {
        m_write->setText(asked ? tr("It compares…") : tr("Sho&w"));
    } else {
        m_write->setText(asked ? tr("Writing…") : tr("&Write"));
    }
}

void ModelPage::refresh() {
    const NodeView& view = m_client.view();
    const bool up = view.link.state == Link::State::up && isInRun(view);
    const bool writes = m_client.waitsFor(method_of<SampleText>), saves = m_client.waitsFor(method_of<ExportModel>);
    refreshQuestion(writes);
    m_write->setEnabled(up && !writes);
    m_save->setText(saves ? tr("Saving…") : tr("&Save the model…"));
    m_save->setEnabled(up && !saves);
    if (!up || !isVisible() || writes || !m_again->isChecked() || view.samples.empty()) return;
    if (view.snapshot.run->round >= m_askedIn + ask_again_rounds) write();
}

void ModelPage::refreshTexts() {
    while (QLayoutItem* item = m_textColumn->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    m_texts->setVisible(!m_client.view().samples.empty());
    for (const Sample& sample : m_client.view().samples) {
        QLabel* round = makeLabel(tr("After %1 rounds").arg(fullCount(sample.round)), "strong", m_texts);
        QLabel* text = makeWrappedLabel(wordsOf(sample), "muted", m_texts);
        text->setObjectName(QStringLiteral("sample"));
        text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        round->setBuddy(text);
        m_textColumn->addWidget(round);
        m_textColumn->addWidget(text);
        if (!sample.picture.isEmpty()) m_textColumn->addWidget(makePicture(sample, m_texts));
    }
    refresh();
}

}  // namespace potluck::ui

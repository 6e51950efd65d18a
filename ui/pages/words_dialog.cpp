#include "ui/pages/words_dialog.h"

#include <algorithm>

#include <QDialogButtonBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/client/plain_text.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

namespace {

constexpr qsizetype words_wanted = 24;
constexpr int word_shown_max = 20;
constexpr int text_lines = 5;  // room for 24 words of at most eight letters

}  // namespace

QString problemOfWords(const QString& words) {
    const QStringList list = words.toLower().simplified().split(u' ', Qt::SkipEmptyParts);
    for (qsizetype i = 0; i < list.size(); ++i) {
        const bool isWord = std::ranges::all_of(list[i], [](QChar letter) { return letter >= u'a' && letter <= u'z'; });
        if (!isWord)
            return WordsDialog::tr("Word %1, “%2”, is none of the list: they have the letters a to z only.")
                .arg(QString::number(i + 1), plainText(list[i], word_shown_max));
    }
    if (list.size() == words_wanted) return {};
    return WordsDialog::tr("These are %n word(s); an identity has 24.", nullptr, static_cast<int>(list.size()));
}

WordsDialog::WordsDialog(QWidget* parent) : QDialog(parent), m_words(new QPlainTextEdit(this)) {
    setWindowTitle(tr("Import from recovery words"));
    auto* column = new QVBoxLayout(this);
    column->setSpacing(grid);
    QLabel* label = makeLabel(tr("Type or paste the 24 &words, in their order."), "strong", this);
    label->setBuddy(m_words);
    m_words->setObjectName(QStringLiteral("recoveryWords"));
    m_words->setAccessibleName(tr("Recovery words"));
    m_words->setTabChangesFocus(true);
    m_words->setFixedHeight(text_lines * m_words->fontMetrics().lineSpacing() + 4 * grid);
    m_words->setMinimumWidth(50 * grid);
    m_problem = makeWrappedLabel({}, "problem", this);
    m_problem->setObjectName(QStringLiteral("wordsProblem"));
    m_problem->hide();
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    QPushButton* import = buttons->addButton(tr("&Import"), QDialogButtonBox::AcceptRole);
    import->setDefault(true);
    column->addWidget(label);
    column->addWidget(m_words);
    column->addWidget(m_problem);
    column->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_words, &QPlainTextEdit::textChanged, this, [this] { showOrHide(m_problem, {}); });
}

void WordsDialog::done(int result) {
    if (result != QDialog::Accepted) return QDialog::done(result);
    const QString words = m_words->toPlainText().toLower().simplified();
    if (const QString problem = problemOfWords(words); !problem.isEmpty()) return showOrHide(m_problem, problem);
    QDialog::done(result);
    emit entered(words);
}

}  // namespace potluck::ui

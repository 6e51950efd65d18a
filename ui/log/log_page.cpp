#include "ui/log/log_page.h"

#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QSysInfo>

#include "ui/client/plain_text.h"
#include "ui/log/diagnostics.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using namespace control;

namespace {

constexpr int word_characters_max = 100;

/// How a line of the log names its level (core/base/log.h).
bool isError(const QString& line) { return line.contains(u" error ") || line.contains(u" critical "); }
bool isWarning(const QString& line) { return line.contains(u" warning ") || isError(line); }

}  // namespace

LogPage::LogPage(NodeClient& client, const Desktop& desktop, QWidget* parent) : QWidget(parent), m_client(client) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2 * grid);
    column->addWidget(makeLabel(tr("Log"), "title", this));
    column->addWidget(makeFilters());
    m_lines = new QPlainTextEdit(this);
    m_lines->setObjectName(QStringLiteral("logLines"));
    m_lines->setAccessibleName(tr("Lines of the log, oldest first"));
    m_lines->setReadOnly(true);
    m_lines->setTabChangesFocus(true);
    m_lines->setLineWrapMode(QPlainTextEdit::NoWrap);
    column->addWidget(m_lines, 1);
    column->addWidget(makeButtons(desktop));
    m_outcome = makeWrappedLabel({}, "good", this);
    m_outcome->setObjectName(QStringLiteral("logOutcome"));
    m_outcome->hide();
    column->addWidget(m_outcome);
    connect(&client, &NodeClient::logChanged, this, &LogPage::refresh);
    connect(&client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        if (method != method_of<ReadLog>) return;
        setRole(m_outcome, "problem");
        showOrHide(m_outcome, sentence);
    });
    refresh();
}

QWidget* LogPage::makeFilters() {
    auto* filters = new QWidget(this);
    auto* row = new QHBoxLayout(filters);
    row->setContentsMargins(0, 0, 0, 0);
    m_level = new QComboBox(filters);
    m_level->setObjectName(QStringLiteral("logLevel"));
    m_level->setAccessibleName(tr("Which lines"));
    m_level->addItems({tr("All lines"), tr("Warnings and errors"), tr("Errors")});
    m_word = new QLineEdit(filters);
    m_word->setObjectName(QStringLiteral("logWord"));
    m_word->setAccessibleName(tr("Only lines with this text"));
    m_word->setPlaceholderText(tr("Only lines with…"));
    m_word->setMaxLength(word_characters_max);
    m_word->setClearButtonEnabled(true);
    m_count = makeLabel({}, "muted", filters);
    m_count->setObjectName(QStringLiteral("logCount"));
    row->addWidget(m_level);
    row->addWidget(m_word, 1);
    row->addWidget(m_count);
    connect(m_level, &QComboBox::currentIndexChanged, this, &LogPage::refresh);
    connect(m_word, &QLineEdit::textChanged, this, &LogPage::refresh);
    return filters;
}

QWidget* LogPage::makeButtons(const Desktop& desktop) {
    auto* buttons = new QWidget(this);
    auto* row = new QHBoxLayout(buttons);
    row->setContentsMargins(0, 0, 0, 0);
    auto* copy = makeButton(tr("&Copy diagnostics"), {}, Emphasis::primary, buttons);
    copy->setObjectName(QStringLiteral("copyDiagnostics"));
    copy->setAccessibleDescription(tr("Copies state and log without keys, addresses, invites and names of folders."));
    auto* again = makeButton(tr("&Read again"), {}, Emphasis::normal, buttons);
    again->setObjectName(QStringLiteral("readLog"));
    auto* open = makeButton(tr("Open data &folder"), iconNamed(QStringLiteral("open")), Emphasis::normal, buttons);
    open->setObjectName(QStringLiteral("openLogFolder"));
    row->addWidget(copy);
    row->addWidget(again);
    row->addWidget(open);
    row->addStretch(1);
    connect(copy, &QPushButton::clicked, this, &LogPage::copyDiagnostics);
    connect(again, &QPushButton::clicked, &m_client, &NodeClient::requestLog);
    connect(open, &QPushButton::clicked, this,
            [this, &desktop] { desktop.open_folder(QString::fromStdString(m_client.view().snapshot.data_folder)); });
    return buttons;
}

void LogPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    showOrHide(m_outcome, {});
    m_client.requestLog();
}

void LogPage::refresh() {
    const std::vector<std::string>& log = m_client.view().log;
    const int level = m_level->currentIndex();
    QStringList shown;
    for (const std::string& text : log) {
        const QString line = plainText(text, static_cast<int>(log_line_bytes_max));
        const bool wanted = level == 0 || (level == 1 ? isWarning(line) : isError(line));
        if (wanted && line.contains(m_word->text(), Qt::CaseInsensitive)) shown << line;
    }
    m_lines->setPlainText(shown.join(u'\n'));
    m_lines->verticalScrollBar()->setValue(m_lines->verticalScrollBar()->maximum());
    m_count->setText(
        tr("%1 of %2 lines").arg(fullCount(static_cast<std::uint64_t>(shown.size())), fullCount(log.size())));
}

void LogPage::copyDiagnostics() {
    const NodeView& view = m_client.view();
    const QString system = QStringLiteral("Potluck %1, %2, %3")
                               .arg(QGuiApplication::applicationVersion(), QSysInfo::prettyProductName(),
                                    QSysInfo::currentCpuArchitecture());
    QGuiApplication::clipboard()->setText(diagnostics(view.snapshot, view.log, system, QDir::homePath()));
    setRole(m_outcome, "good");
    showOrHide(m_outcome, tr("Copied, without keys, addresses and invites. Look through it before you send it."));
}

}  // namespace potluck::ui

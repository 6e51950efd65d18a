// What a reader of a Markdown page reads: its paragraphs, list items and table cells as plain text, the sentences in
// them, its headings, and its links. Does not: follow links or render anything. Code blocks are not prose and are left
// out; a code span counts as one word.
//
// Threads: functions of values.
#pragma once

#include <QRegularExpression>
#include <QString>
#include <QStringList>

namespace potluck::tidy {

/// A piece of text that a reader takes in at once, as plain text on one line.
struct Passage {
    QString text;
    bool is_cell = false;  // of a table: half sentences are usual there
};

/// Lines outside of fenced code blocks.
inline QStringList prose_lines(const QStringList& lines) {
    QStringList outside;
    bool inside = false;
    for (const QString& line : lines) {
        const bool fence = line.trimmed().startsWith("```");
        if (!inside && !fence) outside << line;
        if (fence) inside = !inside;
    }
    return outside;
}

/// Without marks of Markdown: `[text](target)` is its text, a picture nothing.
inline QString plain_text(QString text) {
    static const QRegularExpression code("`[^`]+`"), picture("!\\[[^\\]]*\\]\\([^)]*\\)|<img[^>]*>"),
        link("\\[([^\\]]*)\\]\\([^)]*\\)"), emphasis("\\*+");
    return text.replace(picture, "").replace(code, "code").replace(link, "\\1").replace(emphasis, "").simplified();
}

inline QList<Passage> passages_of(const QStringList& lines) {
    static const QRegularExpression item("^\\s*([*+-]|\\d+\\.)\\s+"), rule("^[|: -]+$");
    QList<Passage> found;
    QString open;
    const auto close = [&] {
        const QString text = plain_text(open);
        if (!text.isEmpty()) found.append({text, false});
        open.clear();
    };
    for (const QString& line : prose_lines(lines)) {
        const bool heading = line.startsWith('#'), row = line.startsWith('|');
        if (line.trimmed().isEmpty() || heading || row || item.match(line).hasMatch()) close();
        if (row && !rule.match(line).hasMatch()) {
            for (const QString& cell : line.split('|')) {
                if (!cell.trimmed().isEmpty()) found.append({plain_text(cell), true});
            }
        } else if (!heading && !row) {
            open += " " + QString(line).replace(item, "");
        }
    }
    close();
    return found;
}

inline QStringList sentences_of(const QString& text) {
    static const QRegularExpression end("(?<=[.!?]|[.!?][\")])\\s+");
    return text.split(end, Qt::SkipEmptyParts);
}

inline qsizetype words_in(const QString& sentence) {
    static const QRegularExpression word("[A-Za-z0-9]");
    qsizetype count = 0;
    for (const QString& part : sentence.split(' ', Qt::SkipEmptyParts)) count += word.match(part).hasMatch() ? 1 : 0;
    return count;
}

/// The names by which links reach a page's headings: lower case, without punctuation, with dashes for blanks.
inline QStringList anchors_of(const QStringList& lines) {
    static const QRegularExpression head("^#+\\s+"), punctuation("[^\\w\\s-]");
    QStringList found;
    for (const QString& line : prose_lines(lines)) {
        if (head.match(line).hasMatch())
            found << plain_text(QString(line).remove(head)).toLower().remove(punctuation).replace(' ', '-');
    }
    return found;
}

/// Where a page's links and pictures lead, as written.
inline QStringList targets_of(const QStringList& lines) {
    static const QRegularExpression target("\\]\\(([^)\\s]+)\\)|<img[^>]*\\bsrc=\"([^\"]+)\"");
    static const QRegularExpression code("`[^`]*`");
    QStringList found;
    auto matches = target.globalMatch(prose_lines(lines).join('\n').remove(code));
    while (matches.hasNext()) {
        const auto match = matches.next();
        found << (match.captured(1).isEmpty() ? match.captured(2) : match.captured(1));
    }
    return found;
}

}  // namespace potluck::tidy

#include "ui/log/diagnostics.h"

#include <QRegularExpression>
#include <QStringList>

#include "ui/client/plain_text.h"

namespace potluck::ui {

using namespace control;

namespace {

QString sums_of(const Exchange& exchange) {
    if (exchange.sum_signers > 0) return QStringLiteral("from %1 others").arg(exchange.sum_signers);
    if (exchange.offers == 0) return QStringLiteral("all contributions");
    return QStringLiteral("%1 of %2 contributions").arg(exchange.offers_in_time).arg(exchange.offers);
}

}  // namespace

QString withoutSecrets(const QString& line, const QString& home) {
    static const QRegularExpression invite(QStringLiteral("(?:magnet|potluck):\\?\\S+|https?://\\S*#potluck:\\S+"));
    static const QRegularExpression key(QStringLiteral("\\b([0-9a-f]{8})[0-9a-f]{24,}\\b"),
                                        QRegularExpression::CaseInsensitiveOption);
    static const QRegularExpression address4(QStringLiteral("\\b(?!127\\.)(?:\\d{1,3}\\.){3}\\d{1,3}\\b"));
    static const QRegularExpression address6(
        QStringLiteral("(?<![0-9A-Za-z:])(?:[0-9A-Fa-f]{1,4}:){2,7}"
                       "(?:(?::[0-9A-Fa-f]{1,4})+|[0-9A-Fa-f]{1,4}|:)"
                       "(?![0-9A-Za-z:.])"));
    static const QRegularExpression words(
        QStringLiteral("(?:\\b[a-z]{3,8}\\b\\s+){%1,}[a-z]{3,8}\\b").arg(recovery_words_min - 1));
    static const QRegularExpression otherHome(QStringLiteral("(/home/|/Users/|C:\\\\Users\\\\)[^/\\\\\\s]+"));
    QString text = line;
    if (home.size() > 1) text.replace(home, QStringLiteral("~"));
    text.replace(otherHome, QStringLiteral("~"));
    text.replace(invite, QStringLiteral("<invite>"));
    text.replace(key, QStringLiteral("\\1…"));
    text.replace(address4, QStringLiteral("<address>"));
    text.replace(address6, QStringLiteral("<address>"));
    text.replace(words, QStringLiteral("<words>"));
    return text;
}

QString diagnostics(const NodeSnapshot& node, const std::vector<std::string>& log, const QString& system,
                    const QString& home) {
    QStringList lines;
    const auto add = [&](const char* what, const QString& value) {
        if (!value.isEmpty()) lines << QString::fromLatin1(what) + QStringLiteral(": ") + withoutSecrets(value, home);
    };
    const auto text = [](const std::string& value) { return plainText(value, 300); };
    add("system", system);
    add("state", QString::fromLatin1(name_of(node.why.reason)));
    add("sentence", text(node.reason));
    add("data folder", text(node.data_folder));
    add("trainer", QString::fromLatin1(name_of(node.trainer.state)) + u' ' + text(node.trainer.device));
    add("trainer restarts", QString::number(node.trainer.restarts));
    add("network", QStringLiteral("%1 sessions, %2 DHT nodes, %3 bytes up, %4 bytes down")
                       .arg(node.network.peers)
                       .arg(node.network.dht_nodes)
                       .arg(node.network.bytes_up)
                       .arg(node.network.bytes_down));
    if (node.run) {
        add("run", text(node.run->id) + QStringLiteral(", ") + text(node.run->model));
        add("round", QStringLiteral("%1 of %2").arg(node.run->round).arg(node.run->total_rounds));
        add("sums", sums_of(node.run->exchange));
        add("digests", QStringLiteral("%1 of %2 equal").arg(node.run->digests_equal).arg(node.run->digests_compared));
    }
    lines << QString();
    for (const std::string& line : log) lines << withoutSecrets(QString::fromStdString(line), home);
    return lines.join(u'\n') + u'\n';
}

}  // namespace potluck::ui

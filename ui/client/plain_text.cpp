#include "ui/client/plain_text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <QCoreApplication>
#include <QLocale>
#include <QTextDocument>

namespace potluck::ui {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(potluck::ui::PlainText)
};

bool isHarmless(char32_t character) {
    if (QChar::isNonCharacter(character)) return false;
    switch (QChar::category(character)) {
        case QChar::Other_Control:
        case QChar::Other_Format:
        case QChar::Separator_Line:
        case QChar::Separator_Paragraph:
        case QChar::Other_PrivateUse: return false;
        default: return true;
    }
}

}  // namespace

QString plainText(const QString& text, int most) {
    // What lies far beyond the cut is not looked at.
    QList<uint> characters = text.left(4 * most).toUcs4();  // half a surrogate pair becomes U+FFFD
    for (uint& character : characters) {
        if (!isHarmless(character)) character = U' ';
    }
    static_assert(sizeof(uint) == sizeof(char32_t));
    QString clean =
        QString::fromUcs4(reinterpret_cast<const char32_t*>(characters.constData()), characters.size()).simplified();
    if (clean.size() <= most) return clean;
    clean.truncate(most - 1);
    if (clean.back().isHighSurrogate()) clean.chop(1);
    return clean.trimmed() + QChar(0x2026);
}

QString plainText(std::string_view utf8, int most) {
    const auto bytes = static_cast<qsizetype>(std::min(utf8.size(), static_cast<std::size_t>(most) * 16));
    return plainText(QString::fromUtf8(utf8.data(), bytes), most);
}

QString literalText(const QString& text) {
    if (!Qt::mightBeRichText(text)) return text;
    return QStringLiteral("<qt>") + text.toHtmlEscaped().replace(QLatin1Char('\n'), QLatin1String("<br>")) +
           QStringLiteral("</qt>");
}

QString unmarkedText(QString text) {
    return text.replace(QLatin1Char('<'), QChar(0x2039))
        .replace(QLatin1Char('>'), QChar(0x203A))
        .replace(QLatin1Char('&'), QChar(0xFF06));
}

QString shortCount(std::uint64_t count) {
    static constexpr std::array<const char*, 5> units{"", "k", "M", "G", "T"};
    auto value = static_cast<double>(count);
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < units.size()) {
        value /= 1000;
        ++unit;
    }
    if (unit == 0) return QLocale().toString(static_cast<qulonglong>(count));
    const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return QLocale().toString(value, 'f', digits) + QChar(0x202F) + QLatin1String(units[unit]);
}

QString fullCount(std::uint64_t count) { return QLocale().toString(static_cast<qulonglong>(count)); }

QString sizeText(std::uint64_t bytes) {
    std::uint64_t unit = 1;
    while (bytes / unit >= 1'000) unit *= 1'000;
    return QLocale().formattedDataSize(static_cast<qint64>(bytes), bytes / unit < 100 ? 1 : 0,
                                       QLocale::DataSizeSIFormat);
}

namespace {

QString withUnit(double value, int decimals, const char* unit) {
    return QLocale().toString(value, 'f', decimals) + QChar(0x202F) + QString::fromUtf8(unit);
}

}  // namespace

QString wattText(double watts) { return withUnit(watts, watts < 10 ? 1 : 0, "W"); }

QString energyText(double joules) {
    const double wattHours = joules / 3600;
    return wattHours < 1000 ? withUnit(wattHours, wattHours < 10 ? 1 : 0, "Wh") : withUnit(wattHours / 1000, 2, "kWh");
}

QString heatText(double celsius) { return withUnit(celsius, 0, "°C"); }

QString percent(double share) {
    const double value = 100 * share;
    const QString sign = QChar(0x202F) + QStringLiteral("%");
    if (!(value > 0)) return QStringLiteral("0") + sign;
    if (value < 0.1) return QStringLiteral("< ") + QLocale().toString(0.1, 'f', 1) + sign;
    return QLocale().toString(value, 'f', 1) + sign;
}

QString displayName(const std::string& name, const std::string& id) {
    const QString shown = plainText(name, own_name_characters_max);
    if (!shown.isEmpty()) return shown;
    return Tr::tr("Volunteer %1").arg(plainText(id, 64).left(8));
}

}  // namespace potluck::ui

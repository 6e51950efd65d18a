// Draws every emoji that Unicode lists as one picture: data for a picture coder that is honest and offline.
//
//   draw_emoji FONT EMOJI_TEST FOLDER [SIDE]
//
// FONT is a colour font (Debian: fonts-noto-color-emoji), EMOJI_TEST the file emoji-test.txt (Debian: unicode-data).
// Writes FOLDER/0001.png and so on, SIDE pixels square on white (64), and beside each its English name as 0001.txt.
// Skin tones and what is drawn alike are left out: a picture that is held out must not be among those trained on.
#include <QFile>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QImage>
#include <QPainter>
#include <QSet>
#include <QTextStream>

#include <cstdio>

namespace {

/// A line of emoji-test.txt: "1F600 ; fully-qualified # 😀 E1.0 grinning face".
struct Emoji {
    QString text, name;
};

bool has_skin_tone(const QString& text) {
    for (const uint code : text.toUcs4())
        if (code >= 0x1f3fb && code <= 0x1f3ff) return true;
    return false;
}

QList<Emoji> emoji_of(QFile& file) {
    QList<Emoji> found;
    QTextStream lines(&file);
    for (QString line; lines.readLineInto(&line);) {
        const qsizetype sign = line.indexOf('#'), middle = line.indexOf(';');
        if (middle < 1 || sign < middle || line.mid(middle + 1, sign - middle - 1).trimmed() != "fully-qualified")
            continue;
        QString text;
        for (const QString& code : line.left(middle).split(' ', Qt::SkipEmptyParts)) {
            const char32_t one = code.toUInt(nullptr, 16);
            text += QString::fromUcs4(&one, 1);
        }
        const QString name = line.mid(sign + 1).trimmed().section(' ', 2);
        if (!has_skin_tone(text)) found.append({text, name});
    }
    return found;
}

QImage drawn(const QString& text, const QFont& font, int side) {
    QImage image(side, side, QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    painter.setRenderHint(QPainter::SmoothPixmapTransform);
    painter.setFont(font);
    painter.drawText(image.rect(), Qt::AlignCenter, text);
    return image;
}

}  // namespace

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const QGuiApplication app(argc, argv);
    const QStringList given = QGuiApplication::arguments();
    QFile list(given.value(2));
    const int font_id = given.size() < 4 ? -1 : QFontDatabase::addApplicationFont(given[1]);
    if (font_id < 0 || !list.open(QIODevice::ReadOnly)) {
        std::fputs("draw_emoji FONT EMOJI_TEST FOLDER [SIDE]\n", stderr);
        return 2;
    }
    const int side = given.size() > 4 ? given[4].toInt() : 64;
    QFont font(QFontDatabase::applicationFontFamilies(font_id).value(0));
    font.setPixelSize(side * 3 / 4);
    int number = 0;
    QSet<QByteArray> seen;
    for (const Emoji& emoji : emoji_of(list)) {
        const QImage picture = drawn(emoji.text, font, side);
        const QByteArray pixels(reinterpret_cast<const char*>(picture.constBits()), picture.sizeInBytes());
        if (seen.contains(pixels)) continue;
        seen.insert(pixels);
        const QString file = QString("%1/%2").arg(given[3]).arg(++number, 4, 10, QChar('0'));
        QFile name(file + ".txt");
        if (!picture.save(file + ".png") || !name.open(QIODevice::WriteOnly)) return 1;
        name.write(emoji.name.toUtf8() + "\n");
    }
    std::printf("%d pictures of %d pixels\n", number, side);
    return number > 0 ? 0 : 1;
}

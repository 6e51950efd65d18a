// Renders the program's icon in every size that a desktop asks for: PNG for Linux, .ico for Windows, .icns for macOS.
// The last two are containers of PNG pictures, a header and a table. Runs while the programs are built, so that the
// drawing exists once, as SVG.
#include <cstdio>

#include <QBuffer>
#include <QDir>
#include <QFile>
#include <QGuiApplication>
#include <QImage>
#include <QPainter>
#include <QSvgRenderer>
#include <QtEndian>

namespace {

constexpr int linux_sizes[] = {16, 22, 24, 32, 48, 64, 128, 256, 512};
constexpr int windows_sizes[] = {16, 24, 32, 48, 64, 256};
constexpr struct {
    int size;
    const char* type;
} mac_sizes[] = {{32, "ic11"}, {64, "ic12"}, {128, "ic07"}, {256, "ic08"}, {512, "ic09"}, {1024, "ic10"}};

QByteArray png(QSvgRenderer& drawing, int size) {
    QImage image(size, size, QImage::Format_ARGB32);
    image.fill(Qt::transparent);
    QPainter painter(&image);
    drawing.render(&painter);
    painter.end();
    QByteArray bytes;
    QBuffer buffer(&bytes);
    image.save(&buffer, "PNG");
    return bytes;
}

template <class Number>
QByteArray little(Number number) {
    QByteArray bytes(sizeof number, '\0');
    qToLittleEndian(number, bytes.data());
    return bytes;
}

QByteArray big(quint32 number) {
    QByteArray bytes(sizeof number, '\0');
    qToBigEndian(number, bytes.data());
    return bytes;
}

QByteArray ico(QSvgRenderer& drawing) {
    constexpr auto count = static_cast<quint16>(std::size(windows_sizes));
    QByteArray table = little(quint16{0}) + little(quint16{1}) + little(count), pictures;
    for (const int size : windows_sizes) {
        const QByteArray picture = png(drawing, size);
        const QByteArray side(1, static_cast<char>(size));  // 256 is written as 0
        table += side + side + little(quint16{0}) + little(quint16{1}) + little(quint16{32}) +
                 little(static_cast<quint32>(picture.size())) +
                 little(static_cast<quint32>(6 + 16 * count + pictures.size()));
        pictures += picture;
    }
    return table + pictures;
}

QByteArray icns(QSvgRenderer& drawing) {
    QByteArray entries;
    for (const auto& [size, type] : mac_sizes) {
        const QByteArray picture = png(drawing, size);
        entries += type + big(static_cast<quint32>(8 + picture.size())) + picture;
    }
    return "icns" + big(static_cast<quint32>(8 + entries.size())) + entries;
}

bool write(const QDir& folder, const QString& name, const QByteArray& bytes) {
    QFile file(folder.filePath(name));
    return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.flush();
}

}  // namespace

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const QGuiApplication application(argc, argv);
    if (argc != 3) return std::fputs("usage: render_icons DRAWING.svg FOLDER\n", stderr), 2;
    QSvgRenderer drawing{QString::fromLocal8Bit(argv[1])};
    const QDir folder(QString::fromLocal8Bit(argv[2]));
    bool written = drawing.isValid();
    for (const int size : linux_sizes)
        written = written && write(folder, QString("%1.png").arg(size), png(drawing, size));
    written = written && write(folder, "potluck.ico", ico(drawing)) && write(folder, "potluck.icns", icns(drawing));
    if (!written) std::fprintf(stderr, "The icons cannot be written to %s; make the folder first.\n", argv[2]);
    return written ? 0 : 1;
}

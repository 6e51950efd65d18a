#include <QElapsedTimer>
#include <QTest>

#include <string>

#include <zlib.h>

#include "core/pictures/picture.h"

using namespace potluck;
using namespace potluck::pictures;

namespace {

Picture ramp(std::uint32_t width, std::uint32_t height) {
    Picture picture{width, height, {}};
    for (std::uint32_t i = 0; i < 3 * width * height; ++i)
        picture.rgb.push_back(static_cast<std::uint8_t>(i * 7 % 251));
    return picture;
}

std::string big_endian(std::uint32_t value) {
    std::string out;
    for (const unsigned shift : {24U, 16U, 8U, 0U}) out += static_cast<char>(value >> shift);
    return out;
}

std::string chunk(const std::string& name, const std::string& body) {
    const std::string checked = name + body;
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
    return big_endian(static_cast<std::uint32_t>(body.size())) + checked + big_endian(static_cast<std::uint32_t>(sum));
}

std::string compressed(const std::string& text) {
    uLongf size = compressBound(text.size());
    std::string out(size, '\0');
    compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(text.data()), text.size(), 9);
    out.resize(size);
    return out;
}

Result<Picture> decoded(const std::string& text) { return decode_picture(as_bytes(text)); }

/// 1 x 1, red, half transparent.
constexpr unsigned char half_red[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
    0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, 0x00, 0x00, 0x00, 0x1f, 0x15, 0xc4, 0x89, 0x00, 0x00, 0x00,
    0x0d, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0xd0, 0x00, 0x00, 0x04, 0x81, 0x01, 0x80,
    0x2c, 0x55, 0xce, 0xb0, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};

}  // namespace

class PictureTest : public QObject {
    Q_OBJECT
private slots:
    void a_png_holds_what_was_written() {
        const Picture picture = ramp(13, 7);
        const Result<Bytes> file = encode_png(picture);
        QVERIFY(file.ok());
        QVERIFY(decode_picture(*file).value() == picture);
    }

    void transparent_pixels_lie_over_white() {
        const auto picture = decode_picture(std::as_bytes(std::span(half_red)));
        QVERIFY2(picture.ok(), picture ? "" : picture.error().message.c_str());
        QVERIFY(picture->rgb == (std::vector<std::uint8_t>{255, 127, 127}));
    }

    /// Each is unpacked by libpng for its own sake, 30 MB of it; nobody reads any of them.
    void texts_of_a_png_cost_nothing() {
        const Picture picture = ramp(13, 7);
        const std::string file(as_text(encode_png(picture).value()));
        const std::string text =
            chunk("zTXt", std::string("Comment\0\0", 9) + compressed(std::string(30'000'000, 'x')));
        constexpr std::size_t behind_header = 8 + 25;
        std::string bomb = file.substr(0, behind_header);
        for (int i = 0; i < 20; ++i) bomb += text;
        bomb += file.substr(behind_header);
        QElapsedTimer clock;
        clock.start();
        const auto read = decoded(bomb);
        const qint64 took = clock.elapsed();
        QVERIFY(read.ok());
        QVERIFY(*read == picture);
        QVERIFY2(took < 1'000, qPrintable(QString::number(took)));
    }

    void a_png_that_is_cut_before_its_pixels_end_is_refused() {
        const std::string file(as_text(encode_png(ramp(13, 7)).value()));
        for (std::size_t size = 8; size < file.size() / 2; ++size) QVERIFY(!decoded(file.substr(0, size)).ok());
    }

    void a_ppm_is_read_with_its_comments() {
        const auto picture = decoded("P6 # made by hand\n2 # wide\n1\n255\nabcdef");
        QVERIFY(picture.ok());
        QCOMPARE(picture->width, 2U);
        QVERIFY(picture->rgb == (std::vector<std::uint8_t>{'a', 'b', 'c', 'd', 'e', 'f'}));
        QVERIFY(decoded("P6 8192 1 255\n" + std::string(3 * 8'192, 'x')).ok());  // the widest there may be
    }

    void a_file_that_is_no_picture_is_refused_data() {
        QTest::addColumn<QByteArray>("file");
        for (const char* text :
             {"", "P6", "P6 2 1 65535 abcdefabcdef", "P6 2 1 255\nabcde", "P6 0 1 255\n", "P6 9999 9999 255\n",
              "P6 8193 1 255\n", "P6 4096 4097 255\n", "P6 123456 1 255\n", "GIF89a", "P5 1 1 255\na"}) {
            QTest::newRow(text) << QByteArray(text);
        }
        // With all their pixels, so that nothing but the size is wrong with them.
        QTest::newRow("too wide") << "P6 8193 1 255\n" + QByteArray(3 * 8'193, 'x');
        QTest::newRow("too many pixels") << "P6 4096 4097 255\n" + QByteArray(3 * 4'096 * 4'097, 'x');
        QByteArray png = QByteArray::fromStdString(std::string(as_text(encode_png(ramp(40, 40)).value())));
        QTest::newRow("half a PNG") << png.left(png.size() / 2);
        png[18] = '\x7f';  // of the width: the header's check sum is wrong, and it is too large
        QTest::newRow("another width") << png;
    }
    void a_file_that_is_no_picture_is_refused() {
        QFETCH(const QByteArray, file);
        const auto refused = decoded(file.toStdString());
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().code, ErrorCode::malformed);
    }

    void squares_are_cut_from_the_middle_and_averaged() {
        // Columns 0 and 5 are cut off; 4 x 4 become 2 x 2.
        Picture picture{6, 4, {}};
        for (std::uint8_t row = 0; row < 4; ++row)
            for (std::uint8_t column = 0; column < 6; ++column)
                picture.rgb.insert(picture.rgb.end(), {static_cast<std::uint8_t>(10 * column), row, 200});
        const Picture half = squared(picture, 2);
        QVERIFY(half.rgb == (std::vector<std::uint8_t>{15, 1, 200, 35, 1, 200, 15, 3, 200, 35, 3, 200}));
        QVERIFY(squared(half, 2) == half);
    }

    void areas_that_share_pixels_weigh_them() {
        // Three columns of 0, 90, 0 become two: each holds one of its own and half of the middle one.
        Picture picture{3, 3, {}};
        for (int row = 0; row < 3; ++row)
            for (const std::uint8_t value : std::vector<std::uint8_t>{0, 90, 0})
                picture.rgb.insert(picture.rgb.end(), 3, value);
        QVERIFY(squared(picture, 2).rgb == std::vector<std::uint8_t>(12, 30));
        QCOMPARE(squared(picture, 6).rgb[0], std::uint8_t{0});
        QCOMPARE(squared(picture, 6).rgb[6], std::uint8_t{90});
    }

    void pictures_are_laid_beside_each_other_on_white() {
        const Picture red{1, 1, {255, 0, 0}}, blue{1, 1, {0, 0, 255}};
        const Picture sheet = tiled({red, blue, red}, 2);
        QCOMPARE(sheet.height, 2U);
        QVERIFY(sheet.rgb == (std::vector<std::uint8_t>{255, 0, 0, 0, 0, 255, 255, 0, 0, 255, 255, 255}));
    }

    void two_pictures_stand_on_both_sides_of_a_gap() {
        const Picture left{1, 2, {1, 1, 1, 2, 2, 2}}, right{2, 2, {3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6}};
        const Picture both = beside(left, right, 1);
        QVERIFY(both == (Picture{4, 2, {1, 1, 1, 255, 255, 255, 3, 3, 3, 4, 4, 4,  //
                                        2, 2, 2, 255, 255, 255, 5, 5, 5, 6, 6, 6}}));
    }
};

QTEST_APPLESS_MAIN(PictureTest)
#include "test_picture.moc"

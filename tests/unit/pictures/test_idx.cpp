#include <QTest>

#include <algorithm>
#include <fstream>
#include <string>

#include <zlib.h>

#include "core/pictures/idx.h"

using namespace potluck;
using namespace potluck::pictures;

namespace {

std::string number(std::uint32_t value) {
    std::string out;
    for (const unsigned shift : {24U, 16U, 8U, 0U}) out += static_cast<char>(value >> shift);
    return out;
}

std::string table_of(const std::vector<std::uint32_t>& sizes, const std::string& body) {
    std::string out("\0\0\x08", 3);
    out += static_cast<char>(sizes.size());
    for (const std::uint32_t size : sizes) out += number(size);
    return out + body;
}

std::string packed(const std::string& text) {
    z_stream stream{};
    std::string out(text.size() + 1000, '\0');
    if (deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int state = deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return state == Z_STREAM_END ? out : std::string();
}

/// A header that says `sizes`, and `zeros` behind it.
std::string packed_zeros(const std::vector<std::uint32_t>& sizes, std::size_t zeros) {
    z_stream stream{};
    std::string out(zeros / 500 + 100'000, '\0');
    if (deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    std::string piece = table_of(sizes, "");
    while (!piece.empty()) {
        stream.next_in = reinterpret_cast<Bytef*>(piece.data());
        stream.avail_in = static_cast<uInt>(piece.size());
        deflate(&stream, Z_NO_FLUSH);
        const std::size_t next = std::min<std::size_t>(zeros, 1 << 20);
        zeros -= next;
        piece.assign(next, '\0');
    }
    const int state = deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return state == Z_STREAM_END ? out : std::string();
}

/// The most memory that this process has held at once.
std::uint64_t peak_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
    }
    return 0;
}

Result<IdxTable> read(const std::string& file) { return read_idx(as_bytes(file)); }

}  // namespace

class IdxTest : public QObject {
    Q_OBJECT
private slots:
    void a_table_is_its_sizes_and_its_bytes_packed_or_not() {
        const std::string file = table_of({2, 3, 1}, "abcdef");
        for (const std::string& form : {file, packed(file)}) {
            const auto table = read(form);
            QVERIFY2(table.ok(), table ? "" : table.error().message.c_str());
            QVERIFY((table->sizes == std::vector<std::uint32_t>{2, 3, 1}));
            QCOMPARE(as_text(table->values), std::string_view("abcdef"));
        }
        QCOMPARE(read(table_of({1}, "x")).value().values.size(), std::size_t{1});
    }

    void a_truncated_overlong_or_foreign_table_is_refused() {
        const std::string file = table_of({2, 3}, "abcdef"), small = packed(file);
        QVERIFY(read(file).ok() && read(small).ok());
        for (std::size_t length = 0; length < file.size(); ++length) QVERIFY(!read(file.substr(0, length)).ok());
        for (std::size_t length = 0; length < small.size(); ++length) QVERIFY(!read(small.substr(0, length)).ok());
        QVERIFY(!read(file + "g").ok() && !read(small + "g").ok());
        QVERIFY(!read(std::string("\0\0\x0d\1", 4) + number(1) + "abcd").ok());  // floats
        QVERIFY(!read(table_of({}, "")).ok() && !read(table_of({2, 0}, "")).ok());
        QVERIFY(!read(table_of(std::vector<std::uint32_t>(idx_sizes_max + 1, 1), "x")).ok());
    }

    void sizes_beyond_the_limit_are_refused_before_memory_is_taken() {
        const auto most = static_cast<std::uint32_t>(idx_bytes_max);
        QVERIFY(!read(table_of({most + 1}, "x")).ok());
        QVERIFY(!read(table_of({most, most, most}, "x")).ok());
        QVERIFY(!read(table_of({65'536, 65'536, 1}, "")).ok());
        const std::uint32_t one = 11, two = 1'119'412'321, three = 2'996'173'443;
        QCOMPARE(std::uint64_t{one} * two * three, std::uint64_t{1});  // what is left of 2^65 + 1
        QVERIFY(!read(table_of({one, two, three}, "x")).ok());
    }

    void no_more_is_unpacked_than_the_header_says() {
        const std::string bomb = packed_zeros({6}, 100 << 20);
        QVERIFY(!bomb.empty());
        const std::uint64_t before = peak_bytes();
        QVERIFY(!read(bomb).ok());
        if (before == 0) QSKIP("this system does not tell how much memory a process held at most");
        QVERIFY2(peak_bytes() - before < 32 << 20, std::to_string(peak_bytes() - before).c_str());
    }

    void a_table_packed_tighter_than_pictures_is_refused_unless_small() {
        QVERIFY(read(packed_zeros({16, 1 << 20}, 16 << 20)).ok());
        const std::string file = packed_zeros({100, 1 << 20}, 100 << 20);
        const std::uint64_t before = peak_bytes();
        QVERIFY(!read(file).ok());
        if (before != 0) QVERIFY(peak_bytes() - before < 32 << 20);
        QVERIFY(!read(packed_zeros({16, 1 << 20}, (16 << 20) + 1)).ok());
        QVERIFY(!read(packed_zeros({16, 1 << 20}, (16 << 20) - 1)).ok());
    }
};

QTEST_APPLESS_MAIN(IdxTest)
#include "test_idx.moc"

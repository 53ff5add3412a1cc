#include "io/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "epilogue/element.h"
#include "io/npy_header.h"

namespace tilewise {
namespace {

using testing::HasSubstr;

class Npy : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("tilewise_npy_" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name = "x.npy") const { return folder_ / name; }

  // A file with this header text, version and data.
  std::string file(std::string header, const std::string& data, char version = 1) const {
    std::string text = "\x93NUMPY";
    text += {version, '\0'};
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    header += '\n';
    for (std::size_t i = 0; i < length_bytes; ++i) {
      text += static_cast<char>(header.size() >> (8 * i) & 255);
    }
    return raw_file(text + header + data);
  }
  std::string raw_file(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }
  std::string read_error(const std::string& at) const {
    const Result<Matrix> matrix = read_npy(at);
    return matrix ? "no error" : matrix.error().message;
  }
  std::size_t num_files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

 private:
  std::filesystem::path folder_;
};

template <class T>
std::string bytes_of(std::initializer_list<T> values, bool big_endian = false) {
  std::string bytes;
  for (const T value : values) {
    std::string one(sizeof(T), '\0');
    std::memcpy(one.data(), &value, sizeof(T));
    if (big_endian) std::reverse(one.begin(), one.end());
    bytes += one;
  }
  return bytes;
}

std::string dictionary(const std::string& descr, const std::string& shape,
                       const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

Matrix view(Type type, std::int64_t rows, std::int64_t columns, Strides strides, const void* data) {
  Matrix matrix;
  matrix.type = type;
  matrix.rows = rows;
  matrix.columns = columns;
  matrix.strides = strides;
  matrix.data = data;
  return matrix;
}

std::vector<double> elements(const Matrix& matrix) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    for (std::int64_t j = 0; j < matrix.columns; ++j) all.push_back(element(matrix, i, j));
  }
  return all;
}

TEST_F(Npy, ReadsEveryVersionOrderAndByteOrder) {
  const std::vector<double> expected = {1, 2, 3, 4, 5, 6};
  for (const char version : {1, 2, 3}) {
    const auto c =
        read_npy(file(dictionary("<f4", "(2, 3)"), bytes_of<float>({1, 2, 3, 4, 5, 6}), version));
    ASSERT_TRUE(c) << c.error().message;
    EXPECT_EQ(c->type, Type::f32);
    EXPECT_EQ(elements(*c), expected);
  }
  const auto fortran =
      read_npy(file(dictionary("<f8", "(2, 3)", "True"), bytes_of<double>({1, 4, 2, 5, 3, 6})));
  ASSERT_TRUE(fortran) << fortran.error().message;
  EXPECT_EQ(fortran->strides, (Strides{1, 2, 0}));
  EXPECT_EQ(elements(*fortran), expected);
  const auto big =
      read_npy(file(dictionary(">f8", "(2, 3)"), bytes_of<double>({1, 2, 3, 4, 5, 6}, true)));
  ASSERT_TRUE(big) << big.error().message;
  EXPECT_EQ(elements(*big), expected);
}

TEST_F(Npy, ReadsOneDimensionAsAColumnAndEmptyArrays) {
  const auto vector = read_npy(file(dictionary("=f4", "(3,)"), bytes_of<float>({7, 8, 9})));
  ASSERT_TRUE(vector) << vector.error().message;
  EXPECT_EQ(vector->num_dimensions, 1);
  EXPECT_EQ(vector->rows, 3);
  EXPECT_EQ(vector->columns, 1);
  const auto empty = read_npy(file(dictionary("<f4", "(0, 5)"), ""));
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_EQ(empty->rows, 0);
  EXPECT_EQ(empty->columns, 5);
}

TEST_F(Npy, ReadsHalvesAndBfloat16InItsEncodings) {
  const auto half =
      read_npy(file(dictionary("<f2", "(2, 1)"), bytes_of<std::uint16_t>({0x3c00, 0xc100})));
  ASSERT_TRUE(half) << half.error().message;
  EXPECT_EQ(half->type, Type::f16);
  EXPECT_EQ(elements(*half), (std::vector<double>{1, -2.5}));
  for (const char* descr : {"<V2", "|V2", "bfloat16", "E", "<E2"}) {
    const auto bfloat =
        read_npy(file(dictionary(descr, "(1, 2)"), bytes_of<std::uint16_t>({0x3f80, 0xc020})));
    ASSERT_TRUE(bfloat) << descr << ": " << bfloat.error().message;
    EXPECT_EQ(bfloat->type, Type::bf16);
    EXPECT_EQ(elements(*bfloat), (std::vector<double>{1, -2.5}));
  }
}

TEST_F(Npy, ReadsIntegersAsDoublesUpTo2To53) {
  const std::int64_t limit = std::int64_t{1} << 53;
  const auto exact =
      read_npy(file(dictionary("<i8", "(2, 1)"), bytes_of<std::int64_t>({limit, -limit})));
  ASSERT_TRUE(exact) << exact.error().message;
  EXPECT_EQ(exact->type, Type::f64);
  EXPECT_EQ(element(*exact, 0, 0), 0x1p53);
  EXPECT_THAT(read_error(file(dictionary("<i8", "(1, 1)"), bytes_of<std::int64_t>({limit + 1}))),
              HasSubstr("9007199254740993"));
  const auto four =
      read_npy(file(dictionary(">i4", "(1, 2)"), bytes_of<std::int32_t>({-3, 9}, true)));
  ASSERT_TRUE(four) << four.error().message;
  EXPECT_EQ(elements(*four), (std::vector<double>{-3, 9}));
}

TEST_F(Npy, ReadsDataAtAnyAddress) {
  // A header of odd length puts the data where no float may lie.
  for (const std::size_t spaces : {0, 1, 2, 3, 4, 5, 6, 7}) {
    const auto matrix = read_npy(
        file(dictionary("<f8", "(1, 2)") + std::string(spaces, ' '), bytes_of<double>({1, 2})));
    ASSERT_TRUE(matrix) << matrix.error().message;
    EXPECT_EQ(elements(*matrix), (std::vector<double>{1, 2}));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(matrix->data) % sizeof(double), 0u);
  }
}

TEST_F(Npy, ErrorsSayWhatTheFileHoldsAndWhatIsRead) {
  const std::string data = bytes_of<float>({1, 2});
  EXPECT_THAT(read_error(path("absent.npy")), HasSubstr("No such file"));
  EXPECT_THAT(read_error("/"), HasSubstr("directory"));
  EXPECT_THAT(read_error(raw_file("")), HasSubstr("not a .npy file"));
  EXPECT_THAT(read_error(raw_file("PK\3\4 a zip file")), HasSubstr("not a .npy file"));
  EXPECT_THAT(read_error(raw_file("\x93NUMPY\1")), HasSubstr("cut short"));
  EXPECT_THAT(read_error(file(dictionary("<f4", "(2,)"), data, 4)), HasSubstr("version is 4.0"));
  EXPECT_THAT(read_error(file(dictionary("<c8", "(1, 1)"), data)), HasSubstr("\"<c8\""));
  EXPECT_THAT(read_error(file(dictionary("<i2", "(1, 2)"), data)), HasSubstr("float32"));
  EXPECT_THAT(read_error(file(dictionary("<f4", "()"), data)), HasSubstr("0 dimensions"));
  EXPECT_THAT(read_error(file(dictionary("<f4", "(1, 2, 1)"), data)), HasSubstr("3 dimensions"));
  EXPECT_THAT(read_error(file(dictionary("<f4", "(1, 3)"), data)), HasSubstr("needs 12 bytes"));
  EXPECT_THAT(read_error(file(dictionary("<f4", "(1, 1)"), data)), HasSubstr("holds 8"));
  EXPECT_THAT(
      read_error(file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", data)),
      HasSubstr("structured"));
}

TEST_F(Npy, HostileHeadersAreErrors) {
  const std::string largest = "9223372036854775807";
  EXPECT_THAT(read_error(file(dictionary("<f4", "(" + largest + ", " + largest + ")"), "")),
              HasSubstr("63 bits"));
  EXPECT_THAT(read_error(file(dictionary("<f8", "(2305843009213693952, 1)"), "")),
              HasSubstr("63 bits"));
  EXPECT_THAT(read_error(file(dictionary("<f4", "(-1, 2)"), "")), HasSubstr("extent"));
  EXPECT_THAT(read_error(file(dictionary("<f4", "(1e9, 2)"), "")), HasSubstr("malformed"));
  EXPECT_THAT(read_error(file(dictionary("<f4", "(4000000000, 4000000)"), "")), HasSubstr("needs"));
  EXPECT_THAT(read_error(raw_file(std::string("\x93NUMPY\2\0\xff\xff\xff\xff{", 13))),
              HasSubstr("4294967295 bytes"));
  EXPECT_THAT(read_error(raw_file(std::string("\x93NUMPY\1\0\xff\xff{", 11))),
              HasSubstr("cut short"));
  for (const char* header :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'descr': '<f4'}", "{'shape': (1,",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "{'x': 1}", "{'descr"}) {
    EXPECT_THAT(read_error(file(header, "")), HasSubstr("its header")) << header;
  }
  const std::string twice =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'shape': (2,)}";
  EXPECT_THAT(read_error(file(twice, bytes_of<float>({1, 2}))), HasSubstr("twice"));
}

TEST_F(Npy, WritesWhatItReads) {
  std::vector<float> data = {1, 2, 3, 4, 5, 6};
  const Matrix matrix = view(Type::f32, 2, 3, {3, 1, 0}, data.data());
  ASSERT_TRUE(write_npy(path(), matrix));
  const auto again = read_npy(path());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(elements(*again), elements(matrix));
  ASSERT_TRUE(write_npy(path(), transposed(matrix)));  // replaces it
  const auto turned = read_npy(path());
  ASSERT_TRUE(turned) << turned.error().message;
  EXPECT_EQ(elements(*turned), (std::vector<double>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(elements(*again), elements(matrix)) << "a mapped file outlives its replacement";
  EXPECT_EQ(num_files(), 1u);
}

TEST_F(Npy, AFailedWriteLeavesNothing) {
  const Matrix matrix = view(Type::f32, 0, 0, {0, 1, 0}, nullptr);
  for (const std::string& target : {path("absent/x.npy"), path(""), std::string()}) {
    const Result<void> done = write_npy(target, matrix);
    ASSERT_FALSE(done) << target;
    EXPECT_THAT(done.error().message, HasSubstr("output"));
  }
  EXPECT_EQ(num_files(), 0u);
  const Result<void> full = write_npy("/dev/full", matrix);
  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().message, HasSubstr("No space"));
  EXPECT_FALSE(write_npy(path(), view(Type::f8e4m3, 0, 0, {0, 1, 0}, nullptr)));
  EXPECT_EQ(num_files(), 0u);
}

TEST(NpyHeaderText, IsPaddedTo64BytesAndParses) {
  for (const std::int64_t rows : {0, 1, 123456789}) {
    const std::string header = make_npy_header(NpyType::bf16, rows, 7);
    EXPECT_EQ(header.size() % 64, 0u);
    EXPECT_EQ(header.back(), '\n');
    const auto parsed = parse_npy_header(std::as_bytes(std::span(header)), "x");
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->shape[0], rows);
    EXPECT_EQ(parsed->shape[1], 7);
    EXPECT_EQ(parsed->type, NpyType::bf16);
    EXPECT_EQ(parsed->data_offset, static_cast<std::int64_t>(header.size()));
  }
}

TEST(Memory, MoreThanThereIsIsRefusedBeforeItIsTaken) {
  EXPECT_GT(available_memory_bytes(), 0);
  const auto huge = allocate_bytes(std::int64_t{1} << 50, "A");
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(huge.error().message, HasSubstr("A takes 1125899906842624 bytes"));
  EXPECT_FALSE(matrix_bytes(std::int64_t{1} << 40, std::int64_t{1} << 40, Type::f32, "A"));
}

TEST(Converted, RoundsToNearestAndKeepsThePlace) {
  std::vector<double> data = {1, 2.0000001, 3, 1 + 0x1p-30};
  const Matrix matrix = view(Type::f64, 2, 2, {1, 2, 0}, data.data());
  const auto rounded = converted(matrix, Type::f32, "A");
  ASSERT_TRUE(rounded) << rounded.error().message;
  EXPECT_EQ(rounded->strides, (Strides{2, 1, 0}));
  EXPECT_EQ(elements(*rounded), (std::vector<double>{1, 3, 2.0000001f, 1}));
}

}  // namespace
}  // namespace tilewise

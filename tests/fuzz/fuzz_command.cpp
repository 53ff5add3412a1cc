// The command line: each line of the input is one argument. Whatever it is, the command ends with
// one of its exit codes, never with an internal error. It runs in a folder of its own with a file
// of each kind that an option reads (a.npy, b.npy, bias.npy, schedule.json, suite.csv, before.json,
// after.json); standard input is a.npy.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verb.h"

namespace {

using namespace tilewise::cli;

std::vector<std::string> arguments_of(std::string_view text) {
  std::vector<std::string> arguments;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    // A command line cannot hold a zero byte.
    arguments.emplace_back(text.substr(0, std::min(end, text.find('\0'))));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return arguments;
}

bool has_prefix(const std::vector<std::string>& arguments, std::string_view prefix) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const std::string& argument) { return argument.starts_with(prefix); });
}

// A number of three digits or more somewhere: too much work for verbs that compute.
bool has_large_number(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    int digits = 0;
    for (const char c : argument) {
      digits = std::isdigit(static_cast<unsigned char>(c)) ? digits + 1 : 0;
      if (digits > 2) return true;
    }
  }
  return false;
}

// Verbs whose work grows with the sizes; the others take any number.
bool computes(const std::string& verb) {
  constexpr std::string_view kComputes[] = {"bench", "bound", "mma", "run", "simulate"};
  return std::find(std::begin(kComputes), std::end(kComputes), verb) != std::end(kComputes);
}

// The exact optimum explores millions of states from 3 x 3 x 3 on: seconds, with a limit of its
// own.
bool explores_many_states(const std::vector<std::string>& arguments) {
  if (!has_prefix(arguments, "--opt")) return false;
  return std::any_of(arguments.begin() + 1, arguments.end(), [](const std::string& argument) {
    return argument.find_first_not_of("0123456789") == std::string::npos &&
           (argument.size() > 1 || argument > "2");
  });
}

// Not what times the machine (a second each), unless a bench is told to run each shape once.
bool is_cheap(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return true;
  if (computes(arguments[0]) && has_large_number(arguments)) return false;
  if (explores_many_states(arguments)) return false;
  if (arguments[0] != "bench") return !has_prefix(arguments, "--meas");
  const auto is = [&](std::size_t i, std::string_view word) {
    return arguments.size() > i && arguments[i] == word;
  };
  return is(1, "compare") || (is(1, "--seconds") && is(2, "0"));
}

constexpr std::string_view kSchedule =
    R"({"schema": "tilewise.schedule/1", "name": "s", "tiles": [{"level": "block", "m": 8, "n": 8, "k": 4}]})";
constexpr std::string_view kSuite = "name,m,n,k,batch\nx,3,4,5,1\ny,1,2,3,2\n";
constexpr std::string_view kBefore =
    R"({"schema": "tilewise.bench/1", "rows": [{"suite": "s", "name": "x", "time_us": 1}]})";
constexpr std::string_view kAfter =
    R"({"schema": "tilewise.bench/1", "rows": [{"suite": "s", "name": "x", "time_us": 2}]})";

// A .npy file of float32 values.
std::string npy_of(int rows, int columns) {
  const std::string shape = rows > 0 ? std::to_string(rows) + ", " + std::to_string(columns)
                                     : std::to_string(columns) + ",";
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize(117, ' ');
  header += '\n';
  const std::string values(static_cast<std::size_t>(std::max(rows, 1)) *
                               static_cast<std::size_t>(columns) * sizeof(float),
                           '\0');
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + values;
}

void write_file(const std::string& name, std::string_view text) {
  std::filesystem::remove_all(name);
  std::ofstream(name, std::ios::binary) << text;
}

void write_files() {
  write_file("a.npy", npy_of(6, 4));
  write_file("b.npy", npy_of(4, 5));
  write_file("bias.npy", npy_of(0, 5));
  write_file("schedule.json", kSchedule);
  write_file("suite.csv", kSuite);
  write_file("before.json", kBefore);
  write_file("after.json", kAfter);
}

// The folder that the command works in; removed at the end.
class Folder {
 public:
  Folder() {
    char path[] = "/tmp/tilewise_fuzz_XXXXXX";
    if (::mkdtemp(path) == nullptr || ::chdir(path) != 0) std::abort();
    path_ = path;
    write_files();
    input_ = ::open("/proc/self/cwd/a.npy", O_RDONLY);
    const int nothing = ::open("/dev/null", O_RDWR);
    ::dup2(input_, STDIN_FILENO);
    ::dup2(nothing, STDOUT_FILENO);
    nothing_ = ::fdopen(nothing, "w");
  }
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::FILE* nothing() const { return nothing_; }
  void rewind() const { ::lseek(STDIN_FILENO, 0, SEEK_SET); }
  // A run that could write files must not change what the next one reads.
  static void restore() {
    for (const auto& entry : std::filesystem::directory_iterator(".")) {
      std::filesystem::remove_all(entry.path());
    }
    write_files();
  }

 private:
  std::string path_;
  int input_ = -1;
  std::FILE* nothing_ = nullptr;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> arguments = arguments_of(text);
  // A path with a slash would leave the folder that the fuzzer works in.
  if (text.find('/') != std::string_view::npos || !is_cheap(arguments)) return 0;
  static const Folder folder;
  folder.rewind();
  Console console;
  console.out = console.err = folder.nothing();
  if (run_command(arguments, console) == ExitCode::internal_error) std::abort();
  if (has_prefix(arguments, "-o") || has_prefix(arguments, "--o") ||
      has_prefix(arguments, "--svg")) {
    Folder::restore();
  }
  return 0;
}

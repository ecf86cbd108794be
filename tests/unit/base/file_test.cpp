#include "base/file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <catch2/catch.hpp>

using trainyard::base::ErrorCode;
using trainyard::base::readFile;

namespace {

struct Folder {
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "trainyard-file-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string write(const std::string& text) const {
    std::ofstream(path / "file", std::ios::binary) << text;
    return (path / "file").string();
  }
  std::filesystem::path path;
};

}  // namespace

TEST_CASE("a file is read as it is") {
  const Folder folder;
  CHECK(readFile(folder.write("")) == "");
  const std::string large(200'000, '\0');
  CHECK(readFile(folder.write(large)) == large);
}

TEST_CASE("an unreadable file is reported with its name and the cause") {
  const Folder folder;
  const std::string gone = (folder.path / "gone").string();
  CHECK(readFile(gone).error().message == gone + ": cannot be read (No such file or directory)");
  CHECK(readFile(folder.path).error().message == folder.path.string() + ": cannot be read (Is a directory)");
  CHECK(readFile(gone).error().code == ErrorCode::kInvalid);
}

TEST_CASE("a file larger than the limit is refused") {
  const Folder folder;
  const std::string file = folder.write("12345");
  CHECK(readFile(file, 5) == "12345");
  CHECK(readFile(file, 4).error().message == file + ": is larger than 4 bytes");
}

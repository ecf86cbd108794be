#include "net/tls_files.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <catch2/catch.hpp>

namespace {

using namespace trainyard;

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("trainyard-tls-{}", getpid());
  Folder() { std::filesystem::create_directory(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream(path / name) << text;
    return path / name;
  }
};

TEST_CASE("certificate and key and client CA are read as they are") {
  const Folder folder;
  const auto read = net::readTlsFiles({folder.write("crt", "certificate\n"), folder.write("key", "key\n"),
                                       folder.write("ca", "authority\n")});
  REQUIRE(read);
  CHECK(read->certificatePem == "certificate\n");
  CHECK(read->privateKeyPem == "key\n");
  CHECK(read->clientCaPem == "authority\n");
}

TEST_CASE("without a file of client CAs there is no authority for clients") {
  const Folder folder;
  const auto read = net::readTlsFiles({folder.write("crt", "certificate\n"), folder.write("key", "key\n")});
  REQUIRE(read);
  CHECK(read->clientCaPem.empty());
}

TEST_CASE("a file that is missing or empty is named") {
  const Folder folder;
  const std::string good = folder.write("good", "x");
  const std::string gone = folder.path / "gone";
  CHECK(net::readTlsFiles({gone, good, good}).error().message ==
        gone + ": cannot be read (No such file or directory)");
  CHECK(net::readTlsFiles({good, gone, good}).error().message ==
        gone + ": cannot be read (No such file or directory)");
  // An empty client CA would admit every client.
  const std::string empty = folder.write("empty", "");
  CHECK(net::readTlsFiles({good, good, empty}).error().message == empty + ": is empty");
}

}  // namespace

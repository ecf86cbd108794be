// The connection over real TLS, with certificates in files that change like those of a mounted Secret.

#include "kube/connection.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "tests/unit/net/harness.h"
#include "tests/unit/net/pki.h"

namespace trainyard::kube {
namespace {

namespace fs = std::filesystem;
using net::test::Certificate;
using net::test::LoopThread;
using net::test::Pki;

// Keeps lines and lets a test wait for one of them.
class Lines final : public base::LogSink {
 public:
  void write(std::string_view line) override {
    const std::lock_guard lock(mutex_);
    text_ += line;
    text_ += '\n';
    changed_.notify_all();
  }
  // Waits until `what` was logged `times` times.
  [[nodiscard]] bool await(const std::string& what, int times) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, net::test::kPatience, [&] {
      int seen = 0;
      for (auto at = text_.find(what); at != std::string::npos; at = text_.find(what, at + 1)) ++seen;
      return seen >= times;
    });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
};

// A folder with files that change at the same time: names are links into ..data, a link to a version.
class SecretVolume {
 public:
  SecretVolume() {
    std::string name = (fs::temp_directory_path() / "trainyard-secret-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
  }
  ~SecretVolume() { fs::remove_all(folder_); }
  SecretVolume(const SecretVolume&) = delete;
  SecretVolume& operator=(const SecretVolume&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  void publish(const std::string& ca, const Certificate& identity) {
    const fs::path version = folder_ / fmt::format("..version{}", ++versions_);
    fs::create_directory(version);
    std::ofstream(version / "ca.crt") << ca;
    std::ofstream(version / "tls.crt") << identity.certificatePem;
    std::ofstream(version / "tls.key") << identity.keyPem;
    fs::create_symlink(version.filename(), folder_ / "..next");
    fs::rename(folder_ / "..next", folder_ / "..data");
    if (versions_ > 1) return;
    for (const char* name : {"ca.crt", "tls.crt", "tls.key"}) {
      fs::create_symlink(fs::path("..data") / name, folder_ / name);
    }
  }

 private:
  fs::path folder_;
  int versions_ = 0;
};

struct Fixture {
  Pki pki;
  SecretVolume secret;
  Lines lines;
  LoopThread loop;
  std::unique_ptr<net::HttpServer> server;
  std::unique_ptr<ApiConnection> connection;

  Fixture() {
    server = net::test::startServer(
        [](const net::ServerRequest& request, const std::shared_ptr<net::Exchange>& exchange) {
          exchange->reply(
              {.status = 200, .body = fmt::format(R"({{"who":"{}"}})", request.clientCommonName)});
        },
        {.tls = net::test::serverTls(pki.issue("server"), pki.caPem())});
    secret.publish(pki.caPem(), pki.issue("first"));
    std::ofstream(secret.path("config"))
        << "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
           "contexts:\n- {name: c, context: {cluster: k, user: u}}\n"
           "clusters:\n- name: k\n  cluster: {server: "
        << net::test::urlOf(*server, "https")
        << ", certificate-authority: ca.crt}\n"
           "users:\n- name: u\n  user: {client-certificate: tls.crt, client-key: tls.key}\n";
    const auto config = loadConnectionConfig({.kubeconfig = secret.path("config")});
    REQUIRE(config);
    loop.run([&] {
      auto made = makeApiClient(*config, loop.loop(), base::Rng(1),
                                base::Logger(lines, base::LogLevel::kInfo, "test"),
                                {.tlsPoll = std::chrono::milliseconds(10)});
      REQUIRE(made);
      connection = std::move(*made);
    });
  }
  ~Fixture() {
    loop.run([&] { connection.reset(); });
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  // The name by which the server identifies the client, for either client.
  std::string whoAmI(bool lease = false) {
    std::promise<std::string> answer;
    loop.loop().post([&] {
      ApiClient& api = lease ? connection->leaseApi() : connection->api();
      api.get("/api", [&](const base::Result<ApiResponse>& got) {
        answer.set_value(got ? got->body : got.error().message);
      });
    });
    return net::test::await(answer.get_future());
  }
};

TEST_CASE("A rotated client certificate is used for later requests") {
  Fixture fixture;
  CHECK(fixture.whoAmI() == R"({"who":"first"})");
  fixture.secret.publish(fixture.pki.caPem(), fixture.pki.issue("second"));
  REQUIRE(fixture.lines.await("certificates were read again", 1));
  CHECK(fixture.whoAmI() == R"({"who":"second"})");
  CHECK(fixture.whoAmI(true) == R"({"who":"second"})");
}

TEST_CASE("A rotated CA is trusted and files that cannot be used change nothing") {
  Fixture fixture;
  const Pki renewed("renewed CA");
  fixture.secret.publish("", fixture.pki.issue("second"));
  REQUIRE(fixture.lines.await("ca.crt: is empty", 1));
  fixture.secret.publish(fixture.pki.caPem(), {fixture.pki.issue("a").certificatePem, "torn"});
  REQUIRE(fixture.lines.await("client private key: unreadable", 1));
  CHECK(fixture.whoAmI() == R"({"who":"first"})");

  fixture.secret.publish(fixture.pki.caPem() + renewed.caPem(), fixture.pki.issue("third"));
  REQUIRE(fixture.lines.await("certificates were read again", 1));
  REQUIRE(fixture.server->reloadTls(
      net::test::serverTls(renewed.issue("server"), fixture.pki.caPem() + renewed.caPem())));
  fixture.secret.publish(renewed.caPem(), renewed.issue("fourth"));
  REQUIRE(fixture.lines.await("certificates were read again", 2));
  CHECK(fixture.whoAmI() == R"({"who":"fourth"})");
}

}  // namespace
}  // namespace trainyard::kube

#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "base/event_loop.h"
#include "codec/exec_credential.h"
#include "kube/child_process.h"
#include "kube/exec_credentials.h"
#include "tests/unit/kube/fake_http.h"

namespace trainyard::kube {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

// Real programs and a real loop: the test covers their interaction.
struct Fixture {
  fs::path folder;
  base::EventLoop loop;
  testing::LogLines logLines;
  base::Logger log{logLines, base::LogLevel::kDebug, "test"};
  std::unique_ptr<CredentialSource> source;
  std::thread thread{[this] { loop.run(); }};

  Fixture() {
    std::string name = (fs::temp_directory_path() / "trainyard-exec-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder = name;
  }
  ~Fixture() {
    onLoop([this] { source.reset(); });
    loop.stop();
    thread.join();
    fs::remove_all(folder);
  }

  void onLoop(const std::function<void()>& task) {
    std::promise<void> ran;
    loop.post([&] {
      task();
      ran.set_value();
    });
    ran.get_future().wait();
  }
  std::string script(const std::string& body) {
    const fs::path path = folder / "plugin.sh";
    std::ofstream(path) << "#!/bin/sh\necho run >> " << (folder / "runs").string() << "\n" << body;
    ::chmod(path.c_str(), 0755);
    return path.string();
  }
  void use(const std::string& body, const std::string& hint = "") {
    const ExecPlugin plugin{.command = script(body),
                            .args = {"one"},
                            .env = {{"EXTRA", "two"}},
                            .info = "INFO",
                            .installHint = hint};
    onLoop([&] { source = makeExecCredentials(plugin, loop, log); });
  }
  base::Result<std::string> ask() {
    std::promise<base::Result<std::string>> answer;
    onLoop([&] {
      source->authorization([&](base::Result<std::string> value) { answer.set_value(std::move(value)); });
    });
    return answer.get_future().get();
  }
  [[nodiscard]] std::size_t runs() const {
    std::ifstream in(folder / "runs");
    std::size_t lines = 0;
    for (std::string line; std::getline(in, line);) ++lines;
    return lines;
  }
};

std::string credential(const std::string& status) {
  return R"(echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)" +
         status + "}'\n";
}

TEST_CASE_METHOD(Fixture, "a plug-in gets its arguments and environment and its token is cached") {
  use("cat <<EOF\n{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\","
      "\"status\":{\"token\":\"$1-$EXTRA-$KUBERNETES_EXEC_INFO\"}}\nEOF\n");
  CHECK(ask() == std::string("Bearer one-two-INFO"));
  CHECK(ask() == std::string("Bearer one-two-INFO"));
  CHECK(runs() == 1);
  // A refusal runs the plug-in again. A second refusal of the old value does not, because it is replaced.
  onLoop([&] { source->refused("Bearer one-two-INFO"); });
  CHECK(ask());
  onLoop([&] { source->refused("Bearer another"); });
  CHECK(ask());
  CHECK(runs() == 2);
}

TEST_CASE_METHOD(Fixture, "a token serves until it expires") {
  use(credential(R"({"token":"t","expirationTimestamp":"2199-01-01T00:00:00Z"})"));
  CHECK(ask());
  CHECK(ask());
  CHECK(runs() == 1);
  use(credential(R"({"token":"t","expirationTimestamp":"2001-01-01T00:00:00Z"})"));
  CHECK(ask() == std::string("Bearer t"));
  CHECK(ask() == std::string("Bearer t"));
  CHECK(runs() == 3);
}

TEST_CASE_METHOD(Fixture, "callers during a run share that run") {
  use("sleep 0.2\n" + credential(R"({"token":"t"})"));
  std::promise<void> all;
  int answered = 0;
  onLoop([&] {
    for (int i = 0; i < 5; ++i) {
      source->authorization([&](base::Result<std::string> value) {
        if (value && ++answered == 5) all.set_value();
      });
    }
  });
  REQUIRE(all.get_future().wait_for(10s) == std::future_status::ready);
  CHECK(runs() == 1);
}

TEST_CASE_METHOD(Fixture, "a failing plug-in is reported and not started for every request") {
  use("echo broken >&2\nexit 3\n", "install it so");
  const auto answer = ask();
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == base::ErrorCode::kUnavailable);
  CHECK(answer.error().message == (folder / "plugin.sh").string() + ": exit code 3: broken; install it so");
  CHECK_FALSE(ask());
  CHECK(runs() == 1);
}

TEST_CASE_METHOD(Fixture, "output that is no credential is refused") {
  const auto messageFor = [&](const std::string& body) {
    use(body);
    const auto answer = ask();
    REQUIRE_FALSE(answer);
    return answer.error().message;
  };
  CHECK(messageFor("echo hello\n").find("its output: ") != std::string::npos);
  CHECK(messageFor(credential("{}")).find("status: has neither token nor clientCertificateData") !=
        std::string::npos);
  CHECK(messageFor(credential(R"({"token":"a\\nb"})")).find("status.token: has more than one line") !=
        std::string::npos);
  CHECK(messageFor(credential(R"({"clientCertificateData":"C","clientKeyData":"K"})")).find("only tokens") !=
        std::string::npos);
  CHECK(messageFor("echo '{\"apiVersion\":\"v0\",\"kind\":\"ExecCredential\"}'\n")
            .find("apiVersion: must be") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "destroying the source ends a running plug-in") {
  use("echo $$ > " + (folder / "pid").string() + "\nsleep 60\n");
  onLoop([&] { source->authorization([](base::Result<std::string>) {}); });
  int pid = 0;
  for (int i = 0; i < 500 && pid == 0; ++i) {
    std::this_thread::sleep_for(10ms);
    std::ifstream(folder / "pid") >> pid;
  }
  REQUIRE(pid > 0);
  const auto before = std::chrono::steady_clock::now();
  onLoop([&] { source.reset(); });
  CHECK(std::chrono::steady_clock::now() - before < 5s);
  CHECK(::kill(pid, 0) != 0);
}

TEST_CASE_METHOD(Fixture, "programs that cannot run or hang or write too much or leave children behind") {
  const std::stop_token none;
  const auto problem = [&](ChildProcess child) {
    const auto output = runChild(child, none);
    return output ? "output " + *output : output.error().message.substr(child.command.size());
  };
  CHECK(problem({.command = "/does/not/exist"}) == ": cannot be started: No such file or directory");
  CHECK(problem({.command = script("sleep 60\n"), .timeout = 100ms}) == ": took longer than 100 ms");
  CHECK(problem({.command = script("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done\n"),
                 .maxOutputBytes = 1000}) == ": wrote too much");
  CHECK(problem({.command = script("kill -9 $$\n")}) == ": signal 9: ");
  CHECK(problem({.command = script("sleep 3 &\necho hi\n")}) == "output hi\n");
  CHECK(problem({.command = script("cat; echo end\n")}) == "output end\n");  // there is no input
  // More than the capacity of a pipe.
  const auto big = runChild({.command = script("head -c 500000 /dev/zero | tr '\\0' x\n")}, none);
  REQUIRE(big);
  CHECK(big->size() == 500'000);
}

}  // namespace
}  // namespace trainyard::kube

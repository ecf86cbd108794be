#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <catch2/catch.hpp>

#include "codec/base64.h"
#include "codec/kubeconfig.h"
#include "kube/config.h"

namespace trainyard::kube {
namespace {

namespace fs = std::filesystem;

struct Fixture {
  fs::path folder;
  std::map<std::string, std::string> environment;

  Fixture() {
    std::string name = (fs::temp_directory_path() / "trainyard-config-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder = name;
  }
  ~Fixture() { fs::remove_all(folder); }

  std::string write(const std::string& name, const std::string& text) {
    const fs::path path = folder / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  [[nodiscard]] base::Result<ConnectionConfig> load(std::optional<std::string> flag = std::nullopt,
                                                    const std::string& context = "") const {
    ConfigSources sources{.kubeconfig = std::move(flag), .context = context};
    sources.environment = [this](const std::string& name) -> std::optional<std::string> {
      const auto at = environment.find(name);
      return at == environment.end() ? std::nullopt : std::optional(at->second);
    };
    sources.serviceAccountFolder = (folder / "sa").string();
    return loadConnectionConfig(sources);
  }
  // Writes a kubeconfig of one context with these further lines in its cluster and user.
  std::string writeSimple(const std::string& cluster, const std::string& user) {
    return write("config",
                 "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                 "contexts:\n- {name: c, context: {cluster: k, user: u, namespace: ml}}\n"
                 "clusters:\n- name: k\n  cluster:\n    server: https://10.0.0.1:6443\n" +
                     cluster + "users:\n- name: u\n  user:\n    ignored: 1\n" + user);
  }
  [[nodiscard]] std::string problem(const std::string& cluster, const std::string& user) {
    const std::string path = writeSimple(cluster, user);
    const auto config = load(path);
    REQUIRE_FALSE(config);
    CHECK(config.error().code == base::ErrorCode::kInvalid);
    // Every message begins with the file.
    CHECK(config.error().message.starts_with(path));
    return config.error().message.substr(path.size());
  }
};

TEST_CASE_METHOD(Fixture, "base64") {
  for (const std::string text : {"", "a", "ab", "abc", "abcd", "\xff\x00\x01"}) {
    CHECK(codec::decodeBase64(codec::encodeBase64(text)) == text);
  }
  CHECK(codec::decodeBase64("YWJj\nZA==\n") == std::string("abcd"));
  for (const char* bad : {"a", "ab=", "a===", "ab==cd==", "a*bc", "====", "YWJjZA"}) {
    INFO(bad);
    CHECK_FALSE(codec::decodeBase64(bad));
  }
}

TEST_CASE_METHOD(Fixture, "a kubeconfig with data") {
  const auto config =
      load(writeSimple("    certificate-authority-data: Q0E=\n    certificate-authority: nowhere\n",
                       "    client-certificate-data: Q0VSVA==\n    client-key-data: S0VZ\n"));
  REQUIRE(config);
  CHECK(config->server == "https://10.0.0.1:6443");
  CHECK(config->pathPrefix.empty());
  CHECK(config->tls.caPem == "CA");
  CHECK(config->tls.certificatePem == "CERT");
  CHECK(config->tls.privateKeyPem == "KEY");
  CHECK_FALSE(config->tls.insecureSkipVerify);
  CHECK(config->ns == "ml");
  CHECK(config->source.find("context c") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "paths start from the kubeconfig's folder") {
  write("pki/ca.crt", "CA");
  write("pki/me.crt", "CERT");
  write("me.key", "KEY");
  const auto config = load(
      writeSimple("    certificate-authority: pki/ca.crt\n    tls-server-name: kubernetes\n",
                  "    client-certificate: ./pki/me.crt\n    client-key: " + (folder / "me.key").string() +
                      "\n    tokenFile: token\n    token: old\n"));
  REQUIRE(config);
  CHECK(config->tls.caPem == "CA");
  CHECK(config->tls.certificatePem == "CERT");
  CHECK(config->tls.privateKeyPem == "KEY");
  CHECK(config->tls.serverName == "kubernetes");
  CHECK(config->tokenFile == (folder / "token").string());
  CHECK(config->authorization.empty());
}

TEST_CASE_METHOD(Fixture, "a proxy is the cluster's or else the environment's") {
  CHECK(load(writeSimple("    proxy-url: http://p:3128\n", ""))->proxy == "http://p:3128");
  CHECK(load(writeSimple("", ""))->proxy.empty());
  environment["HTTPS_PROXY"] = "http://environment:3128";
  CHECK(load(writeSimple("", ""))->proxy == "http://environment:3128");
  CHECK(load(writeSimple("    proxy-url: http://p:3128\n", ""))->proxy == "http://p:3128");
  environment["NO_PROXY"] = "10.0.0.0/8";
  CHECK(load(writeSimple("", ""))->proxy.empty());
}

TEST_CASE_METHOD(Fixture, "credentials and impersonation of a user are read") {
  CHECK(load(writeSimple("", "    token: 12345\n"))->authorization == "Bearer 12345");
  CHECK(load(writeSimple("", "    username: ann\n    password: p:w\n"))->authorization ==
        "Basic YW5uOnA6dw==");
  const auto config = load(writeSimple("    insecure-skip-tls-verify: true\n",
                                       "    token: t\n    as: bob\n    as-uid: '7'\n    as-groups: [g1]\n"
                                       "    as-user-extra: {scopes: [a]}\n"));
  REQUIRE(config);
  CHECK(config->tls.insecureSkipVerify);
  CHECK(config->headers == net::Headers{{"Impersonate-User", "bob"},
                                        {"Impersonate-Uid", "7"},
                                        {"Impersonate-Group", "g1"},
                                        {"Impersonate-Extra-scopes", "a"}});
}

TEST_CASE_METHOD(Fixture, "an exec plug-in") {
  const auto config = load(writeSimple("    certificate-authority-data: Q0E=\n",
                                       "    exec:\n"
                                       "      apiVersion: client.authentication.k8s.io/v1beta1\n"
                                       "      command: bin/get-token\n"
                                       "      args: [--cluster, 1]\n"
                                       "      env: [{name: A, value: b}]\n"
                                       "      provideClusterInfo: true\n"
                                       "      interactiveMode: IfAvailable\n"));
  REQUIRE(config);
  REQUIRE(config->exec);
  CHECK(config->exec->command == (folder / "bin/get-token").string());
  CHECK(config->exec->args == std::vector<std::string>{"--cluster", "1"});
  CHECK(config->exec->env == std::vector<std::pair<std::string, std::string>>{{"A", "b"}});
  CHECK(
      config->exec->info ==
      R"({"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","spec":{"interactive":false,)"
      R"("cluster":{"server":"https://10.0.0.1:6443","certificate-authority-data":"Q0E="}}})");
}

TEST_CASE_METHOD(Fixture, "an unusable value is named by file and key") {
  CHECK(problem("    certificate-authority: nowhere\n", "") ==
        ": cluster k: certificate-authority: " + (folder / "nowhere").string() +
            ": cannot be read (No such file or directory)");
  CHECK(problem("    certificate-authority-data: '*'\n", "") ==
        ": clusters[0].cluster.certificate-authority-data: not base64: a character outside the alphabet");
  CHECK(problem("    insecure-skip-tls-verify: maybe\n", "") ==
        ": clusters[0].cluster.insecure-skip-tls-verify: expected true or false");
  CHECK(problem("    insecure-skip-tls-verify: true\n    certificate-authority-data: Q0E=\n", "") ==
        ": cluster k: insecure-skip-tls-verify contradicts certificate-authority");
  CHECK(problem("    tls-server-name: [a]\n", "") ==
        ": clusters[0].cluster.tls-server-name: expected a text");
  CHECK(problem("    server: https://other\n", "") == ": clusters[0].cluster: key \"server\" occurs twice");
  CHECK(problem("", "    client-certificate-data: Q0E=\n") ==
        ": user u: client-certificate and client-key must be given together");
  CHECK(problem("", "    as: a\n    as-groups: [g, h]\n") ==
        ": user u: several values of Impersonate-Group are not supported");
  CHECK(problem("", "    as-groups: [g]\n") == ": user u: as-… needs as");
  CHECK(problem("", "    token: \"a\\nX-Evil: 1\"\n") == ": user u: token: more than one line");
  CHECK(problem("", "    auth-provider: {name: gcp}\n") ==
        ": user u: auth-provider gcp is not supported: use exec");
  CHECK(problem("", "    exec: {apiVersion: client.authentication.k8s.io/v1}\n") ==
        ": users[0].user.exec.command: is missing");
  CHECK(problem("", "    exec: {apiVersion: v9, command: c}\n").find("users[0].user.exec.apiVersion") !=
        std::string::npos);
  CHECK(problem(
            "",
            "    exec: {apiVersion: client.authentication.k8s.io/v1, command: c, interactiveMode: Always}\n")
            .find("needs a terminal") != std::string::npos);
  CHECK(problem("", "  }{\n").find("yaml-cpp") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "references that lead nowhere are named") {
  const auto messageOf = [&](const std::string& text) {
    const auto config = load(write("config", text));
    REQUIRE_FALSE(config);
    return config.error().message;
  };
  const std::string cluster = "clusters: [{name: k, cluster: {server: 'https://h'}}]\n";
  CHECK(messageOf("").find("current-context is missing") != std::string::npos);
  CHECK(messageOf("- a\n").find("expected a map") != std::string::npos);
  CHECK(messageOf("kind: Pod\n").find("kind: expected Config, is \"Pod\"") != std::string::npos);
  CHECK(messageOf("current-context: c\n").find("contexts has no \"c\"") != std::string::npos);
  CHECK(messageOf("current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n")
            .find("context c: clusters has no \"k\"") != std::string::npos);
  CHECK(messageOf("current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n" + cluster)
            .find("context c: users has no \"u\"") != std::string::npos);
  CHECK(messageOf("current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters: [{name: k}]\n")
            .find("clusters[0].cluster.server: is missing") != std::string::npos);
  for (const char* server : {"10.0.0.1:6443", "ftp://h", "https://", "https://u:p@h", "https://h?x=1"}) {
    INFO(server);
    CHECK(
        messageOf(
            "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters: [{name: k, cluster: "
            "{server: '" +
            std::string(server) + "'}}]\n")
            .find("cluster k: server: ") != std::string::npos);
  }
  CHECK(load((folder / "absent").string()).error().message ==
        (folder / "absent").string() + ": cannot be read (No such file or directory)");
}

TEST_CASE_METHOD(Fixture, "a server below a path and another context") {
  const std::string path =
      write("config",
            "current-context: a\n"
            "contexts: [{name: a, context: {cluster: k}}, {name: b, context: {cluster: l}}]\n"
            "clusters: [{name: k, cluster: {server: 'https://h/k8s/clusters/c1/'}}, "
            "{name: l, cluster: {server: 'http://localhost:8001'}}]\n");
  CHECK(load(path)->server == "https://h");
  CHECK(load(path)->pathPrefix == "/k8s/clusters/c1");
  CHECK(load(path)->ns == "default");
  CHECK(load(path, "b")->server == "http://localhost:8001");
}

TEST_CASE_METHOD(Fixture, "several files are merged name by name and the first wins") {
  write("one/ca.crt", "CA1");
  write("two/ca.crt", "CA2");
  const std::string one =
      write("one/config",
            "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
            "clusters: [{name: k, cluster: {server: 'https://one', certificate-authority: ca.crt}}]\n");
  const std::string two = write("two/config",
                                "current-context: c\n"
                                "clusters: [{name: k, cluster: {server: 'https://two'}}]\n"
                                "users: [{name: u, user: {tokenFile: token}}]\n");
  environment["KUBECONFIG"] = (folder / "absent").string() + ":" + one + "::" + two;
  const auto config = load();
  REQUIRE(config);
  CHECK(config->server == "https://one");
  CHECK(config->tls.caPem == "CA1");
  CHECK(config->tokenFile == (folder / "two/token").string());

  environment["KUBECONFIG"] = (folder / "absent").string();
  CHECK(load().error().message.find("no such file") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "in a pod") {
  environment["KUBERNETES_SERVICE_HOST"] = "10.96.0.1";
  CHECK(load().error().message.find("KUBERNETES_SERVICE_PORT") != std::string::npos);
  environment["KUBERNETES_SERVICE_PORT"] = "443";
  CHECK(load().error().message.find("ca.crt: cannot be read (No such file or directory)") !=
        std::string::npos);
  write("sa/ca.crt", "CA");
  CHECK(load().error().message.find("token: no such file") != std::string::npos);
  write("sa/token", "T");
  write("sa/namespace", "trainyard-system\n");
  const auto config = load();
  REQUIRE(config);
  CHECK(config->server == "https://10.96.0.1:443");
  CHECK(config->tls.caPem == "CA");
  CHECK(config->tokenFile == (folder / "sa/token").string());
  CHECK(config->ns == "trainyard-system");
  environment["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  CHECK(load()->server == "https://[fd00::1]:443");
}

TEST_CASE_METHOD(Fixture, "the order of sources") {
  CHECK(load().error().message.find("no API server known") != std::string::npos);
  const auto text = [](const std::string& host) {
    return "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters: [{name: k, cluster: "
           "{server: "
           "'https://" +
           host + "'}}]\n";
  };
  write("home/.kube/config", text("home"));
  environment["HOME"] = (folder / "home").string();
  CHECK(load()->server == "https://home");
  write("sa/ca.crt", "CA");
  write("sa/token", "T");
  environment["KUBERNETES_SERVICE_HOST"] = "10.96.0.1";
  environment["KUBERNETES_SERVICE_PORT"] = "443";
  CHECK(load()->source == "in cluster");
  environment["KUBECONFIG"] = write("env", text("env"));
  CHECK(load()->server == "https://env");
  CHECK(load(write("flag", text("flag")))->server == "https://flag");
}

TEST_CASE_METHOD(Fixture, "aliases cannot blow up and deep nesting is refused") {
  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + ", *a" +
            std::to_string(i - 1) + "]\n";
  }
  CHECK_FALSE(load(write("config", bomb + "users: *a39\n")));
  CHECK_FALSE(load(write("config", std::string(5000, '['))));
}

}  // namespace
}  // namespace trainyard::kube

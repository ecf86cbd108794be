// The client over cpprestsdk, which only the files net/client_*.cpp use.
#include <utility>

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>

#include "net/client.h"
#include "net/client_core.h"
#include "net/client_send.h"
#include "net/client_stream.h"
#include "net/client_threads.h"
#include "net/client_url.h"
#include "net/tls_material.h"

// cpprestsdk makes a TLS context for every connection, which reads the system's whole CA bundle (50 ms and
// more); TlsMaterial then discards it. This definition overrides libssl's for every library of the process,
// so nothing is read. (Rejected: an empty file named by SSL_CERT_FILE. Child processes, such as credential
// plugins of a kubeconfig, would inherit it and trust no CA.) If the definition is ever not effective,
// connections are only slower.
extern "C" __attribute__((visibility("default"), used)) int SSL_CTX_set_default_verify_paths(SSL_CTX*) {
  return 1;
}

namespace trainyard::net {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// cpprestsdk's threads run until the end of the process, beyond the exit handler by which OpenSSL frees what
// they use. This runs before main, because the first use of OpenSSL installs the handler.
[[maybe_unused]] const bool kOpensslStays = OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr) == 1;

class CpprestStream final : public StreamHandle {
 public:
  explicit CpprestStream(std::shared_ptr<StreamOperation> operation) : operation_(std::move(operation)) {}
  ~CpprestStream() override { operation_->drop(); }

 private:
  const std::shared_ptr<StreamOperation> operation_;
};

class CpprestClient final : public ReloadableHttpClient {
 public:
  explicit CpprestClient(std::shared_ptr<ClientCore> core) : core_(std::move(core)) {}
  ~CpprestClient() override { core_->close(); }

  void send(HttpRequest request, std::function<void(Result<HttpResponse>)> done) override {
    if (auto valid = checkRequest(request); !valid) {
      core_->postToLoop([done = std::move(done), error = std::move(valid.error())] { done(fail(error)); });
      return;
    }
    const auto operation = std::make_shared<SendOperation>(core_, std::move(request), std::move(done));
    operation->armDeadline();
    core_->admit(operation);
  }

  std::unique_ptr<StreamHandle> stream(HttpRequest request, StreamCallbacks callbacks) override {
    auto valid = checkRequest(request);
    const auto operation = std::make_shared<StreamOperation>(core_, std::move(request), std::move(callbacks));
    core_->add(operation);
    if (valid) {
      operation->begin();
    } else {
      operation->end(fail(std::move(valid.error())));
    }
    return std::make_unique<CpprestStream>(operation);
  }

  Result<void> reloadTls(const TlsClientConfig& tls) override {
    if (!core_->options.tls || !core_->options.url.starts_with("https")) {
      return fail(ErrorCode::kInvalid, fmt::format("{}: has no TLS to change", core_->options.url));
    }
    auto parsed = TlsMaterial::forClient(tls);
    if (!parsed) return fail(std::move(parsed.error()));
    core_->transport.useTls(std::move(*parsed));
    return {};
  }

 private:
  const std::shared_ptr<ClientCore> core_;
};

}  // namespace

Result<std::unique_ptr<ReloadableHttpClient>> makeHttpClient(ClientOptions options,
                                                             base::Executor& executor) {
  try {
    if (auto valid = checkUrl(options); !valid) return fail(std::move(valid.error()));
    if (auto valid = checkProxy(options.proxy); !valid) return fail(std::move(valid.error()));
    while (options.url.ends_with('/')) options.url.pop_back();
    std::shared_ptr<const TlsMaterial> tls;
    if (options.tls && options.url.starts_with("https")) {
      auto parsed = TlsMaterial::forClient(*options.tls);
      if (!parsed) return fail(std::move(parsed.error()));
      tls = std::move(*parsed);
    }
    startThreadPoolOnce(options.threads);
    auto core = std::make_shared<ClientCore>(std::move(options), executor, std::move(tls));
    return std::make_unique<CpprestClient>(std::move(core));
  } catch (const std::exception& problem) {
    return fail(ErrorCode::kInvalid, fmt::format("HTTP client: {}", problem.what()));
  }
}

}  // namespace trainyard::net

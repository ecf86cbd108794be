#pragma once

// Internal to the client.

#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include "base/error.h"
#include "net/client.h"
#include "net/client_body.h"
#include "net/client_library.h"
#include "net/client_tls_verdict.h"
#include "net/http.h"
#include "net/tls_material.h"

namespace trainyard::net {

// cpprestsdk's client of one server. Thread-safe.
class ClientTransport {
 public:
  // `options` must outlive this object; `tls` is null without TLS.
  ClientTransport(const ClientOptions& options, std::shared_ptr<const TlsMaterial> tls);

  // A client's connections keep the identity they were opened with, so a new identity needs a new client. The
  // old one lives as long as its requests.
  void useTls(std::shared_ptr<const TlsMaterial> tls);

  // Sends the request; exceptions arrive in the task.
  [[nodiscard]] pplx::task<web::http::http_response> start(const HttpRequest& request,
                                                           const std::shared_ptr<BodySource>& source,
                                                           BodySink::Take take,
                                                           const pplx::cancellation_token& token);
  // `source`: of the request that failed.
  [[nodiscard]] base::Error errorFrom(std::exception_ptr exception, const BodySource& source) const;

 private:
  using Client = web::http::client::http_client;
  [[nodiscard]] web::http::client::http_client_config makeConfig(
      std::shared_ptr<const TlsMaterial> tls) const;
  [[nodiscard]] std::shared_ptr<Client> makeClient(std::shared_ptr<const TlsMaterial> tls) const;
  [[nodiscard]] std::shared_ptr<Client> client();

  const ClientOptions& options_;
  const std::string hostHeader_;
  const std::shared_ptr<TlsVerdict> verdict_;
  std::mutex mutex_;
  std::shared_ptr<Client> client_;
};

// Status and headers.
[[nodiscard]] HttpResponse headOf(const web::http::http_response& response);

}  // namespace trainyard::net

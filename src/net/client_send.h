#pragma once

// Internal to the client.

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <boost/asio/steady_timer.hpp>

#include "net/client_core.h"

namespace trainyard::net {

// A request with one answer.
class SendOperation final : public ClientOperation, public std::enable_shared_from_this<SendOperation> {
 public:
  SendOperation(std::shared_ptr<ClientCore> core, HttpRequest request,
                std::function<void(base::Result<HttpResponse>)> done);

  void armDeadline();
  // Called once by the core when the request may start.
  void begin();
  // Returns false if the request has ended; otherwise it counts as in flight until the core removes it.
  [[nodiscard]] bool takeSlot();
  void drop() override;

 private:
  pplx::task<std::size_t> take(std::string_view piece);
  void onHead(const pplx::task<web::http::http_response>& headTask);
  void onBody(const pplx::task<web::http::http_response>& whole);
  void expire();
  // Returns true for the first caller, which alone may use done_.
  bool close();
  void finish(base::Result<HttpResponse> result);
  [[nodiscard]] base::Error error(std::exception_ptr exception) const;

  const std::shared_ptr<ClientCore> core_;
  HttpRequest request_;
  std::shared_ptr<BodySource> source_;
  std::string body_;  // grows on cpprestsdk's threads, one at a time
  pplx::cancellation_token_source cancel_;

  mutable std::mutex mutex_;
  std::function<void(base::Result<HttpResponse>)> done_;
  boost::asio::steady_timer timer_;
  bool begun_ = false;
  bool hasSlot_ = false;
  bool finished_ = false;
};

}  // namespace trainyard::net

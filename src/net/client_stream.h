#pragma once

// Internal to the client.

#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "net/client_core.h"
#include "net/line_splitter.h"
#include "net/silence_timer.h"
#include "net/stream_delivery.h"

namespace trainyard::net {

// A request whose answer is a stream of lines.
class StreamOperation final : public ClientOperation, public std::enable_shared_from_this<StreamOperation> {
 public:
  StreamOperation(std::shared_ptr<ClientCore> core, HttpRequest request, StreamCallbacks callbacks);

  void begin();
  // Called on the loop's thread.
  void drop() override;
  // The first call determines how the stream ends.
  void end(base::Result<HttpResponse> result);

 private:
  pplx::task<std::size_t> take(std::string_view piece);
  // Both require mutex_.
  pplx::task<std::size_t> takeBody(std::string_view piece);
  pplx::task<std::size_t> takeLines(std::string_view piece);
  void onHead(const pplx::task<web::http::http_response>& headTask);
  void takeHead(const web::http::http_response& response);
  void onBody(const pplx::task<web::http::http_response>& whole);
  void endWith(std::exception_ptr exception);
  void shutDown();

  const std::shared_ptr<ClientCore> core_;
  HttpRequest request_;
  const std::shared_ptr<StreamDelivery> delivery_;
  const std::shared_ptr<BodySource> source_;
  pplx::cancellation_token_source cancel_;

  std::mutex mutex_;
  LineSplitter splitter_;
  HttpResponse head_;
  bool headSeen_ = false;
  std::string early_;
  pplx::task_completion_event<std::size_t> earlyTaken_;

  SilenceTimer silence_;
};

}  // namespace trainyard::net

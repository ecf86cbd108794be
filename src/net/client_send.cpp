#include "net/client_send.h"

#include <utility>

#include <fmt/format.h>

#include "net/client_threads.h"

namespace trainyard::net {

using base::ErrorCode;
using base::fail;
using base::Result;

SendOperation::SendOperation(std::shared_ptr<ClientCore> core, HttpRequest request,
                             std::function<void(Result<HttpResponse>)> done)
    : core_(std::move(core)), request_(std::move(request)), done_(std::move(done)), timer_(clientIo()) {
  source_ = std::make_shared<BodySource>(std::move(request_.body));
}

void SendOperation::armDeadline() {
  const std::lock_guard lock(mutex_);
  timer_.expires_after(request_.timeout);
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    if (error) return;
    if (const auto self = weak.lock()) self->expire();
  });
}

void SendOperation::begin() {
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    begun_ = true;
  }
  auto take = [self = shared_from_this()](std::string_view piece) { return self->take(piece); };
  core_->transport.start(request_, source_, std::move(take), cancel_.get_token())
      .then([self = shared_from_this()](const pplx::task<web::http::http_response>& headTask) {
        self->onHead(headTask);
      });
}

bool SendOperation::takeSlot() {
  const std::lock_guard lock(mutex_);
  hasSlot_ = !finished_;
  return hasSlot_;
}

void SendOperation::drop() {
  if (!close()) return;
  source_->abandon();
  cancel_.cancel();
  done_ = nullptr;
}

pplx::task<std::size_t> SendOperation::take(std::string_view piece) {
  const std::size_t most =
      request_.maxAnswerBytes != 0 ? request_.maxAnswerBytes : core_->options.maxBodyBytes;
  if (body_.size() + piece.size() > most) {
    finish(fail(ErrorCode::kTooLarge,
                fmt::format("{}: the answer is larger than {} bytes", core_->describe(request_), most)));
    return refuseBody("too large");
  }
  body_.append(piece);
  return pplx::task_from_result(piece.size());
}

void SendOperation::onHead(const pplx::task<web::http::http_response>& headTask) {
  try {
    headTask.get().content_ready().then(
        [self = shared_from_this()](const pplx::task<web::http::http_response>& whole) {
          self->onBody(whole);
        });
  } catch (...) {
    finish(fail(error(std::current_exception())));
  }
}

void SendOperation::onBody(const pplx::task<web::http::http_response>& whole) {
  try {
    HttpResponse response = headOf(whole.get());
    response.body = std::move(body_);
    finish(std::move(response));
  } catch (...) {
    finish(fail(error(std::current_exception())));
  }
}

void SendOperation::expire() {
  const bool sent = [this] {
    const std::lock_guard lock(mutex_);
    return begun_ && !source_->untouched();
  }();
  source_->abandon();
  finish(fail(
      sent ? ErrorCode::kOutcomeUnknown : ErrorCode::kUnavailable,
      fmt::format("{}: no whole answer within {} ms", core_->describe(request_), request_.timeout.count())));
  cancel_.cancel();
}

bool SendOperation::close() {
  bool hadSlot = false;
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return false;
    finished_ = true;
    hadSlot = hasSlot_;
    timer_.cancel();
  }
  core_->remove(this, hadSlot);
  return true;
}

void SendOperation::finish(Result<HttpResponse> result) {
  if (!close()) return;
  core_->postToLoop(
      [done = std::move(done_), answer = std::move(result)]() mutable { done(std::move(answer)); });
}

base::Error SendOperation::error(std::exception_ptr exception) const {
  base::Error result = core_->transport.errorFrom(std::move(exception), *source_);
  result.message = core_->describe(request_) + ": " + result.message;
  return result;
}

}  // namespace trainyard::net

#include "net/client_stream.h"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/asio/post.hpp>

#include "net/client_threads.h"

namespace trainyard::net {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::size_t kMaxWaitingBytes = 8u << 20;

}  // namespace

StreamOperation::StreamOperation(std::shared_ptr<ClientCore> core, HttpRequest request,
                                 StreamCallbacks callbacks)
    : core_(std::move(core)),
      request_(std::move(request)),
      delivery_(std::make_shared<StreamDelivery>(core_->executor, std::move(callbacks), kMaxWaitingBytes)),
      source_(std::make_shared<BodySource>(std::move(request_.body))),
      splitter_(core_->options.maxLineBytes),
      silence_(clientIo(), request_.timeout) {}

void StreamOperation::begin() {
  silence_.start(weak_from_this(), [this] {
    end(fail(ErrorCode::kOutcomeUnknown, fmt::format("{}: the stream was silent for {} ms",
                                                     core_->describe(request_), request_.timeout.count())));
  });
  boost::asio::post(clientIo(), [self = shared_from_this()] {
    if (self->delivery_->over()) return;
    auto take = [self](std::string_view piece) { return self->take(piece); };
    self->core_->transport.start(self->request_, self->source_, std::move(take), self->cancel_.get_token())
        .then([self](const pplx::task<web::http::http_response>& headTask) { self->onHead(headTask); });
  });
}

void StreamOperation::drop() {
  delivery_->cancel();
  shutDown();
}

void StreamOperation::end(Result<HttpResponse> result) {
  if (delivery_->finish(std::move(result))) shutDown();
}

pplx::task<std::size_t> StreamOperation::take(std::string_view piece) {
  const std::lock_guard lock(mutex_);
  if (delivery_->over()) return refuseBody("stream is over");
  if (headSeen_) return takeBody(piece);
  // The head is being passed to another thread. Nothing more is read until it is known whether the answer
  // is a stream of lines.
  early_.assign(piece);
  earlyTaken_ = pplx::task_completion_event<std::size_t>();
  return pplx::create_task(earlyTaken_);
}

pplx::task<std::size_t> StreamOperation::takeBody(std::string_view piece) {
  silence_.heard();
  if (head_.status == 200) return takeLines(piece);
  if (head_.body.size() + piece.size() > core_->options.maxBodyBytes) {
    end(fail(ErrorCode::kTooLarge, fmt::format("{}: the answer is larger than {} bytes",
                                               core_->describe(request_), core_->options.maxBodyBytes)));
    return refuseBody("too large");
  }
  head_.body.append(piece);
  return pplx::task_from_result(piece.size());
}

pplx::task<std::size_t> StreamOperation::takeLines(std::string_view piece) {
  std::vector<std::string> lines;
  if (auto fed = splitter_.feed(piece, lines); !fed) {
    end(fail(fed.error().code, core_->describe(request_) + ": " + fed.error().message));
    return refuseBody("line too long");
  }
  if (lines.empty()) return pplx::task_from_result(piece.size());
  const pplx::task_completion_event<std::size_t> room;
  silence_.setPaused(true);
  const bool readOn =
      delivery_->push(std::move(lines), [self = shared_from_this(), room, size = piece.size()] {
        self->silence_.heard();
        self->silence_.setPaused(false);
        room.set(size);
      });
  if (!readOn) return pplx::create_task(room);
  silence_.setPaused(false);
  return pplx::task_from_result(piece.size());
}

void StreamOperation::onHead(const pplx::task<web::http::http_response>& headTask) {
  try {
    const web::http::http_response response = headTask.get();
    takeHead(response);
    response.content_ready().then(
        [self = shared_from_this()](const pplx::task<web::http::http_response>& whole) {
          self->onBody(whole);
        });
  } catch (...) {
    endWith(std::current_exception());
  }
}

void StreamOperation::takeHead(const web::http::http_response& response) {
  const std::lock_guard lock(mutex_);
  head_ = headOf(response);
  headSeen_ = true;
  silence_.heard();
  if (early_.empty()) return;
  const std::string piece = std::exchange(early_, {});
  takeBody(piece).then([taken = earlyTaken_](const pplx::task<std::size_t>& result) {
    try {
      taken.set(result.get());
    } catch (...) {
      taken.set_exception(std::current_exception());
    }
  });
}

void StreamOperation::onBody(const pplx::task<web::http::http_response>& whole) {
  try {
    whole.get();
  } catch (...) {
    endWith(std::current_exception());
    return;
  }
  HttpResponse head;
  {
    const std::lock_guard lock(mutex_);
    std::string rest = splitter_.takeRest();
    if (!rest.empty()) static_cast<void>(delivery_->push({std::move(rest)}, [] {}));
    head = std::move(head_);
  }
  end(std::move(head));
}

void StreamOperation::endWith(std::exception_ptr exception) {
  base::Error error = core_->transport.errorFrom(std::move(exception), *source_);
  error.message = core_->describe(request_) + ": " + error.message;
  end(fail(std::move(error)));
}

void StreamOperation::shutDown() {
  source_->abandon();
  silence_.stop();
  core_->remove(this, false);
  cancel_.cancel();
}

}  // namespace trainyard::net

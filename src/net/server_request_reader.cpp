#include "net/server_request_reader.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace trainyard::net {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;
using Kind = ReadStep::Kind;

// Enough for the request line.
constexpr std::size_t kFirstReadBytes = 4u << 10;
constexpr std::size_t kSmallBodyBytes = 256u << 10;

std::optional<Method> methodOf(http::verb verb) {
  switch (verb) {
    case http::verb::get: return Method::kGet;
    case http::verb::post: return Method::kPost;
    case http::verb::put: return Method::kPut;
    case http::verb::patch: return Method::kPatch;
    case http::verb::delete_: return Method::kDelete;
    default: return std::nullopt;
  }
}

ReadStep refusal(int status, std::string text) { return {Kind::kRefuse, status, std::move(text)}; }

}  // namespace

void RequestReader::nextRequest() {
  begun_ = false;
  headerAccepted_ = false;
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(limits_.maxHeaderBytes));
  parser_->body_limit(limits_.maxBodyBytes);
}

boost::asio::mutable_buffer RequestReader::space(bool few) {
  return in_.prepare(std::min(few ? kFirstReadBytes : kReadBytes, kReadBytes - in_.size()));
}

ReadStep RequestReader::parse() {
  while (!parser_->is_done()) {
    if (in_.size() == 0) return {Kind::kRead};
    error_code error;
    const std::size_t used = parser_->put(in_.data(), error);
    in_.consume(used);
    if (error && error != http::error::need_more) return refusalFor(error);
    if (parser_->is_header_done() && !headerAccepted_) {
      headerAccepted_ = true;
      if (auto step = acceptHeader()) return std::move(*step);
      continue;
    }
    if (!countBody()) return refusal(503, "too many large requests at a time");
    if (used == 0) {
      if (in_.size() == kReadBytes) return refusal(400, "a chunk extension or trailer is too long");
      return {Kind::kRead};
    }
  }
  return {Kind::kHandle};
}

// Returns a step if the body need not be read, or not before that step.
std::optional<ReadStep> RequestReader::acceptHeader() {
  auto& message = parser_->get();
  if (!methodOf(message.method()))
    return refusal(405, fmt::format("method {} is not supported", std::string(message.method_string())));
  if (message.version() >= 11 && message.count(http::field::host) != 1)
    return refusal(400, "exactly one Host header is needed");
  if (const auto length = parser_->content_length()) message.body().reserve(*length + kBodyPadding);
  const auto expectation = message[http::field::expect];
  if (!expectation.empty() && !equalsWithoutCase({expectation.data(), expectation.size()}, "100-continue"))
    return refusal(417, "only 100-continue can be expected");
  parser_->eager(true);
  if (!expectation.empty() && in_.size() == 0 && !parser_->is_done()) return ReadStep{Kind::kSendContinue};
  return std::nullopt;
}

// Returns false if all bodies together exceed the limit.
bool RequestReader::countBody() {
  const std::size_t size = parser_->get().body().size();
  const std::size_t all = bodiesBytes_->fetch_add(size - bodyBytes_) + size - bodyBytes_;
  bodyBytes_ = size;
  return all <= limits_.maxBodiesBytes || size <= kSmallBodyBytes;
}

ReadStep RequestReader::refusalFor(const error_code& error) const {
  if (error == http::error::body_limit)
    return refusal(413, fmt::format("the body is larger than {} bytes", limits_.maxBodyBytes));
  if (error == http::error::header_limit)
    return refusal(431, fmt::format("the header is larger than {} bytes", limits_.maxHeaderBytes));
  return refusal(400, error.message());
}

ReceivedRequest RequestReader::take() {
  auto message = parser_->release();
  parser_.reset();
  ReceivedRequest received{.request = {.method = methodOf(message.method()).value_or(Method::kGet),
                                       .target = std::string(message.target()),
                                       .headers = {},
                                       .body = std::move(message.body()),
                                       .countsBody = handOverCount()},
                           .keepAlive = message.keep_alive(),
                           .mayChunk = message.version() >= 11};
  ServerRequest& request = received.request;
  for (const auto& field : message) {
    request.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  request.body.reserve(request.body.size() + kBodyPadding);
  return received;
}

// Returns the token that the handler releases when it no longer needs the body.
std::shared_ptr<void> RequestReader::handOverCount() {
  const std::size_t bytes = std::exchange(bodyBytes_, 0);
  if (bytes == 0) return nullptr;
  return {nullptr, [bytes, all = bodiesBytes_](void*) { *all -= bytes; }};
}

void RequestReader::forget() {
  *bodiesBytes_ -= std::exchange(bodyBytes_, 0);
  parser_.reset();
}

}  // namespace trainyard::net

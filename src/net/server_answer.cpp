#include "net/server_answer.h"

#include "net/response_head.h"

namespace trainyard::net {

std::string ServerAnswer::whole(const HttpResponse& response) {
  state_ = State::kComplete;
  std::string bytes = makeResponseHead(response, Framing::kLength, keepAlive_);
  if (response.status != 204 && response.status != 304) bytes += response.body;
  return bytes;
}

std::string ServerAnswer::streamHead(const HttpResponse& head) {
  state_ = State::kStreaming;
  keepAlive_ = keepAlive_ && mayChunk_;
  return makeResponseHead(head, mayChunk_ ? Framing::kChunked : Framing::kUntilClose, keepAlive_);
}

std::string ServerAnswer::piece(const std::string& chunk) const {
  return mayChunk_ ? makeChunk(chunk) : chunk;
}

std::string ServerAnswer::streamEnd() {
  state_ = State::kComplete;
  return mayChunk_ ? std::string(kLastChunk) : std::string();
}

}  // namespace trainyard::net

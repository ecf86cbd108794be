#include "net/server_writer.h"

#include <algorithm>
#include <utility>

namespace trainyard::net {
namespace {

constexpr std::size_t kWriteBytes = 256u << 10;  // the timer restarts after each such piece
constexpr std::size_t kCoalesceBytes = 64u << 10;

}  // namespace

void ServerWriter::send(const std::shared_ptr<void>& owner, std::string bytes, bool last) {
  lastQueued_ = last;
  queued_ += bytes.size();
  out_.push_back(std::move(bytes));
  if (!active_) writeNext(owner);
}

void ServerWriter::stop() {
  stopped_ = true;
  timer_.cancel();
}

void ServerWriter::writeNext(const std::shared_ptr<void>& owner) {
  active_ = true;
  writing_ = std::move(out_.front());
  out_.pop_front();
  while (!out_.empty() && writing_.size() + out_.front().size() <= kCoalesceBytes) {
    writing_ += out_.front();
    out_.pop_front();
  }
  written_ = 0;
  writePiece(owner);
}

void ServerWriter::writePiece(const std::shared_ptr<void>& owner) {
  timer_.arm(timeout_, [this, owner] { callbacks_.onFailed(); });
  const boost::asio::const_buffer piece =
      boost::asio::buffer(writing_.data() + written_, std::min(writing_.size() - written_, kWriteBytes));
  socket_.writeSome(piece, [this, owner](const boost::system::error_code& error, std::size_t bytes) {
    onWritten(owner, error, bytes);
  });
}

void ServerWriter::onWritten(const std::shared_ptr<void>& owner, const boost::system::error_code& error,
                             std::size_t bytes) {
  if (stopped_) return;
  if (error) {
    callbacks_.onFailed();
    return;
  }
  queued_ -= bytes;
  written_ += bytes;
  if (written_ < writing_.size()) {
    writePiece(owner);
  } else if (!out_.empty()) {
    writeNext(owner);
  } else {
    active_ = false;
    timer_.cancel();
    if (lastQueued_) callbacks_.onLastSent();
  }
}

}  // namespace trainyard::net

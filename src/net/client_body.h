#pragma once

// Internal to the client: how cpprestsdk reads the body of a request, and where it writes that of an answer.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "net/client_library.h"

namespace trainyard::net {

// The common part of both buffers below: cpprestsdk only calls _getn and _putn; the other calls fail.
class InertBuffer : public Concurrency::streams::details::streambuf_state_manager<std::uint8_t> {
 public:
  using streambuf_state_manager::streambuf_state_manager;

  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  std::size_t buffer_size(std::ios_base::openmode) const override { return 0; }
  void set_buffer_size(std::size_t, std::ios_base::openmode) override {}
  std::size_t in_avail() const override { return 0; }
  pos_type getpos(std::ios_base::openmode) const override { return traits::eof(); }
  pos_type seekpos(pos_type, std::ios_base::openmode) override { return traits::eof(); }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return traits::eof();
  }
  bool acquire(std::uint8_t*& data, std::size_t& count) override {
    data = nullptr;
    count = 0;
    return false;
  }
  void release(std::uint8_t*, std::size_t) override {}

 protected:
  pplx::task<std::size_t> _getn(std::uint8_t*, std::size_t) override {
    return pplx::task_from_result<std::size_t>(0);
  }
  pplx::task<std::size_t> _putn(const std::uint8_t*, std::size_t) override {
    return pplx::task_from_result<std::size_t>(0);
  }
  pplx::task<int_type> _putc(std::uint8_t) override {
    return pplx::task_from_result<int_type>(traits::eof());
  }
  pplx::task<int_type> _bumpc() override { return pplx::task_from_result<int_type>(traits::eof()); }
  int_type _sbumpc() override { return traits::eof(); }
  pplx::task<int_type> _getc() override { return pplx::task_from_result<int_type>(traits::eof()); }
  int_type _sgetc() override { return traits::eof(); }
  pplx::task<int_type> _nextc() override { return pplx::task_from_result<int_type>(traits::eof()); }
  pplx::task<int_type> _ungetc() override { return pplx::task_from_result<int_type>(traits::eof()); }
  std::size_t _scopy(std::uint8_t*, std::size_t) override { return 0; }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  std::uint8_t* _alloc(std::size_t) override { return nullptr; }
  void _commit(std::size_t) override {}
};

// The body of a request. It is deliberately not seekable: cpprestsdk silently re-sends a request, POST
// included, if the server closed its reused connection, unless the body cannot be rewound. Writes without a
// body get an empty one.
class BodySource final : public InertBuffer {
 public:
  explicit BodySource(std::string body) : InertBuffer(std::ios_base::in), body_(std::move(body)) {}

  [[nodiscard]] std::size_t length() const { return body_.size(); }
  // True if there is a body and none of it was sent: the server cannot have executed the request.
  [[nodiscard]] bool untouched() const { return !body_.empty() && !touched_; }
  // The rest of the body is never sent.
  void abandon() { abandoned_ = true; }

 protected:
  pplx::task<std::size_t> _getn(std::uint8_t* out, std::size_t count) override {
    touched_ = true;
    if (abandoned_) {
      return pplx::task_from_exception<std::size_t>(std::runtime_error("given up before its body was sent"));
    }
    const std::size_t length = std::min(count, body_.size() - position_);
    std::memcpy(out, body_.data() + position_, length);
    position_ += length;
    return pplx::task_from_result(length);
  }

 private:
  const std::string body_;
  std::size_t position_ = 0;
  std::atomic<bool> touched_ = false;
  std::atomic<bool> abandoned_ = false;
};

// Passes on each piece of an answer's body as it arrives. cpprestsdk reads on when the returned task
// completes, so an unfinished task provides the back-pressure that its own buffers lack. A failed task closes
// the connection.
class BodySink final : public InertBuffer {
 public:
  using Take = std::function<pplx::task<std::size_t>(std::string_view)>;
  explicit BodySink(Take take) : InertBuffer(std::ios_base::out), take_(std::move(take)) {}

 protected:
  pplx::task<std::size_t> _putn(const std::uint8_t* data, std::size_t count) override {
    return take_(std::string_view(reinterpret_cast<const char*>(data), count));
  }

 private:
  const Take take_;
};

[[nodiscard]] inline pplx::task<std::size_t> refuseBody(const char* why) {
  return pplx::task_from_exception<std::size_t>(std::runtime_error(why));
}

}  // namespace trainyard::net

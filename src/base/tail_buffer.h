#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard::base {

// Keeps the last bytes of a stream of any length, in at most twice that much memory.
class TailBuffer {
 public:
  explicit TailBuffer(std::size_t bytes) : bytes_(bytes) {}

  void append(std::string_view text) {
    if (text.size() > bytes_) text.remove_prefix(text.size() - bytes_);
    // Erases rarely, so that a stream in small pieces is not moved for each of them.
    if (kept_.size() + text.size() > 2 * bytes_) kept_.erase(0, kept_.size() - (bytes_ - text.size()));
    kept_ += text;
  }
  // Returns at most the requested number of bytes.
  [[nodiscard]] std::string_view text() const {
    const std::string_view all = kept_;
    return all.size() > bytes_ ? all.substr(all.size() - bytes_) : all;
  }

 private:
  std::size_t bytes_;
  std::string kept_;
};

}  // namespace trainyard::base

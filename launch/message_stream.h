#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::launch {

// A message between members: its kind and its fields.
struct Message {
  std::string kind;
  std::vector<std::string> fields = {};
  friend bool operator==(const Message&, const Message&) = default;
};

// The two keys of a connection.
struct ChannelKeys {
  std::string send;
  std::string take;
};

// Messages as bytes of an authenticated connection, by the protocol in channel.h.
class MessageStream {
 public:
  static constexpr std::size_t kMaxBody = 1 << 20;

  explicit MessageStream(ChannelKeys keys) : keys_(std::move(keys)) {}

  // Returns the bytes of the next message. One with a body of more than kMaxBody is not accepted.
  [[nodiscard]] std::string seal(const Message& message);
  [[nodiscard]] static bool isTooLarge(const std::string& sealed);

  struct Taken {
    bool broken = false;                            // too large, forged, or no message
    std::optional<Message> message = std::nullopt;  // absent if more bytes are needed
  };
  // Takes the next message from the front of `in`.
  [[nodiscard]] Taken take(std::string& in);

 private:
  ChannelKeys keys_;
  std::uint64_t sent_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace trainyard::launch

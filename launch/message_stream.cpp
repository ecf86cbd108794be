#include "launch/message_stream.h"

#include <string_view>

#include "launch/proofs.h"

namespace trainyard::launch {
namespace {

constexpr std::size_t kLength = 4;
constexpr std::size_t kMac = 16;

std::string bigEndian(std::uint64_t number, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    text += static_cast<char>(number >> shift & 0xFFU);
  return text;
}

std::size_t sizeAt(std::string_view text) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) size = size << 8U | static_cast<unsigned char>(text[i]);
  return size;
}

std::string encode(const Message& message) {
  std::string body = bigEndian(message.kind.size(), 4) + message.kind;
  for (const std::string& field : message.fields) (body += bigEndian(field.size(), 4)) += field;
  return body;
}

std::optional<Message> decode(std::string_view body) {
  Message message;
  for (bool first = true; !body.empty(); first = false) {
    if (body.size() < 4 || sizeAt(body) > body.size() - 4) return std::nullopt;
    const std::size_t size = sizeAt(body);
    if (first)
      message.kind = body.substr(4, size);
    else
      message.fields.emplace_back(body.substr(4, size));
    body.remove_prefix(4 + size);
  }
  return message;
}

std::string macOf(std::string_view key, std::uint64_t number, std::string_view body) {
  return hmacSha256(key, bigEndian(number, 8).append(body)).substr(0, kMac);
}

}  // namespace

std::string MessageStream::seal(const Message& message) {
  const std::string body = encode(message);
  return bigEndian(body.size(), kLength) + body + macOf(keys_.send, sent_++, body);
}

bool MessageStream::isTooLarge(const std::string& sealed) {
  return sealed.size() > kLength + kMaxBody + kMac;
}

MessageStream::Taken MessageStream::take(std::string& in) {
  if (in.size() < kLength) return {};
  const std::size_t size = sizeAt(in);
  if (size > kMaxBody) return {.broken = true};
  if (in.size() < kLength + size + kMac) return {};
  const std::string body = in.substr(kLength, size);
  const bool genuine = sameDigest(in.substr(kLength + size, kMac), macOf(keys_.take, taken_++, body));
  in.erase(0, kLength + size + kMac);
  auto message = decode(body);
  if (!genuine || !message) return {.broken = true};
  return {.message = std::move(message)};
}

}  // namespace trainyard::launch

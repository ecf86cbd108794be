#include "net/response_head.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace trainyard::net {
namespace {

bool framesMessage(std::string_view name) {
  constexpr std::array<std::string_view, 4> kOurs = {"Content-Length", "Transfer-Encoding", "Connection",
                                                     "Keep-Alive"};
  return std::any_of(kOurs.begin(), kOurs.end(),
                     [name](std::string_view ours) { return equalsWithoutCase(ours, name); });
}

// A value of foreign origin must not be able to start another header.
void appendBlanked(std::string& out, std::string_view text) {
  for (const char c : text) out.push_back(static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
}

}  // namespace

std::string_view reasonPhrase(int status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 413: return "Payload Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Entity";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return "Status";
  }
}

std::string makeResponseHead(const HttpResponse& response, Framing framing, bool keepAlive) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reasonPhrase(response.status));
  for (const auto& [name, value] : response.headers) {
    if (framesMessage(name)) continue;
    appendBlanked(head, name);
    head += ": ";
    appendBlanked(head, value);
    head += "\r\n";
  }
  const bool bodyless = response.status == 204 || response.status == 304;
  if (framing == Framing::kLength && !bodyless)
    head += fmt::format("Content-Length: {}\r\n", response.body.size());
  if (framing == Framing::kChunked) head += "Transfer-Encoding: chunked\r\n";
  head += keepAlive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return head;
}

std::string makeChunk(std::string_view bytes) { return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes); }

}  // namespace trainyard::net

#include "operator/console/answers.h"

#include <algorithm>
#include <utility>

#include "codec/json_writer.h"
#include "operator/console/page_files.h"

namespace trainyard::operator_::console {
namespace {

int hexOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hexOf(text[i + 1]);
    const int low = hexOf(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

std::string_view typeOf(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  return "text/javascript; charset=utf-8";
}

std::string_view reasonOf(int status) {
  switch (status) {
    case 400: return "BadRequest";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "NotFound";
    case 405: return "MethodNotAllowed";
    case 409: return "AlreadyExists";
    case 413: return "RequestEntityTooLarge";
    case 429: return "TooManyRequests";
    default: return "ServiceUnavailable";
  }
}

}  // namespace

net::HttpResponse makeAnswer(int status, std::string_view type, std::string body) {
  return {
      .status = status,
      .headers = {{"Content-Type", std::string(type)},
                  {"Content-Security-Policy",
                   "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri "
                   "'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"},
                  {"X-Content-Type-Options", "nosniff"},
                  {"X-Frame-Options", "DENY"},
                  {"Referrer-Policy", "no-referrer"},
                  {"Cross-Origin-Opener-Policy", "same-origin"},
                  {"Cross-Origin-Resource-Policy", "same-origin"},
                  {"Cache-Control", "no-store"}},
      .body = std::move(body)};
}

net::HttpResponse refusal(int status, std::string_view why) {
  codec::JsonWriter out;
  out.beginObject().member("kind", "Status").member("apiVersion", "v1").member("status", "Failure");
  out.member("code", status).member("reason", reasonOf(status)).member("message", why).endObject();
  net::HttpResponse response = makeAnswer(status, kJson, std::move(out).take());
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (status == 405) response.headers.emplace_back("Allow", "GET");
  // Clients that are programs retry by themselves.
  if (status == 429) response.headers.emplace_back("Retry-After", "1");
  return response;
}

std::optional<PageFile> findPageFile(std::string_view path) {
  if (!path.starts_with('/')) return std::nullopt;
  const std::string_view name = path == "/" ? "index.html" : path.substr(1);
  for (const auto& [file, text] : pageFiles()) {
    if (file == name) return PageFile{typeOf(file), text};
  }
  return std::nullopt;
}

Query readQuery(std::string_view query) {
  Query values;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
    const auto equals = part.find('=');
    auto value = decoded(equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1));
    if (value) values.emplace_back(part.substr(0, equals), std::move(*value));
  }
  return values;
}

std::string valueOf(const Query& query, std::string_view key) {
  const auto found =
      std::find_if(query.begin(), query.end(), [&](const auto& each) { return each.first == key; });
  return found == query.end() ? std::string() : found->second;
}

bool plainName(std::string_view text) {
  return !text.empty() && text.size() <= 253 && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
         });
}

std::string sentEvent(std::string_view name, std::string_view json) {
  std::string out = "event: ";
  out.append(name).append("\ndata: ").append(json).append("\n\n");
  return out;
}

}  // namespace trainyard::operator_::console

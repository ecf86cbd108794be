#include "sim/api/paths.h"

#include <optional>

namespace trainyard::sim {
namespace {

std::optional<int> hexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

std::optional<std::string> decode(std::string_view text, bool plusIsSpace) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plusIsSpace) {
      result += ' ';
    } else if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const auto high = hexDigit(text[i + 1]);
      const auto low = hexDigit(text[i + 2]);
      if (!high || !low) return std::nullopt;
      result += static_cast<char>(*high * 16 + *low);
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::optional<Query> parseQuery(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const auto end = text.find('&');
    const auto pair = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    const auto equals = pair.find('=');
    const auto name = decode(pair.substr(0, equals), true);
    const auto value =
        decode(equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1), true);
    if (!name || !value) return std::nullopt;
    query.emplace(*name, *value);
  }
  return query;
}

// Parses the part after the group and version.
void readResource(ApiPath& path, std::size_t at) {
  const auto& parts = path.segments;
  const auto take = [&](std::string& into) {
    if (at < parts.size()) into = parts[at++];
  };
  // "namespaces/x/pods" are the pods of x; "namespaces/x" and "namespaces/x/status" are the namespace
  // itself.
  const bool inside = parts.size() > at + 2 && parts[at] == "namespaces" && parts[at + 2] != "status" &&
                      parts[at + 2] != "finalize";
  if (inside) {
    path.space = parts[at + 1];
    at += 2;
  }
  take(path.plural);
  take(path.name);
  take(path.subresource);
  path.resource = !path.plural.empty() && at >= parts.size();
}

}  // namespace

Outcome<ApiPath> parseTarget(const std::string& target) {
  ApiPath path;
  const auto question = target.find('?');
  const std::string_view whole = std::string_view(target).substr(0, question);
  if (question != std::string::npos) {
    auto query = parseQuery(std::string_view(target).substr(question + 1));
    if (!query) return failBadRequest("invalid percent-encoding in the query");
    path.query = *std::move(query);
  }
  std::size_t start = 0;
  while (start < whole.size()) {
    const auto end = std::min(whole.find('/', start), whole.size());
    if (end > start) {
      auto part = decode(whole.substr(start, end - start), false);
      if (!part) return failBadRequest("invalid percent-encoding in the path");
      path.segments.push_back(*std::move(part));
    }
    start = end + 1;
  }
  const auto& parts = path.segments;
  if (parts.size() >= 3 && parts[0] == "api") {
    path.version = parts[1];
    readResource(path, 2);
    if (!path.resource) return failUnknownPath();
  } else if (parts.size() >= 4 && parts[0] == "apis") {
    path.group = parts[1];
    path.version = parts[2];
    readResource(path, 3);
    if (!path.resource) return failUnknownPath();
  }
  return path;
}

std::string queryText(const Query& query, const std::string& name) {
  const auto found = query.find(name);
  return found == query.end() ? std::string() : found->second;
}

bool queryFlag(const Query& query, const std::string& name) {
  const std::string text = queryText(query, name);
  return text == "1" || text == "true" || text == "True" || text == "TRUE" || text == "t" || text == "T";
}

}  // namespace trainyard::sim

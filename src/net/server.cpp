#include "net/server.h"

namespace trainyard::net {

std::string_view ServerRequest::path() const {
  return std::string_view(target).substr(0, std::string_view(target).find('?'));
}

std::string_view ServerRequest::query() const {
  const std::size_t mark = target.find('?');
  return mark == std::string::npos ? std::string_view{} : std::string_view(target).substr(mark + 1);
}

}  // namespace trainyard::net

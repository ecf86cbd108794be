#include "net/client_threads.h"

#include <algorithm>
#include <exception>

#include <pplx/threadpool.h>

namespace trainyard::net {

boost::asio::io_context& clientIo() { return crossplat::threadpool::shared_instance().service(); }

void startThreadPoolOnce(std::size_t threads) {
  static const bool ours = [threads] {
    try {
      crossplat::threadpool::initialize_with_threads(std::max<std::size_t>(threads, 2));
      return true;
    } catch (const std::exception&) {
      return false;  // already running, with a usable size
    }
  }();
  static_cast<void>(ours);
}

}  // namespace trainyard::net

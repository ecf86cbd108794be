#pragma once

// Internal to the client: cpprestsdk's threads.

#include <cstddef>
#include <utility>  // of std::exchange, for boost/asio/awaitable.hpp

#include <boost/asio/io_context.hpp>

namespace trainyard::net {

[[nodiscard]] boost::asio::io_context& clientIo();

// The pool belongs to the process; its default of 40 threads costs more than half of the throughput.
void startThreadPoolOnce(std::size_t threads);

}  // namespace trainyard::net

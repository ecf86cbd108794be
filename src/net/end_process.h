#pragma once

namespace trainyard::net {

// Ends the process with this exit code, without exit handlers. main() calls it instead of returning, after
// the HTTP client was used and its own objects are destroyed. One of cpprestsdk's handlers stops and joins
// its threads. A thread that is closing an abandoned stream at that moment waits for another one to run a
// task, and deadlocks. A leader that lost its Lease would then neither work nor be restarted.
[[noreturn]] void endProcess(int exitCode);

}  // namespace trainyard::net

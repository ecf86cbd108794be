#pragma once

namespace trainyard::net {

// Ends the process with this exit code, without exit handlers: what main() calls in place of its return where
// it has used the HTTP client and its own objects are gone. One of cpprestsdk's handlers stops its threads
// and joins them, and a thread that is just then closing a stream that we gave up waits for another one to
// run a task: for ever. A leader that lost its Lease would neither work nor be started again.
[[noreturn]] void endProcess(int exitCode);

}  // namespace trainyard::net

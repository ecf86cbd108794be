// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): names that the sanitizers look for

// What ThreadSanitizer cannot see: libcpprest is not instrumented, so the reference counts that order the end
// of its contexts look like races. Only reports with these functions on a stack are left out. Without the
// sanitizer nobody calls this.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:pplx::details::_CancellationTokenCallback\n"
         "race:web::http::client::details::asio_context\n";
}

// cpprestsdk never joins its pool: a continuation that is queued while the process ends is never run, and
// what it holds looks leaked. Seen with a cancelled stream as the last thing a test does.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:pplx::\nleak:libcpprest.so\nleak:_ScheduleFuncWithAutoInline\n";
}

// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

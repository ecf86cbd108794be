// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): names that the sanitizers look for

// ThreadSanitizer cannot follow libcpprest, which is not instrumented: the reference counts that order the
// end of its contexts look like races. Only reports with these functions on a stack are suppressed. Without
// the sanitizer this function is never called.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:pplx::details::_CancellationTokenCallback\n"
         "race:web::http::client::details::asio_context\n";
}

// cpprestsdk never joins its pool: a continuation that is queued while the process ends is never run, and its
// captures look leaked. Observed if a test ends with a cancelled stream.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:pplx::\nleak:libcpprest.so\nleak:_ScheduleFuncWithAutoInline\n";
}

// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

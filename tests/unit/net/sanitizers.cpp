// What ThreadSanitizer cannot see: libcpprest is not instrumented, so the reference counts that order the end
// of its contexts look like races. Only reports with these functions on a stack are left out. Without the
// sanitizer nobody calls this.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:pplx::details::_CancellationTokenCallback\n"
         "race:web::http::client::details::asio_context\n";
}

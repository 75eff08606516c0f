// Writes a small trace for external readers: trace_sample FILE [unfinished|documents].
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "telemetry/trace/json_trace.hpp"
#include "telemetry/trace/trace_writer.hpp"
#include "tests/bench/store_run.hpp"

int main(int count, char** arguments) {
  if (count < 2) return 2;
  if (count > 2 && std::string_view(arguments[2]) == "documents") {
    rankscope::JsonTraceWriter documents(arguments[1]);
    const bool all = documents.write("/plan", 0, R"({"points":2})") && documents.write("/point", 1000, R"({"n":1})") &&
                     documents.write("/point", 2000, R"({"n":2})") && documents.close();
    std::printf("3\n");
    return all ? 0 : 1;
  }
  rankscope::TraceWriterOptions options;
  options.chunk_bytes = 64 * 1024;
  rankscope::TraceWriter writer(arguments[1], options);
  rankscope::bench::RunSize size;
  size.spans = 20'000;
  size.ranks = 16;
  size.batch_rows = 100;
  rankscope::bench::invent_run(size, [&](const rankscope::Message& message) { writer.accept(message); });
  writer.scalar("/bubble", 5'000'000, {{"measured", 0.21}, {"ideal", 0.2}});
  if (count > 2) {
    writer.flush();
    std::printf("%lld\n", static_cast<long long>(writer.messages()));
    std::fflush(stdout);
    _exit(0);  // like a killed process
  }
  const bool whole = writer.close();
  std::printf("%lld\n", static_cast<long long>(writer.messages()));
  return whole ? 0 : 1;
}

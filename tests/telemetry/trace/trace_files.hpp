// Small traces in a temporary directory.
#pragma once
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "telemetry/trace/trace_reader.hpp"
#include "telemetry/trace/trace_writer.hpp"
#include "tests/bench/store_run.hpp"
#include "tests/temporary_directory.hpp"

namespace rankscope::testing {

struct Collected : EventSink {
  std::vector<Message> messages;
  void accept(const Message& message) override { messages.push_back(message); }
};

inline std::vector<Message> small_run(std::int64_t spans = 3000, int ranks = 4, std::size_t batch_rows = 50) {
  bench::RunSize size;
  size.spans = spans;
  size.ranks = ranks;
  size.micro_batches = 4;
  size.batch_rows = batch_rows;
  std::vector<Message> messages;
  bench::invent_run(size, [&](const Message& m) { messages.push_back(m); });
  // Contains every kind of event.
  const auto add = [&](Event event) {
    Message m = messages.back();
    ++m.sequence;
    m.event = std::move(event);
    messages.push_back(m);
  };
  const OpId op = *parse_token("ALLREDUCE.data_gradient:c0:i0");
  add(ProgramRecord{0, 42, "# a program\nline two"});
  add(ClockRecord{1, 1000, -50, 7});
  add(MemoryBatch{
      Obtained::emulated, ClockDomain::device, {{0, 1, op, 77, {1, 2, 3, 4, 5}}, {0, 1, op, 99, {5, 4, 3, 2, 1}}}});
  add(PhaseBatch{Obtained::measured,
                 ClockDomain::wall,
                 {{0, 1, op, 2, 1, 0, 3, 4096, 10, 20}, {0, 1, op, 0, 5, -1, -1, -1, 12, 19}}});
  add(Gap{2, 500, 900, 12, 0, 0});
  // NaN means unknown and does not equal itself, so it cannot be compared.
  for (Message& m : messages) {
    if (auto* summary = std::get_if<StepSummary>(&m.event)) summary->loss = 2.5;
    if (auto* hello = std::get_if<Hello>(&m.event)) hello->entropy_nats = 1.5;
  }
  return messages;
}

inline void write_trace(const std::string& path, const std::vector<Message>& messages, std::size_t chunk_bytes = 8192) {
  TraceWriterOptions options;
  options.chunk_bytes = chunk_bytes;
  TraceWriter writer(path, options);
  for (const Message& m : messages) writer.accept(m);
  if (!writer.close()) throw std::runtime_error(writer.error());
}

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void put_contents(const std::string& path, std::string_view bytes) {
  std::filesystem::remove(path);  // overwriting a file in place may wait for the disk
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace rankscope::testing

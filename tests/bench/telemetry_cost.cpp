// Costs of telemetry: one span at the producer, and the capacity of spool, relay and a viewer.
//
//   telemetry_cost [SECONDS]      prints figures; this is not a test
//
// `producer` is the time of a lane's thread in LaneWriter::span alone, while another thread drains the rings. `codec`
// is one thread on one batch. `whole way` writes as fast as possible without drops, through rings, batches, spool,
// relay (with a counting tap) and one viewer, all on this machine; its CPU seconds are those of the whole process.
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "telemetry/event/codec.hpp"
#include "telemetry/event/crc32.hpp"
#include "telemetry/relay/relay.hpp"
#include "telemetry/stream/publisher.hpp"
#include "telemetry/stream/viewer_client.hpp"

using namespace rankscope;

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double process_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Span span_number(std::int64_t i) {
  OpFields f;
  f.kind = i % 2 ? OpKind::forward : OpKind::backward;
  f.chunk = static_cast<int>(i % 4);
  f.micro_batch = static_cast<int>(i / 4 % 8);
  f.block = static_cast<int>(i / 32 % 8);
  f.segment = static_cast<Segment>(1 + i % 6);
  const std::int64_t begin = i * 20'000;
  return {static_cast<std::int32_t>(i % 4),
          static_cast<std::uint32_t>(i / 1000),
          OpId::of(f),
          begin,
          begin + i % 700,
          begin + 15'000 + i % 3000,
          14'000 + i % 2500};
}

class Count : public EventSink {
 public:
  void accept(const Message& message) override {
    ++messages;
    if (const auto* batch = std::get_if<SpanBatch>(&message.event))
      spans += static_cast<std::int64_t>(batch->rows.size());
  }
  std::atomic<std::int64_t> messages{0}, spans{0};
};

void producer(double seconds, const std::string& directory) {
  PublisherOptions options;
  options.session = new_session_id();
  options.spool_directory = directory + "/producer";
  Publisher publisher(options);
  LaneWriter& lane = publisher.lane(0, Lane::compute);
  constexpr int burst = 2048;
  std::vector<Span> spans;
  for (int i = 0; i < burst; ++i) spans.push_back(span_number(i));
  double busy = 0, best = 1e9;
  std::int64_t count = 0;
  for (const auto begin = Clock::now(); since(begin) < seconds;) {
    const auto start = Clock::now();
    for (const Span& span : spans) lane.span(span);
    const double took = since(start);
    busy += took;
    best = std::min(best, took);
    count += burst;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::printf("producer      %7.2f ns/span mean, %.2f ns/span in the best burst; %lld spans, %lld dropped\n",
              busy / static_cast<double>(count) * 1e9, best / burst * 1e9, static_cast<long long>(count),
              static_cast<long long>(lane.dropped()));
}

void codec(double seconds) {
  Message message;
  message.session = new_session_id();
  SpanBatch batch;
  for (int i = 0; i < 4096; ++i) batch.rows.push_back(span_number(i));
  message.event = batch;
  std::vector<std::byte> bytes;
  const auto rate = [&](const char* name, auto work) {
    std::int64_t turns = 0;
    const auto begin = Clock::now();
    for (; since(begin) < seconds / 3; ++turns) work();
    const double per_span = since(begin) / static_cast<double>(turns) / 4096;
    std::printf("%-13s %7.2f ns/span, %.2f GB/s\n", name, per_span * 1e9,
                static_cast<double>(bytes.size()) / 4096 / per_span * 1e-9);
  };
  bytes = encode(message);
  std::printf("wire          %7.2f bytes/span in a batch of 4096\n", static_cast<double>(bytes.size()) / 4096);
  rate("encode", [&] { bytes = encode(message); });
  rate("decode", [&] {
    if (!decode(bytes)) std::abort();
  });
  volatile std::uint32_t keep = 0;
  rate("crc32", [&] { keep = crc32(bytes); });
}

void whole_way(double seconds, const std::string& directory) {
  Count tap, seen;
  RelayOptions relay_options;
  relay_options.endpoint = "ipc://" + directory + "/relay";
  relay_options.spool_directory = directory + "/spool";
  relay_options.session = new_session_id();
  Relay relay(relay_options, {&tap});
  ViewerOptions viewer_options;
  viewer_options.join = relay.join();
  ViewerClient viewer(viewer_options, seen);
  PublisherOptions options;
  options.session = relay_options.session;
  options.spool_directory = relay_options.spool_directory;
  options.relay = relay.worker_join();
  Publisher publisher(options);
  constexpr std::int32_t ranks = 4;
  std::int64_t i = 0;
  const double cpu = process_cpu_seconds();
  const auto begin = Clock::now();
  while (since(begin) < seconds) {
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      LaneWriter& lane = publisher.lane(rank, Lane::compute);
      while (lane.emitted() - publisher.status().events / ranks < 6000)
        for (int k = 0; k < 500; ++k) {
          Span span = span_number(i++);
          span.rank = rank;
          lane.span(span);
        }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  publisher.close(std::chrono::seconds(60));
  relay.finish(std::chrono::seconds(60));
  const double wall = since(begin), used = process_cpu_seconds() - cpu;
  const auto status = publisher.status();
  const auto done = static_cast<double>(status.events);
  std::printf(
      "whole way     %.2f million spans/s, %.0f batches/s, %.1f MB/s; %.0f ns of CPU per span (all threads, this one "
      "too)\n",
      done / wall * 1e-6, static_cast<double>(status.messages) / wall, static_cast<double>(status.bytes) / wall * 1e-6,
      used / done * 1e9);
  std::printf(
      "              %lld spans made, %lld dropped at the rings, %lld batches left to the spool; tap %lld, viewer "
      "%lld, missed batches %lld\n",
      static_cast<long long>(i), static_cast<long long>(status.dropped_events),
      static_cast<long long>(status.unsent_detail), static_cast<long long>(tap.spans.load()),
      static_cast<long long>(seen.spans.load()), static_cast<long long>(relay.status().missed));
  std::printf("              publisher's thread %.0f ns of CPU per span\n", status.thread_seconds / done * 1e9);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3;
  const std::string directory = make_private_directory("rankscope-bench-");
  producer(seconds, directory);
  codec(seconds);
  whole_way(seconds, directory);
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
}

// Reads traces: by their index, or by scanning where there is none or it is damaged. Damage is skipped and reported, as
// text and as Gap events; reading continues after it.
//
// Files from others are bounded in memory and time by their own size (trace_index.hpp, chunk_reader.hpp): all chunks
// together may unpack to 64 MiB + 100 times the file, one chunk to 128 MiB and, above 8 MiB, to 256 times its packed
// bytes; a chunk may hold 2 Mi rows, and all together 4 Mi + 8 for each byte of the file. What is beyond is damage.
// Chunks that the index names twice, or that overlap, make the index useless. While reading, unpacked chunks that wait
// take 512 MiB at most.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "telemetry/event/codec.hpp"
#include "telemetry/event/event.hpp"
#include "telemetry/trace/marks.hpp"
#include "telemetry/trace/trace_writer.hpp"

namespace rankscope {

/// The damage: what could not be read, and how the reader noticed.
struct DamageReport {
  std::int64_t bytes_skipped = 0;
  std::int64_t messages_skipped = 0;  ///< by the indexes: a lower bound
  std::int64_t chunks_skipped = 0;    ///< wholly or in part
  std::int64_t messages_refused = 0;  ///< correct by the file's checksums, refused by the decoder
  bool cut_short = false;             ///< the file ends before its end mark: a crash, or an incomplete copy
  bool index_missing = false;         ///< or damaged: the file was scanned
  bool head_damaged = false;          ///< the file's description of itself was changed
  std::vector<std::string> notes;     ///< one line each, with offsets
  bool data_lost() const { return bytes_skipped > 0 || chunks_skipped > 0 || messages_refused > 0; }
  bool any() const { return data_lost() || cut_short || index_missing || head_damaged; }
};

struct TraceTopic {
  std::string name, encoding, schema;
  std::int64_t messages = 0;
};

/// A trace's description of itself, without reading its messages.
struct TraceInfo {
  std::string path;
  std::int64_t file_bytes = 0, data_bytes = 0;  ///< data: before compression
  std::string library;                          ///< that wrote it
  std::string session;                          ///< 32 hexadecimal digits; empty: unknown
  std::map<std::string, std::string> run;       ///< title, ranks, host, …: as recorded
  std::int64_t chunks = 0, messages = 0;
  std::int64_t forged = -1;                ///< messages of no worker of the run, which its relay ignored; -1: unknown
  std::int64_t first_ns = 0, last_ns = 0;  ///< log times
  std::vector<TraceTopic> topics;
  std::vector<TraceMark> marks;  ///< as they were saved
  DamageReport damage;           ///< of the file's structure; what only checksums show is found by read_trace
};

struct ReadTraceOptions {
  /// Called with the share that is done, now and then; false ends reading.
  std::function<bool(double)> progress;
  int threads = 0;  ///< that decompress and decode beside the calling thread; 0: as fits the machine
  DecodeLimits limits;
};

/// Throws TraceError when the file can't be opened or is no MCAP file.
TraceInfo read_trace_info(const std::string& path);

/// Passes every telemetry message to `sink`, in the order of recording and on the calling thread, then a Gap for each
/// stretch that damage took from a rank. False when `progress` ended it. Throws TraceError when the file can't be
/// opened, is no MCAP file, or is complete but has no run of this program.
bool read_trace(const std::string& path, EventSink& sink, const ReadTraceOptions& options = {},
                DamageReport* damage = nullptr);

/// Writes what can be read of `from`, its marks with it, as a new, whole trace, which takes its name when it is whole.
/// `damage` says what could not be read; `options.progress` cannot end it. Throws TraceError for `from`, when `to`
/// can't be created or is `from` itself, and std::runtime_error when writing fails.
void recover_trace(const std::string& from, const std::string& to, DamageReport* damage = nullptr,
                   const ReadTraceOptions& options = {});

}  // namespace rankscope

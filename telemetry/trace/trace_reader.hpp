// Reads traces: by their index, or by scanning if it is missing or damaged. Damage is skipped and reported, as text and
// as Gap events; reading continues after it.
//
// Memory and time for untrusted files are bounded by their size (trace_index.hpp, chunk_reader.hpp): all chunks
// together may unpack to 64 MiB + 100 times the file, one chunk to 128 MiB and, above 8 MiB, to 256 times its packed
// bytes; a chunk may contain 2 Mi rows, and all together 4 Mi + 8 for each byte of the file. Anything beyond is
// reported as damage. If the index lists chunks twice, or chunks overlap, the index is not used. While reading,
// unpacked chunks that wait use at most 512 MiB.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "telemetry/event/codec.hpp"
#include "telemetry/event/event.hpp"
#include "telemetry/trace/marks.hpp"
#include "telemetry/trace/trace_writer.hpp"

namespace rankscope {

/// The damage: the parts that could not be read, and how the reader noticed.
struct DamageReport {
  std::int64_t bytes_skipped = 0;
  std::int64_t messages_skipped = 0;  ///< according to the indexes: a lower bound
  std::int64_t chunks_skipped = 0;    ///< completely or in part
  std::int64_t messages_refused = 0;  ///< correct by the file's checksums, rejected by the decoder
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
  std::string library;                          ///< the library that wrote it
  std::string session;                          ///< 32 hexadecimal digits; empty: unknown
  std::map<std::string, std::string> run;       ///< title, ranks, host, …: as recorded
  std::optional<End> end;                       ///< the run's; nullopt: it has not ended, or is not known
  std::int64_t chunks = 0, messages = 0;
  std::int64_t unrecorded = 0;             ///< messages that the disk did not take
  std::string unrecorded_reason;           ///< of the first ones
  std::int64_t forged = -1;                ///< messages not from a worker of the run, ignored by its relay; -1: unknown
  std::int64_t first_ns = 0, last_ns = 0;  ///< log times
  std::vector<TraceTopic> topics;
  std::vector<TraceMark> marks;  ///< as they were saved
  DamageReport damage;           ///< of the file's structure; only read_trace finds what checksums detect
};

struct ReadTraceOptions {
  /// Called now and then with the completed share; returning false ends reading.
  std::function<bool(double)> progress;
  int threads = 0;  ///< that decompress and decode in addition to the calling thread; 0: chosen for the machine
  DecodeLimits limits;
};

/// Throws TraceError if the file can't be opened or is not an MCAP file.
TraceInfo read_trace_info(const std::string& path);

/// Passes every telemetry message to `sink`, in the order of recording and on the calling thread, then a Gap for each
/// range of a rank that is lost by damage. False if `progress` ended it. Throws TraceError if the file can't be opened,
/// is not an MCAP file, or is complete but has no run of this program.
bool read_trace(const std::string& path, EventSink& sink, const ReadTraceOptions& options = {},
                DamageReport* damage = nullptr);

/// Writes the readable part of `from`, with its marks, as a new, complete trace, which gets its name when complete.
/// `damage` receives what could not be read; `options.progress` cannot end it. Throws TraceError for `from`, if `to`
/// can't be created or is `from` itself, and std::runtime_error if writing fails.
void recover_trace(const std::string& from, const std::string& to, DamageReport* damage = nullptr,
                   const ReadTraceOptions& options = {});

}  // namespace rankscope

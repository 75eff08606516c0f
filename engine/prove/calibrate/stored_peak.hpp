// Stores a machine's peak and memory bandwidth: the peak is measured carefully once, because a short measurement varies
// by tens of per cent on a busy machine, and MFU would vary with it.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/prove/calibrate/machine.hpp"
#include "engine/prove/calibrate/peak.hpp"

namespace rankscope {

/// The key of a stored peak: a difference in any field is a different peak.
struct PeakKey {
  Machine machine;
  std::string libraries;  ///< of the products, with their versions (Platform::libraries)
  int threads = 1;
  std::string precision;  ///< "fp32"
  bool operator==(const PeakKey&) const = default;
};

struct StoredPeak {
  PeakKey key;
  PeakMeasurement measured;
  double memory_bandwidth = 0;  ///< bytes read and written per second (bandwidth.hpp); 0: unknown
  std::string utc;  ///< time of the measurement
};

/// The peaks of all keys, in one JSON file that is replaced completely.
class PeakStore {
 public:
  /// An empty path stores nothing.
  explicit PeakStore(std::filesystem::path file) : file_(std::move(file)) {}
  /// Nothing if there is no such file, or if it is not a valid store.
  std::vector<StoredPeak> all() const;
  std::optional<StoredPeak> find(const PeakKey& key) const;
  /// Replaces the one with that key. Empty, or the reason why it is not stored, in one line.
  std::string put(const StoredPeak& peak) const;
  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
};

/// rankscope/peaks.json in $XDG_CACHE_HOME or ~/.cache; empty if there is no home directory.
std::filesystem::path peak_file();

/// The peak of this machine, and the result of its check at this start.
struct MachinePeak {
  StoredPeak peak;
  PeakFlops now;              ///< the best of a few products at this start
  bool measured_now =
      false;  ///< carefully, and it is used: there was none yet, it was not steady, was exceeded, or is requested
  std::string not_stored;     ///< why it is not; empty if it is
};

/// Whether a stored peak stays even if a new one is requested: only the stored one was steady. A busy machine would
/// replace it by half its value.
bool keeps_stored(const PeakMeasurement& stored, const PeakMeasurement& now);

/// Reads it from the store, and checks it with a few products. Measures it carefully if it is not stored, `again` is
/// set (then the new one replaces it, unless `keeps_stored`), it was not steady, or the check exceeds it by 3 %
/// (then both count, and the better one stays). A GPU's is measured at each start and not stored: its own clock is not
/// disturbed by others. Memory bandwidth is measured with it, or if the store has none. `utc` is the current time.
MachinePeak peak_of_machine(DType type, const Platform& platform, const PeakStore& store, bool again,
                            const std::string& utc);

}  // namespace rankscope

// The last step that each rank has finished, in memory that outlives the rank: a page of a file in the session's
// directory. Events of a rank's last milliseconds are lost when it is killed; these marks are not.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace rankscope {

class StepMarks {
 public:
  /// Opens the file of that session, or creates it. If that fails (another host without the directory), marks are
  /// dropped.
  StepMarks(const std::filesystem::path& session_directory, int ranks);
  ~StepMarks();
  StepMarks(const StepMarks&) = delete;
  StepMarks& operator=(const StepMarks&) = delete;

  /// One store to memory; any thread.
  void finished(int rank, std::uint32_t step);
  /// A launcher ends the rank's process. Launchers end all processes but the one that died by itself.
  void dismissed(int rank);

 private:
  /// [rank]: steps finished, counted from the run's step 0; [ranks + rank]: 1 if it was dismissed.
  std::int64_t* steps_ = nullptr;
  int ranks_ = 0;
};

/// [rank] the last finished step; -1: unknown.
std::vector<std::int64_t> read_step_marks(const std::filesystem::path& session_directory, int ranks);

/// The ranks that were not dismissed.
std::vector<int> read_not_dismissed(const std::filesystem::path& session_directory, int ranks);

}  // namespace rankscope

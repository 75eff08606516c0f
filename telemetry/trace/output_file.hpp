// The file to which a command writes its result. It never overwrites its own input, and replaces only ordinary files.
#pragma once
#include <string>
#include <vector>

namespace rankscope {

/// Throws TraceError if `output` is the same file as one of `inputs`, under any name, or is a folder, a socket or a
/// disk. Files that do not exist are allowed.
void check_output(const std::string& output, const std::vector<std::string>& inputs);

/// A result that gets its name only when it is complete: it is written to a temporary file beside it, then renamed. A
/// terminal, a pipe or /dev/null is written directly and never replaced.
class OutputFile {
 public:
  /// Throws TraceError, also if check_output does.
  OutputFile(const std::string& output, const std::vector<std::string>& inputs);
  /// Removes the file if it was not committed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::string& path() const { return beside_.empty() ? target_ : beside_; }  ///< the path to write to
  void commit();                                                                   ///< Throws std::runtime_error.

 private:
  std::string output_, target_, beside_;
};

}  // namespace rankscope

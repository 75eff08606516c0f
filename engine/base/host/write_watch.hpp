// Why writing to a stream failed: a stream itself knows only that it did.
#pragma once
#include <ios>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace rankscope {

/// Passes everything that is written to a stream on to its buffer, and keeps the reason of the first failure, which the
/// system gives only at once.
class WriteWatch : private std::streambuf {
 public:
  /// Until this object ends; the stream must live as long.
  explicit WriteWatch(std::ostream& stream);
  ~WriteWatch() override;
  WriteWatch(const WriteWatch&) = delete;
  WriteWatch& operator=(const WriteWatch&) = delete;

  /// Writes what the stream still holds. "No space left on device", if not all has been written; empty if it has.
  std::string failure();
  /// No one reads the pipe any more, as with `| head`.
  bool is_unread() const;

 private:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize count) override;
  int sync() override;
  void keep_reason();

  std::ostream& stream_;
  std::streambuf* const to_;
  bool failed_ = false;
  int reason_ = 0;  ///< an errno; 0 if the system gave none
};

/// The exit status of a program that would end with `status`: 1 with a line on standard error, if not all of its
/// standard output could be written. A reader that has closed its pipe has what it wants.
int status_with_output(int status, WriteWatch& standard_output, std::string_view program);

}  // namespace rankscope

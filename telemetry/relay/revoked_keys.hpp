// Keys revoked during a run or a class. `rankscope-trace revoke` appends them to the file
// JOIN-FILE.revoked, one public key in Z85 per line; the server checks the file periodically.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope {

class RevokedKeys {
 public:
  /// Removes lists of earlier runs beside these join files: new join files contain new keys. A file that this user does
  /// not own is not read.
  explicit RevokedKeys(std::vector<std::string> join_files = {});

  /// Reads changed lists again. True: there are more keys than before.
  bool poll();
  bool contains(std::string_view public_key) const { return keys_.find(public_key) != keys_.end(); }

 private:
  std::vector<std::pair<std::string, std::int64_t>> lists_;  // path, and number of bytes read
  std::set<std::string, std::less<>> keys_;
};

/// Revokes a key: one in Z85, or that of a student named in JOIN-FILE.names (teacher.hpp), or, if empty, the key in the
/// join file itself. Returns the public key. Throws JoinError.
std::string revoke_key(const std::string& join_file, const std::string& name_or_key);

/// The lists beside a join file.
std::string revoked_list(const std::string& join_file);
std::string names_list(const std::string& join_file);

}  // namespace rankscope

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
  /// Removes lists that earlier runs left beside these join files: new join files hold new keys. A file that is not
  /// this user's own is not read.
  explicit RevokedKeys(std::vector<std::string> join_files = {});

  /// Reads the lists again where they have changed. True: there are more keys than before.
  bool poll();
  bool contains(std::string_view public_key) const { return keys_.find(public_key) != keys_.end(); }

 private:
  std::vector<std::pair<std::string, std::int64_t>> lists_;  // path, and bytes that were read
  std::set<std::string, std::less<>> keys_;
};

/// Revokes a key: one in Z85, or the name of a student whom JOIN-FILE.names lists (teacher.hpp), or empty: the key
/// that the join file itself holds. Returns the public key. Throws JoinError.
std::string revoke_key(const std::string& join_file, const std::string& name_or_key);

/// The lists beside a join file.
std::string revoked_list(const std::string& join_file);
std::string names_list(const std::string& join_file);

}  // namespace rankscope

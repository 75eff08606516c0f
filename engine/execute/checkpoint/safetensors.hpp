// The safetensors container (its public specification: eight bytes with the length of a JSON header, the header, the
// tensors without gaps), so that other tools can open what is written here.
#pragma once
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/tensor/view.hpp"

namespace rankscope {

/// An error in a file, in one line with the file's name.
struct CheckpointError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct NamedView {
  std::string name;
  View view;
};

/// Writes the tensors, with a CRC-32 of their bytes among the metadata, to `path`; when it returns they are on the
/// disk. Throws CheckpointError.
void write_safetensors(const std::string& path, const std::vector<NamedView>& tensors,
                       std::map<std::string, std::string> metadata);

/// A file's tensors, each read on request.
class SafetensorsFile {
 public:
  struct Tensor {
    DType type = DType::f32;
    Shape shape;
    std::int64_t begin = 0, end = 0;  ///< bytes after the header
  };

  /// Reads the header and checks it: the tensors fill the file after it completely, without gaps and overlaps, as the
  /// specification requires. Throws CheckpointError.
  explicit SafetensorsFile(std::string path);
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// CRC-32 of the header's bytes: names, types, shapes and positions of all tensors, and the CRC-32 of their content.
  std::uint32_t header_crc() const { return header_crc_; }
  /// Elements [first, first + count) of a tensor, unchanged. Throws CheckpointError.
  void read(const Tensor& tensor, std::int64_t first, std::int64_t count, void* into) const;
  /// Throws CheckpointError unless the tensors' bytes have the CRC-32 in the metadata.
  void check() const;

 private:
  std::string path_;
  std::int64_t data_begin_ = 0, data_bytes_ = 0;
  std::uint32_t header_crc_ = 0;
  std::map<std::string, Tensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace rankscope

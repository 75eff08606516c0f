#include "engine/execute/checkpoint/safetensors.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <libdeflate.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/base/host/excerpt.hpp"
#include "engine/op/words.hpp"

namespace rankscope {
namespace {

constexpr std::int64_t longest_header = 100 << 20;  // the specification's own limit
constexpr const char* crc_key = "crc32";

struct TypeName {
  DType type;
  const char* name;
};
constexpr TypeName type_names[] = {{DType::f64, "F64"}, {DType::f32, "F32"}, {DType::bf16, "BF16"},
                                   {DType::f16, "F16"}, {DType::i32, "I32"}, {DType::u8, "U8"}};

const char* name_in_file(DType type) {
  for (const TypeName& t : type_names)
    if (t.type == type) return t.name;
  return "?";
}

[[noreturn]] void fail(const std::string& path, const std::string& why) { throw CheckpointError(path + ": " + why); }

/// A file being written, closed on every exit.
class Output {
 public:
  explicit Output(const std::string& path)
      : path_(path), file_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    if (file_ < 0) fail(path_, std::string("cannot be written: ") + std::strerror(errno));
  }
  ~Output() { close(file_); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(const void* data, std::int64_t bytes) {
    const auto* at = static_cast<const std::byte*>(data);
    while (bytes > 0) {
      const ssize_t written = ::write(file_, at, static_cast<std::size_t>(bytes));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(path_, std::string("cannot be written: ") + std::strerror(errno));
      at += written;
      bytes -= written;
    }
  }
  void sync() {
    if (fsync(file_) != 0) fail(path_, std::string("cannot be written to the disk: ") + std::strerror(errno));
  }

 private:
  std::string path_;
  int file_;
};

}  // namespace

void write_safetensors(const std::string& path, const std::vector<NamedView>& tensors,
                       std::map<std::string, std::string> metadata) {
  nlohmann::ordered_json header;
  std::int64_t offset = 0;
  std::uint32_t crc = 0;
  for (const NamedView& tensor : tensors) {
    std::vector<std::int64_t> shape;
    for (int axis = 0; axis < tensor.view.shape.rank; ++axis) shape.push_back(tensor.view.shape[axis]);
    header[tensor.name] = {{"dtype", name_in_file(tensor.view.type)},
                           {"shape", shape},
                           {"data_offsets", {offset, offset + tensor.view.bytes()}}};
    offset += tensor.view.bytes();
    crc = libdeflate_crc32(crc, tensor.view.data, static_cast<std::size_t>(tensor.view.bytes()));
  }
  metadata[crc_key] = std::to_string(crc);
  header["__metadata__"] = metadata;
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // tensors begin aligned

  Output file(path);
  std::array<std::uint8_t, 8> length{};
  for (std::size_t i = 0; i < length.size(); ++i) length[i] = static_cast<std::uint8_t>(text.size() >> (8 * i));
  file.write(length.data(), static_cast<std::int64_t>(length.size()));
  file.write(text.data(), static_cast<std::int64_t>(text.size()));
  for (const NamedView& tensor : tensors) file.write(tensor.view.data, tensor.view.bytes());
  file.sync();
}

namespace {

/// Checks tensors in file order: each begins where the previous one ends, and the last one ends with the file.
void check_places(const std::string& path, const std::map<std::string, SafetensorsFile::Tensor>& tensors,
                  std::int64_t bytes) {
  std::vector<std::pair<const std::string*, const SafetensorsFile::Tensor*>> in_order;
  for (const auto& [name, tensor] : tensors) in_order.emplace_back(&name, &tensor);
  std::sort(in_order.begin(), in_order.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second->begin, a.second->end) < std::pair(b.second->begin, b.second->end);
  });
  std::int64_t end = 0;
  for (const auto& [name, tensor] : in_order) {
    if (tensor->begin != end)
      fail(path,
           fmt::format("is damaged: '{}' begins at byte {} of the tensors, and what lies before it ends at byte {}",
                       *name, tensor->begin, end));
    end = tensor->end;
  }
  if (end != bytes)
    fail(path, fmt::format("is damaged: its tensors end at byte {}, and the file holds {} of them", end,
                           counted(bytes, "byte")));
}

}  // namespace

SafetensorsFile::SafetensorsFile(std::string path) : path_(std::move(path)) {
  std::error_code error;
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path_, error));
  std::ifstream file(path_, std::ios::binary);
  if (error || !file) fail(path_, "cannot be read");
  std::array<std::uint8_t, 8> length{};
  file.read(reinterpret_cast<char*>(length.data()), 8);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < length.size(); ++i) bytes |= static_cast<std::int64_t>(length[i]) << (8 * i);
  if (!file || bytes < 2 || bytes > longest_header || bytes > size - 8)
    fail(path_, "is no safetensors file: its first eight bytes are not the length of a header");
  std::string text(bytes, '\0');
  file.read(text.data(), bytes);
  if (!file) fail(path_, "cannot be read");
  header_crc_ = libdeflate_crc32(0, text.data(), text.size());
  data_begin_ = 8 + bytes;
  data_bytes_ = size - data_begin_;
  try {
    const nlohmann::json header = nlohmann::json::parse(text);
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") {
        metadata_ = entry.get<std::map<std::string, std::string>>();
        continue;
      }
      Tensor tensor;
      bool known = false;
      for (const TypeName& t : type_names)
        if (entry.at("dtype") == t.name) {
          tensor.type = t.type;
          known = true;
        }
      if (!known) fail(path_, "'" + name + "' is of a type that is not known here, " + entry.at("dtype").dump());
      const auto shape = entry.at("shape").get<std::vector<std::int64_t>>();
      if (shape.size() > tensor.shape.extent.size()) fail(path_, "'" + name + "' has more than four axes");
      std::int64_t elements = 1;
      for (const std::int64_t extent : shape) {
        if (extent < 0 || (extent > 0 && elements > data_bytes_ / extent))
          fail(path_, "'" + name + "' has no such shape");
        elements *= extent;
        tensor.shape.extent[tensor.shape.rank++] = extent;
      }
      tensor.begin = entry.at("data_offsets").at(0).get<std::int64_t>();
      tensor.end = entry.at("data_offsets").at(1).get<std::int64_t>();
      if (tensor.begin < 0 || tensor.end > data_bytes_ || tensor.end - tensor.begin != elements * bytes_of(tensor.type))
        fail(path_, "'" + name + "' is not inside the file; is the file incomplete?");
      tensors_.emplace(name, tensor);
    }
    check_places(path_, tensors_, data_bytes_);
  } catch (const nlohmann::json::parse_error& e) {
    fail(path_, fmt::format("is no safetensors file, or damaged: its header is no JSON from byte {} on", e.byte));
  } catch (const nlohmann::json::exception& e) {
    fail(path_, std::string("is no safetensors file, or damaged: ") + json_fault(e.what()));
  }
}

void SafetensorsFile::read(const Tensor& tensor, std::int64_t first, std::int64_t count, void* into) const {
  const std::int64_t size = bytes_of(tensor.type);
  std::ifstream file(path_, std::ios::binary);
  file.seekg(data_begin_ + tensor.begin + first * size);
  file.read(static_cast<char*>(into), count * size);
  if (!file) fail(path_, "cannot be read");
}

void SafetensorsFile::check() const {
  const auto stored_crc = metadata_.find(crc_key);
  if (stored_crc == metadata_.end()) fail(path_, "says no crc32 of its tensors");
  std::ifstream file(path_, std::ios::binary);
  file.seekg(data_begin_);
  std::vector<char> block(1 << 20);
  std::uint32_t crc = 0;
  for (std::int64_t left = data_bytes_; left > 0;) {
    const std::int64_t bytes = std::min<std::int64_t>(left, static_cast<std::int64_t>(block.size()));
    file.read(block.data(), bytes);
    if (!file) fail(path_, "cannot be read");
    crc = libdeflate_crc32(crc, block.data(), static_cast<std::size_t>(bytes));
    left -= bytes;
  }
  if (std::to_string(crc) != stored_crc->second)
    fail(path_, "is damaged: its tensors do not have the crc32 that it says");
}

}  // namespace rankscope

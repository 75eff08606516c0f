#include "telemetry/trace/marks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "engine/base/host/file_lock.hpp"
#include "engine/op/words.hpp"
#include "telemetry/trace/output_file.hpp"
#include "telemetry/trace/record_file.hpp"
#include "telemetry/trace/trace_index.hpp"
#include "telemetry/trace/trace_layout.hpp"

namespace rankscope {
namespace {

using mcap::Op;

constexpr std::uint64_t copied_bytes = std::uint64_t{4} << 20;  // at a time
constexpr std::uint64_t data_end_bytes = mcap::record_head + 4;

template <class T>
bool read_number(const mcap::Metadata& metadata, std::string_view key, T& number) {
  const std::string* text = find_value(metadata, key);
  if (text == nullptr) return false;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  return error == std::errc{} && end == text->data() + text->size();
}

// The recording, locked so that no other process saves to it at the same time.
class LockedRecording {
 public:
  explicit LockedRecording(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    std::string refusal;
    struct stat status {};
    if (file_ < 0 || ::fstat(file_, &status) != 0) {
      refusal = std::string("cannot be read: ") + std::strerror(errno);
    } else if ((status.st_mode & 0222) == 0 || ::access(path.c_str(), W_OK) != 0) {
      refusal = "it is write-protected, so no marks can be kept in it";
    } else if (const auto holder = lock_open_file(file_, path)) {
      refusal = "no marks can be kept in it now: " + *holder;
    } else if (struct stat named{}; ::stat(path.c_str(), &named) != 0 || named.st_ino != status.st_ino) {
      refusal = "another program has just saved it; open it again";
    }
    if (refusal.empty()) return;
    if (file_ >= 0) ::close(file_);
    throw TraceError(path + ": " + refusal);
  }
  ~LockedRecording() { ::close(file_); }
  LockedRecording(const LockedRecording&) = delete;
  LockedRecording& operator=(const LockedRecording&) = delete;

 private:
  int file_;
};

struct SummaryRecord {
  Op op;
  mcap::View content;
};

// A finished recording without its marks: its data up to `data_end`, and its summary's records.
struct Unmarked {
  std::uint64_t data_end = 0;
  mcap::Bytes summary;
  std::vector<SummaryRecord> records;  // views of `summary`
};

Unmarked without_marks(const TraceFile& file) {
  std::string why;
  auto summary = summary_of(file, why);
  if (!summary || summary->start < data_end_bytes) throw TraceError(file.path() + ": " + why);
  Unmarked result{summary->start - data_end_bytes, std::move(summary->records), {}};
  std::vector<mcap::MetadataIndex> marks;
  mcap::Reader reader(result.summary);
  while (!reader.rest().empty()) {
    const auto op = static_cast<Op>(reader.number<std::uint8_t>());
    const mcap::View content = reader.take(reader.number<std::uint64_t>());
    if (!reader.ok()) break;
    if (const auto index = mcap::read<mcap::MetadataIndex>(content);
        op == Op::metadata_index && index && index->name == mark_metadata)
      marks.push_back(*index);
    else if (op != Op::summary_offset)
      result.records.push_back({op, content});
  }
  // Marks are at the end of the data: everything before them stays in place.
  std::sort(marks.begin(), marks.end(), [](const auto& a, const auto& b) { return a.offset > b.offset; });
  for (const mcap::MetadataIndex& mark : marks) {
    if (mark.offset + mark.length != result.data_end)
      throw TraceError(file.path() + ": its marks are not at its end; another program has written it");
    result.data_end = mark.offset;
  }
  return result;
}

void copy(const TraceFile& from, std::uint64_t size, RecordFile& to) {
  for (std::uint64_t at = 0; at < size;) {
    const mcap::Bytes bytes = from.read(at, std::min(copied_bytes, size - at));
    if (bytes.empty()) throw TraceError(from.path() + ": it became shorter while it was read");
    if (!to.put(bytes)) throw TraceError(to.error());
    at += bytes.size();
  }
}

// The unchanged summary with these indexes added to its metadata, followed by the footer.
mcap::Bytes new_summary(const Unmarked& old, const std::vector<mcap::MetadataIndex>& marks, std::uint64_t start) {
  mcap::Bytes out;
  struct Group {
    Op op;
    std::uint64_t begin, end;
  };
  std::vector<Group> groups;
  const auto put = [&](Op op, const auto& write_record) {
    const std::uint64_t begin = start + out.size();
    write_record();
    const auto known = std::find_if(groups.rbegin(), groups.rend(), [&](const Group& g) { return g.op == op; });
    if (known != groups.rend() && known->end == begin)
      known->end = start + out.size();
    else
      groups.push_back({op, begin, start + out.size()});
  };
  const auto is_index = [](const SummaryRecord& record) { return record.op == Op::metadata_index; };
  const auto others = static_cast<std::size_t>(std::count_if(old.records.begin(), old.records.end(), is_index));
  for (const SummaryRecord& record : old.records) {
    if (is_index(record)) continue;
    put(record.op, [&] {
      if (auto statistics = record.op == Op::statistics ? mcap::read<mcap::Statistics>(record.content) : std::nullopt) {
        statistics->metadata = static_cast<std::uint32_t>(others + marks.size());
        return mcap::write(out, *statistics);
      }
      mcap::write_record(out, record.op, record.content);
    });
  }
  for (const SummaryRecord& record : old.records)
    if (is_index(record)) put(record.op, [&] { mcap::write(out, *mcap::read<mcap::MetadataIndex>(record.content)); });
  for (const mcap::MetadataIndex& index : marks) put(Op::metadata_index, [&] { mcap::write(out, index); });
  const std::uint64_t offsets_start = start + out.size();
  for (const Group& group : groups) mcap::write_summary_offset(out, group.op, group.begin, group.end - group.begin);
  mcap::write_end(out, start, offsets_start);
  return out;
}

void check_size(const std::string& path, const std::vector<TraceMark>& marks) {
  if (marks.size() > most_marks)
    throw TraceError(fmt::format("{}: more than {}; delete some first", path, counted(most_marks, "mark")));
  for (const TraceMark& mark : marks)
    if (mark.text.size() > greatest_mark_bytes)
      throw TraceError(fmt::format("{}: a mark's note has more than {}", path, counted(greatest_mark_bytes, "byte")));
}

}  // namespace

mcap::Metadata metadata_of(const TraceMark& mark) {
  mcap::Metadata metadata{std::string(mark_metadata),
                          {{"text", mark.text},
                           {"begin_ns", std::to_string(mark.time.begin_ns)},
                           {"end_ns", std::to_string(mark.time.end_ns)},
                           {"obtained", std::string(name_of(mark.obtained))}}};
  if (mark.step) metadata.values.emplace_back("step", std::to_string(*mark.step));
  if (mark.op.valid()) {
    metadata.values.emplace_back("rank", std::to_string(mark.rank));
    metadata.values.emplace_back("op", to_token(mark.op));
  }
  return with_crc(std::move(metadata));
}

std::optional<TraceMark> mark_of(const mcap::Metadata& metadata) {
  const std::string* crc = find_value(metadata, metadata_crc_key);
  const std::string* text = find_value(metadata, "text");
  const std::string* name = find_value(metadata, "obtained");
  const auto obtained = name != nullptr ? obtained_named(*name) : std::nullopt;
  TraceMark mark;
  if (metadata.name != mark_metadata || crc == nullptr || *crc != metadata_crc(metadata) || text == nullptr ||
      text->size() > greatest_mark_bytes || !obtained || !read_number(metadata, "begin_ns", mark.time.begin_ns) ||
      !read_number(metadata, "end_ns", mark.time.end_ns) || mark.time.end_ns < mark.time.begin_ns)
    return std::nullopt;
  mark.obtained = *obtained;
  mark.text = *text;
  std::uint32_t step = 0;
  if (read_number(metadata, "step", step)) mark.step = step;
  if (const std::string* token = find_value(metadata, "op")) {
    const auto op = parse_token(*token);
    // An op of a kind that a newer build added: only its time is kept.
    if (op && read_number(metadata, "rank", mark.rank) && mark.rank >= 0) mark.op = *op;
    if (!mark.op.valid()) mark.rank = -1;
  }
  return mark;
}

void save_marks(const std::string& path, const std::vector<TraceMark>& before, const std::vector<TraceMark>& after) {
  check_size(path, after);
  const LockedRecording lock(path);
  const TraceFile file(path);
  DamageReport damage;
  const TraceIndex index = index_trace(file, damage);
  if (damage.any())
    throw TraceError(path +
                     ": it is damaged or was never finished, so no marks can be kept in it; "
                     "`rankscope-trace recover` writes a whole one");
  if (marks_in(index) != before)
    throw TraceError(path + ": another program has changed its marks; open it again to see them");
  const Unmarked old = without_marks(file);

  OutputFile output(path, {});
  RecordFile written(output.path());
  copy(file, old.data_end, written);
  std::vector<mcap::MetadataIndex> indexes;
  mcap::Bytes out;
  for (const TraceMark& mark : after) {
    const std::uint64_t offset = written.bytes() + out.size();
    mcap::write(out, metadata_of(mark));
    indexes.push_back({offset, written.bytes() + out.size() - offset, std::string(mark_metadata)});
  }
  if (!written.put(out)) throw TraceError(written.error());
  out.clear();
  mcap::write_data_end(out, written.crc());
  const mcap::Bytes summary = new_summary(old, indexes, written.bytes() + out.size());
  out.insert(out.end(), summary.begin(), summary.end());
  // Synced to the disk before it is renamed: else a crash of the machine could leave an empty file under this name.
  if (!written.put(out) || !written.sync() || !written.close()) throw TraceError(written.error());
  output.commit();
}

}  // namespace rankscope

"""Reads a trace with PyPI's package mcap, an independent MCAP reader. Exit status 77: skipped."""
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

# Newer versions of the package have other names for a time range; the old names work in all.
warnings.simplefilter("ignore", DeprecationWarning)

try:
    from mcap.reader import NonSeekingReader, make_reader
    from mcap.records import Chunk, MessageIndex
    from mcap.stream_reader import StreamReader
except ImportError as missing:
    print(f"skipped: the Python package mcap is not installed ({missing})")
    sys.exit(77)
try:
    import zstandard  # noqa: F401  mcap needs it to unpack chunks
except ImportError:
    print("skipped: the Python package zstandard is not installed")
    sys.exit(77)


def check(condition, what):
    if not condition:
        print("failed:", what)
        sys.exit(1)


def write(path, *more):
    return int(subprocess.run([sys.argv[1], path, *more], check=True, capture_output=True, text=True).stdout)


with tempfile.TemporaryDirectory() as folder:
    path = str(Path(folder) / "sample.mcap")
    written = write(path)
    with open(path, "rb") as file:
        reader = make_reader(file, validate_crcs=True)
        summary = reader.get_summary()
        check(summary is not None, "no summary")
        check(summary.statistics.message_count == written, "another number of messages in the statistics")
        check(summary.statistics.chunk_count == len(summary.chunk_indexes) > 3, "chunk indexes")
        topics = {channel.topic: channel for channel in summary.channels.values()}
        for topic in ("/rankscope/control", "/rankscope/summary", "/rankscope/spans"):
            channel = topics[topic]
            schema = summary.schemas[channel.schema_id]
            check(channel.message_encoding == "flatbuffer" and schema.encoding == "flatbuffer", topic)
            check(schema.name == "rankscope.wire.Message" and schema.data[4:8] == b"BFBS", "no binary schema")
        seen = {}
        last = -1
        for schema, channel, message in reader.iter_messages():
            check(message.log_time >= last, "not by log time")
            last = message.log_time
            seen[channel.topic] = seen.get(channel.topic, 0) + 1
            if channel.message_encoding == "json":
                value = json.loads(message.data)
                check(set(value) <= set(json.loads(schema.data)["properties"]), channel.topic)
            else:
                check(message.data[4:8] == b"RSEV", "not a telemetry message")
        check(sum(seen.values()) == written, f"{sum(seen.values())} messages read, {written} written")
        for topic in ("/loss", "/memory/rank_0", "/learning_rate", "/step_seconds", "/tokens_per_second", "/bubble"):
            check(seen.get(topic, 0) > 0, f"nothing to plot on {topic}")
        losses = [json.loads(m.data) for _, _, m in reader.iter_messages(topics=["/loss"])]
        check([v["step"] for v in losses] == list(range(len(losses))), "steps of /loss")
        check(abs(losses[1]["loss"] - 5.499) < 1e-9, f"loss {losses[1]}")
        spans = list(reader.iter_messages(topics=["/rankscope/spans"], start_time=10**7, end_time=2 * 10**7))
        check(0 < len(spans) < seen["/rankscope/spans"], "a time range is found by the index")
        names = {m.name: m.metadata for m in reader.iter_metadata()}
        check(len(names["rankscope"]["session"]) == 32 and names["run"]["title"] == "invented", f"metadata {names}")

    with open(path, "rb") as file:
        indexed = sum(isinstance(record, (Chunk, MessageIndex)) for record in
                      StreamReader(file, emit_chunks=True, validate_crcs=True).records)
        check(indexed > 6, "the data section's checksum or records")

    # Documents, each in its own chunk.
    documents = str(Path(folder) / "documents.mcap")
    check(write(documents, "documents") == 3, "documents were not written")
    with open(documents, "rb") as file:
        reader = make_reader(file, validate_crcs=True)
        check(len(reader.get_summary().chunk_indexes) == 3, "a chunk for each document")
        read = [(channel.topic, message.log_time, json.loads(message.data))
                for _, channel, message in reader.iter_messages()]
        check(read == [("/plan", 0, {"points": 2}), ("/point", 1000, {"n": 1}), ("/point", 2000, {"n": 2})], f"{read}")
    with open(documents, "rb") as file:
        sum(1 for _ in StreamReader(file, emit_chunks=True, validate_crcs=True).records)

    # A recorder that was killed: no summary, but all flushed data.
    written = write(path, "unfinished")
    with open(path, "rb") as file:
        try:
            count = 0
            for _ in NonSeekingReader(file, validate_crcs=True).iter_messages(log_time_order=False):
                count += 1
        except Exception as error:  # the package reports an error at the end of a file without an end mark
            print(f"at the end of the unfinished file: {error!r}")
        check(count == written, f"{count} messages of {written} in the unfinished file")
print("passed")

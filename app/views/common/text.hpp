// SPDX-License-Identifier: GPL-3.0-or-later
// Formats numbers with their units, and the engine's names. An unknown value (NaN, or -1 for
// counts) is an en dash.
#pragma once
#include <QObject>
#include <QString>
#include <QStringList>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {
struct RunPlan;
}

namespace rankscope::app::text {

QString unknown();  ///< the en dash

/// Seconds with three digits and a suitable unit: "43.4 ms", "812 µs", "1.25 s".
QString seconds(double seconds);
QString nanoseconds(std::int64_t ns);
/// Bytes with three digits: "161 MiB", "14.0 KiB", "96 B".
QString bytes(double bytes);
/// A share of 1 as "31.0 %".
QString percent(double share);
/// Of a share that may be small: "<0.1 %" instead of "0.0 %".
QString share(double share);
/// "2⁻²⁴".
QString power_of_two(int exponent);
/// An integer with groups of three: "1,284,310".
QString count(std::int64_t number);
/// Three digits, grouped from 1,000 on: "47,200", "3.12", "0.00031" is "3.1e-4".
QString number(double value);
/// With as many digits, at least three, as rounding by at most `error` needs; whole numbers without decimals.
QString number_within(double value, double error);
/// The unit of a plan's rate: "tokens / s", of a resnet "images / s".
QString rate_name(const ModelSpec& model);
/// Bytes per second: "1.21 GB/s" (decimal, as usual for bandwidths).
QString bandwidth(double bytes_per_second);
/// FLOP/s: "84.1 GFLOP/s".
QString flops(double per_second);

/// "rank 3 · stage 1, replica 0": with its place in the grid, if any.
QString rank_name(const RunPlan& plan, int rank);
/// "+3.1 %", "−3.1 %".
QString signed_percent(double share);
/// For axes, where "12,288" is too long: "12.3k".
QString short_number(double value);

/// Translates a text of a view, for classes that are not a QObject.
inline QString tr(const char* words) { return QObject::tr(words); }
QString utf8(std::string_view text);
QStringList list(const std::vector<std::string>& texts);
/// One of the engine's names, in the window's language: "zero_gather" as "zero gather".
QString words(std::string_view name);
/// An op's name as everywhere else: "all_reduce" as "all-reduce".
QString hyphened(std::string_view name);

}  // namespace rankscope::app::text

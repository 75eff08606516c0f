// Courses: lists of labs in an order. One file each in scenarios/courses; `natural` has all labs, and defines the order
// of every list. Data only.
#pragma once
#include <string>
#include <vector>

#include "engine/lesson/lab/lab.hpp"

namespace rankscope {

struct CourseSection {
  std::string title;
  std::vector<std::string> labs;  ///< names of their files
  bool operator==(const CourseSection&) const = default;
};

struct Course {
  std::string file, title;
  std::string language{};  ///< of a translation (translation.hpp); empty: English
  std::string summary;     ///< one sentence: its audience and its subject
  std::string teacher;     ///< notes for the teacher, in Markdown
  std::vector<CourseSection> sections;
  std::string name() const;
  /// The labs of all sections, in order.
  std::vector<std::string> labs() const;
  bool operator==(const Course&) const = default;
};

inline constexpr const char* natural_course = "natural";

/// Throws ScenarioError with position.
Course read_course(const std::string& path);
Course parse_course(const std::string& text, const std::string& name);

/// A section of the natural order with its lessons.
struct LabGroup {
  std::string title;
  std::vector<Lab> labs;
};

/// All lessons and courses that are installed.
struct Library {
  std::vector<LabGroup> groups;      ///< sections of the natural order; labs that are not in it form a last group
  std::vector<Course> courses;       ///< natural first, then by name
  std::vector<std::string> refused;  ///< files that cannot be read: one line each
  /// Null if there is none of that name.
  const Lab* lab(const std::string& name) const;
  const Course* course(const std::string& name) const;
  /// In the order of the list.
  std::vector<const Lab*> labs() const;
};

/// Reads all labs and courses of the resource folders (resources.hpp), including the user's own. Does not throw for an
/// invalid file: it is omitted, and listed in `refused`. `language`: "de", if translated; empty: English.
Library read_library(const std::string& language = {});

}  // namespace rankscope

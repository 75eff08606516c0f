#include "engine/lesson/lab/course.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include "engine/lesson/lab/fields.hpp"
#include "engine/lesson/lab/translation.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/plan/scenario/resources.hpp"

namespace rankscope {
namespace {

Course course_of(const document::Table& root, const std::string& name) {
  const std::string at = name + ":1:1";
  Fields fields(root, "a course");
  Course course;
  course.file = name;
  course.title = fields.text("title", at, true);
  course.summary = fields.text("summary", at, true);
  course.teacher = fields.text("teacher", at, false);
  for (const auto& [table, place] : fields.tables("section")) {
    Fields own(*table, "[[section]]");
    CourseSection section;
    section.title = own.text("title", place, true);
    section.labs = own.texts("labs");
    own.refuse_others();
    if (section.labs.empty()) document::refuse(place, "a section without labs; write labs = [\"walls\"]");
    course.sections.push_back(std::move(section));
  }
  fields.refuse_others();
  if (course.sections.empty()) document::refuse(at, "a course without sections; write [[section]] with title and labs");
  return course;
}

/// The labs by the natural order's sections; labs that are not in it remain in `labs`.
std::vector<LabGroup> grouped(const Course* natural, std::map<std::string, Lab>& labs) {
  std::vector<LabGroup> groups;
  if (natural == nullptr) return groups;
  for (const CourseSection& section : natural->sections) {
    LabGroup group{section.title, {}};
    for (const std::string& name : section.labs)
      if (auto found = labs.extract(name)) group.labs.push_back(std::move(found.mapped()));
    if (!group.labs.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

std::string Course::name() const { return std::filesystem::path(file).stem().string(); }

std::vector<std::string> Course::labs() const {
  std::vector<std::string> all;
  for (const CourseSection& section : sections) all.insert(all.end(), section.labs.begin(), section.labs.end());
  return all;
}

Course read_course(const std::string& path) { return course_of(document::parse_file(path), path); }

Course parse_course(const std::string& text, const std::string& name) {
  return course_of(document::parse(text, name), name);
}

const Lab* Library::lab(const std::string& name) const {
  for (const LabGroup& group : groups)
    for (const Lab& lab : group.labs)
      if (lab.name() == name) return &lab;
  return nullptr;
}

const Course* Library::course(const std::string& name) const {
  const auto found = std::find_if(courses.begin(), courses.end(), [&](const Course& c) { return c.name() == name; });
  return found == courses.end() ? nullptr : &*found;
}

std::vector<const Lab*> Library::labs() const {
  std::vector<const Lab*> all;
  for (const LabGroup& group : groups)
    for (const Lab& lab : group.labs) all.push_back(&lab);
  return all;
}

Library read_library(const std::string& language) {
  Library library;
  std::map<std::string, Lab> labs;
  for (const auto& file : resource_files("labs")) try {
      if (const auto lab = read_lab(file.string())) labs.emplace(lab->name(), in_language(*lab, language));
    } catch (const ScenarioError& error) {
      library.refused.emplace_back(error.what());
    }
  for (const auto& file : resource_files("courses")) try {
      library.courses.push_back(in_language(read_course(file.string()), language));
    } catch (const ScenarioError& error) {
      library.refused.emplace_back(error.what());
    }
  std::stable_partition(library.courses.begin(), library.courses.end(),
                        [](const Course& course) { return course.name() == natural_course; });
  library.groups = grouped(library.course(natural_course), labs);
  LabGroup others{"Other labs", {}};
  for (auto& [name, lab] : labs) others.labs.push_back(std::move(lab));
  if (!others.labs.empty()) library.groups.push_back(std::move(others));
  return library;
}

std::vector<Lab> all_labs() {
  std::vector<Lab> labs;
  for (LabGroup& group : read_library().groups)
    for (Lab& lab : group.labs) labs.push_back(std::move(lab));
  return labs;
}

}  // namespace rankscope

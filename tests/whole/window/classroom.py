# SPDX-License-Identifier: GPL-3.0-or-later
"""A class in two real windows, each on its own screen: a student follows the teacher and answers, the teacher sees
the answer, trains, and the student sees the run."""

import os
import sys

from desktop import Desktop, Failed, main, wait_for
from program import Program, fresh_profile
from ten_minutes import wait_label

LAB = "one-step"
QUESTION = "backward"  # the right option of the first question


def contents(file):
    try:
        with open(file, encoding="utf-8") as text:
            return text.read()
    except FileNotFoundError:
        return ""


def answer(student):
    """A student's first answer, as in the lesson's first question."""
    student.press("5 questions before you run ↓", "push button")
    option = student.wait_for(QUESTION, "radio button")
    student.desktop.click(*option.centre)
    below = [part for part in student.parts() if part.name == "Submit" and part.y > option.y]
    if not below:
        raise Failed("there is no Submit under the question")
    student.desktop.click(*min(below, key=lambda part: part.y).centre)


def test(binary, folder):
    join, answers = os.path.join(folder, "class.join"), os.path.join(folder, "answers.csv")
    for file in (join, answers):
        if os.path.exists(file):
            os.remove(file)
    screens = [Desktop(folder, 1366, 768), Desktop(folder, 1366, 768)]
    at_teacher, at_student = screens
    programs = []
    try:
        at_teacher.use()
        teacher = Program(binary, at_teacher, fresh_profile(folder, "teacher"), [LAB, "--teach", join, "--answers", answers])
        programs.append(teacher)
        wait_label(teacher, "SIMULATED")
        wait_for("the class file is written", lambda: contents(join))
        at_student.use()
        student = Program(binary, at_student, fresh_profile(folder, "student"), ["--attend", join, "--name", "Ada"])
        programs.append(student)
        wait_label(student, "SIMULATED")
        student.wait_for("One training step: forward, backward, update", "label")
        at_student.picture("class-student-joined")
        answer(student)
        wait_for("the teacher's window has the answer", lambda: teacher.says("1 answer"))
        wait_for("the answers' file names the student", lambda: "Ada" in contents(answers))
        at_student.picture("class-student-answered")
        at_teacher.use()
        at_teacher.picture("class-teacher-answered")
        teacher.press("Run")
        wait_label(teacher, "ENDED", seconds=600)
        at_teacher.picture("class-teacher-run")
        at_student.use()
        wait_for("the student's window says that the teacher has run", lambda: student.says("The teacher has run this lab"))
        at_student.picture("class-student-run")
        student.quit()
        at_teacher.use()
        teacher.quit()
    except Exception:
        for name, screen in (("teacher", at_teacher), ("student", at_student)):
            screen.use()
            screen.picture(f"class-failed-{name}")
        raise
    finally:
        for program in programs:
            program.kill()
        for screen in screens:
            screen.close()


if __name__ == "__main__":
    sys.exit(main(test))

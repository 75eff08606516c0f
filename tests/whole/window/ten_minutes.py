# SPDX-License-Identifier: GPL-3.0-or-later
"""The README's ten minutes in the window, step by step, with mouse and keyboard."""

import os
import subprocess
import sys

from desktop import LIMIT, Desktop, Failed, main, start, wait_for
from program import Program, fresh_profile

LAB = "pipeline-1f1b"


def label(program, parts=None):
    """The word for the source of the shown data."""
    for part in parts or program.parts():
        if part.role == "label" and part.name in ("SIMULATED", "LIVE", "NO DATA", "CONNECTION LOST", "RECORDED",
                                                     "ENDED", "DETACHED"):
            return part.name
    return ""


def step(program):
    spin = program.find("Step", "spin button")
    return program.value(spin) if spin else None


def wait_label(program, *wanted, seconds=LIMIT):
    return wait_for(lambda: f"the window says one of {wanted}; it says '{label(program)}'",
                    lambda: label(program) in wanted, seconds)


def engine(binary, *arguments):
    return [os.path.join(os.path.dirname(binary), "rankscope-engine"), *arguments]


def record(binary, folder):
    file = os.path.join(folder, "1f1b.mcap")
    if os.path.exists(file):
        os.remove(file)
    result = subprocess.run(engine(binary, "run", LAB, "--steps", "6", "--record", file), stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, timeout=LIMIT)
    if result.returncode != 0 or not os.path.exists(file):
        raise Failed(f"the engine recorded nothing: {result.stdout}")
    return file


def see_a_recording(binary, folder, desktop, file):
    """3. A recording opens; keys go through steps and ops; Shift and drag choose a range."""
    program = Program(binary, desktop, fresh_profile(folder, "profile-recording"), [file])
    try:
        wait_label(program, "RECORDED")
        wait_for("a step is chosen", lambda: step(program))
        timeline = program.wait_for("Time line", "filler")
        desktop.click(timeline.centre[0], timeline.y + 10)
        last = step(program)
        desktop.key("bracketleft")
        wait_for("'[' goes to the step before", lambda: step(program) == last - 1)
        desktop.key("bracketright")
        wait_for("']' goes back", lambda: step(program) == last)
        before = desktop.picture("before-zoom")
        desktop.key("w", "w", "w")
        wait_for("'W' zooms", lambda: open(desktop.picture("after-zoom"), "rb").read() != open(before, "rb").read())
        desktop.key("f")
        find_an_op(program, desktop)
        desktop.key("question")
        wait_for("'?' shows the keys", program.has_popup)
        desktop.key("Escape")
        wait_for("Esc closes them", lambda: not program.has_popup())
        y = timeline.y + timeline.height // 2
        desktop.key("Home")
        press_range(desktop, timeline.x + timeline.width // 3, timeline.x + timeline.width // 2, y)
        wait_for("a chosen range is shown as a table", lambda: program.find("Range", "filler"))
        program.quit()
    except Exception:
        desktop.picture("ten-minutes-recording")
        raise
    finally:
        program.kill()


def find_an_op(program, desktop):
    """A screen reader gets the name of Ctrl+F's list and its results."""
    desktop.key("ctrl+f")
    program.wait_for("Find", "dialog")
    program.wait_for_focus()
    desktop.type("B:c1:m2 ")

    def first():
        found = program.find("Find: matches")
        return found.node.get_child_at_index(0).get_name() if found and found.node.get_child_count() > 0 else ""

    wait_for(lambda: f"the list tells of an op of these words; it says '{first()}'", lambda: first().startswith("B:c1:m2"))
    desktop.key("Escape")
    wait_for("Esc closes the list", lambda: not program.find("Find", "dialog"))


def press_range(desktop, x, to_x, y):
    from desktop import run

    run(["xdotool", "mousemove", "--sync", str(x), str(y), "keydown", "shift", "mousedown", "1",
         "mousemove", "--sync", str((x + to_x) // 2), str(y), "mousemove", "--sync", str(to_x), str(y),
         "mouseup", "1", "keyup", "shift"])


def run_and_change(binary, folder, desktop):
    """3 to 5. The lab is opened and run; one setting is changed and predicted; the training is the same."""
    program = Program(binary, desktop, fresh_profile(folder, "profile-run"), [LAB, "--run"])
    try:
        wait_label(program, "LIVE", "ENDED")
        wait_label(program, "ENDED", seconds=600)  # half a minute on two idle cores
        field = program.wait_for("micro-batches", "spin button")
        if program.value(field) != 8:
            raise Failed(f"the lab has 8 micro-batches, the field {program.value(field)}")
        desktop.click(*field.centre)
        desktop.key("ctrl+a")
        desktop.type("16")
        desktop.key("Return")
        wait_label(program, "SIMULATED")
        desktop.key("ctrl+z")
        wait_label(program, "ENDED")  # the run returns with its plan
        wait_for("undo brings the field back", lambda: program.value(field) == 8)
        desktop.key("ctrl+shift+z")
        wait_label(program, "SIMULATED")
        wait_for("the plan can be reset to its file", lambda: reset_button(program))
        desktop.click(*reset_button(program).centre)
        wait_for("the field is 8 again",
                 lambda: program.value(program.wait_for("micro-batches", "spin button")) == 8)
        program.quit()
    except Exception:
        desktop.picture("ten-minutes-run")
        raise
    finally:
        program.kill()


def reset_button(program):
    return program.find("Reset to file", "push button")


def watch_from_elsewhere(binary, folder, desktop):
    """7. A run serves viewers on a socket."""
    publisher = start(engine(binary, "run", LAB, "--steps", "100000", "--publish", "tcp://127.0.0.1:0"),
                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=folder)
    program = None
    try:
        endpoint = ""
        while "tcp://127.0.0.1:" not in endpoint:
            endpoint = publisher.stderr.readline()
            if not endpoint:
                raise Failed("the run names no endpoint")
        endpoint = next(word for word in endpoint.split() if "tcp://127.0.0.1:" in word).strip(",.;()")
        program = Program(binary, desktop, fresh_profile(folder, "profile-viewer"), [endpoint])
        wait_label(program, "LIVE")
        first = wait_for("a step came", lambda: step(program))
        wait_for("further steps come", lambda: step(program) > first)
        program.quit()
    except Exception:
        desktop.picture("ten-minutes-viewer")
        raise
    finally:
        if program is not None:
            program.kill()
        publisher.kill()
        publisher.wait()


def test(binary, folder):
    desktop = Desktop(folder, 1366, 768)
    try:
        for words, part in (("a recording", lambda: see_a_recording(binary, folder, desktop, record(binary, folder))),
                            ("a run, a change", lambda: run_and_change(binary, folder, desktop)),
                            ("a run elsewhere", lambda: watch_from_elsewhere(binary, folder, desktop))):
            print(words, flush=True)
            part()
    finally:
        desktop.close()


if __name__ == "__main__":
    sys.exit(main(test))

# SPDX-License-Identifier: GPL-3.0-or-later
"""The pipeline puzzle with a real mouse: boxes are clicked and dragged, a known order is put on the board and used in
training."""

import sys

from desktop import Desktop, Failed, main, wait_for
from program import Program, fresh_profile
from ten_minutes import wait_label

BOARD = "Board of the puzzle"
# The board's geometry, in pixels: rows of stages, then the axis, then the boxes to place.
LEFT, TOP, AXIS, BOX_STEP = 12 + 160, 4, 26, 38
STAGES = 3


def board(program):
    return program.wait_for(BOARD, "filler")


def row_height(part):
    return max(26, min(34, int((part.height - 2 * TOP - AXIS) / (2 * STAGES))))


def to_place(program, stage, slot):
    """The middle of a box that is not placed yet."""
    part = board(program)
    return part.x + LEFT + slot * BOX_STEP + 15, part.y + TOP + AXIS + (STAGES + stage) * row_height(part) + 10


def in_row(program, stage, x):
    part = board(program)
    return part.x + LEFT + x, part.y + TOP + stage * row_height(part) + row_height(part) // 2


def placed(program, count):
    words = f"{count} of 36 boxes"
    wait_for(lambda: f"the board has {words}; it says '{board(program).node.get_description()}'",
             lambda: words in board(program).node.get_description())


def test(binary, folder):
    desktop = Desktop(folder, 1366, 768)
    program = Program(binary, desktop, fresh_profile(folder, "profile"), ["pipeline-puzzle"])
    try:
        wait_label(program, "SIMULATED")
        program.still()
        desktop.click(*to_place(program, 0, 0))
        placed(program, 1)
        desktop.drag(*to_place(program, 0, 1), *in_row(program, 0, 200))
        placed(program, 2)
        desktop.drag(*to_place(program, 1, 0), *in_row(program, 0, 200))  # the row of another stage
        placed(program, 2)
        desktop.drag(*to_place(program, 1, 0), *in_row(program, 1, 100))
        placed(program, 3)
        desktop.picture("puzzle-three")
        desktop.drag(*in_row(program, 0, 10), *to_place(program, 2, 8))  # F0 of stage 0 and what needs it
        placed(program, 1)
        program.press("Undo")
        placed(program, 3)
        program.press("Orders")
        wait_for("the menu opens", program.has_popup)
        desktop.key("Down", "Down", "Down", "Return")
        wait_for("the order is complete", lambda: "Complete: 24 units" in board(program).node.get_description())
        desktop.picture("puzzle-complete")
        program.press("Run it")
        wait_label(program, "LIVE", "ENDED")
        wait_label(program, "ENDED", seconds=600)
        desktop.picture("puzzle-run")
        if not program.says("by-hand"):
            raise Failed("the plan does not have the schedule by-hand")
        program.quit()
    except Exception:
        desktop.picture("puzzle-failed")
        raise
    finally:
        program.kill()
        desktop.close()


if __name__ == "__main__":
    sys.exit(main(test))

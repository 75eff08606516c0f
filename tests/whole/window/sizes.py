# SPDX-License-Identifier: GPL-3.0-or-later
"""Every tab at every size: nothing is too small, cut or off the screen; the same after a presentation, after Reset
layout, and after a restart. In a long run of the tests at every size and scale, else at one scale for each size."""

import os
import re
import sys

from desktop import Desktop, Failed, is_long, main, run, wait_for
from program import LOG, TABS, Program, fresh_profile

LESSON = "pipeline-1f1b"

SCREENS = ((1366, 768), (1024, 700), (1920, 1080))
SCALES = (1.0, 1.5, 2.0)
THOROUGH = ((1366, 768, 1.0), (1024, 700, 1.0), (1920, 1080, 2.0))
ALWAYS_THOROUGH = THOROUGH[0]
LEAST_SEEN = 180  # least height of any visible view, in logical pixels
LEAST_WITH_ROOM = 250  # and of a lower view, if the screen has 700
ROUNDING = 3  # pixels: positions are reported in whole logical pixels


def check(condition, words):
    if not condition:
        raise Failed(words)


def is_scrolled(part):
    """Whether it is inside a page that scrolls."""
    chain = part.path + (part,)
    return any(inner.height > outer.height + ROUNDING for outer, inner in zip(chain, chain[1:]))


def check_places(program, parts):
    """Nothing is off the screen, and nothing is cut by its parent."""
    window, desktop = program.window(), program.desktop
    check(window.x >= 0 and window.y >= 0 and window.right <= desktop.width + ROUNDING
          and window.bottom <= desktop.height + ROUNDING, f"the window is off the screen: {window}")
    for part in parts:
        if part.width <= 0 or part.height <= 0 or not part.path or part.role in ("page tab", "table"):
            continue
        around = part.path[-1]
        if around.width > 0:
            check(part.x >= around.x - ROUNDING and part.right <= around.right + ROUNDING,
                  f"cut at the side: {part}\n  within {around}")
        if not is_scrolled(part):
            check(part.inside(window, ROUNDING), f"outside of the window: {part}")
            if around.height > 0:
                check(part.y >= around.y - ROUNDING and part.bottom <= around.bottom + ROUNDING,
                      f"cut above or below: {part}\n  within {around}")


def view_of(program, name):
    """The widget of a view, which has the name of its tab."""
    wanted = LOG if name == "Log" else name
    return next((part for part in program.parts() if part.name == wanted and part.role in ("filler", "text", "panel")
                 and part.height > 0), None)


def open_tab(program, number):
    if number <= 10:
        program.desktop.key(f"ctrl+{number % 10}")
    else:
        program.command(f"Show {TABS[number - 1]}")


def check_view(program, name):
    """The view is in front and large enough, and so are all other visible ones."""
    view = wait_for(f"{name} is in front and {LEAST_SEEN} pixels high",
                    lambda: (lambda one: one if one and one.height >= LEAST_SEEN * program.scale - ROUNDING else None)(
                        view_of(program, name)))
    parts = program.still()
    roomy = program.desktop.height / program.scale >= 700
    least = LEAST_WITH_ROOM if roomy else LEAST_SEEN
    check(view.height >= least * program.scale - ROUNDING, f"{name} has less than {least} pixels: {view}")
    timeline = program.find("Time line", parts=[part for part in parts if part.role == "filler"])
    if roomy:
        check(timeline is not None, f"the time line is not shown beside {name}")
    if timeline is not None:
        check(timeline.height >= LEAST_SEEN * program.scale - ROUNDING, f"the time line is too low: {timeline}")
        check(not timeline.overlaps(view), f"{timeline} lies over {view}")
    check_places(program, parts)
    return view


def check_tabs(program, with_pictures):
    for number, name in enumerate(TABS, 1):
        open_tab(program, number)
        view = check_view(program, name)
        if with_pictures:
            wait_for(f"{name} shows something",
                     lambda: program.desktop.colours(view.x, view.y, view.width, view.height) >= 4)


def places(program):
    """The positions of the large parts, for comparisons."""
    found = {}
    for part in program.still():
        if part.name in ("Lesson", "Plan", "Time line", "Where the step goes") + TABS and part.role != "page tab":
            found[part.name] = (part.x, part.y, part.width, part.height)
    return found


def check_same(program, before, what):
    def difference():
        now = places(program)
        return {name: (place, now.get(name)) for name, place in before.items()
                if now.get(name) is None or max(abs(a - b) for a, b in zip(place, now[name])) > ROUNDING}

    wait_for(lambda: f"everything is where it was after {what}; not so: {difference()}", lambda: not difference())


def check_presentation(program):
    before = places(program)
    program.desktop.key("F11")
    wait_for("the presentation hides the plan", lambda: "Plan" not in places(program))
    program.desktop.key("Escape")
    check_same(program, before, "F11 and Esc")


def check_whole_middle(program, name):
    """F9 gives the lower view the middle; Esc gives it back."""
    before = places(program)
    program.desktop.key("F9")
    view = wait_for(f"{name} has the whole middle",
                    lambda: (lambda one: one if one and "Time line" not in places(program) else None)(
                        view_of(program, name)))
    check(view.height > before[name][3], f"{name} is not larger: {view}")
    check_places(program, program.still())
    program.desktop.key("Escape")
    check_same(program, before, "F9 and Esc")


def check_mouse(program, number):
    """A click on a tab shows its view, a double click gives it the whole middle; so does the list."""
    tab = program.wait_for(f"{number} {TABS[number - 1]}", "page tab")
    program.desktop.click(*tab.centre)
    view = check_view(program, TABS[number - 1])
    program.desktop.click(*tab.centre, times=2)
    wait_for("a double click on its tab makes it larger",
             lambda: (view_of(program, TABS[number - 1]) or view).height > view.height)
    program.desktop.key("Escape")
    wait_for("Esc brings the time line back", lambda: program.find("Time line", "filler"))
    more = program.find("More views", "push button")
    check(more is not None, "there is no list of the tabs that do not fit")
    program.desktop.click(*more.centre)
    wait_for("the list opens", program.has_popup)
    program.desktop.key("Up", "Return")
    check_view(program, TABS[-1])


def check_panels(program):
    """Each panel folds to a strip and opens as it was."""
    for key, name in (("ctrl+b", "Lesson"), ("ctrl+j", "Plan")):
        before = places(program)[name]
        program.desktop.key(key)
        wait_for(f"{name} is folded or unfolded", lambda: abs(places(program)[name][2] - before[2]) > 100)
        check_places(program, program.still())
        program.desktop.key(key)
        wait_for(f"{name} is again as wide as before",
                 lambda: abs(places(program)[name][2] - before[2]) <= ROUNDING)


def check_handle(program, name):
    """The edge above the lower view can be seen and drawn."""
    handle = program.wait_for("Height of the lower view")
    before = view_of(program, name)
    x, y = handle.centre
    program.desktop.drag(x, y, x, y - 24)
    wait_for("the lower view is higher after its edge was drawn up",
             lambda: view_of(program, name).height >= before.height + 12)
    return places(program)


def thorough(binary, folder, width, height, scale, desktop):
    profile = fresh_profile(folder, f"profile-{width}-{height}-{scale}")
    program = Program(binary, desktop, profile, [LESSON], scale=scale)
    try:
        check_places(program, program.still())
        first = places(program)
        check_tabs(program, with_pictures=True)
        open_tab(program, 3)
        check_view(program, TABS[2])
        check_presentation(program)
        if height / scale >= 700:
            check_whole_middle(program, TABS[2])
        check_panels(program)
        if (width, height) == (1366, 768):
            check_mouse(program, 4)
        program.command("Reset layout")
        if height / scale >= 700:
            drawn = {key: value for key, value in first.items() if key in ("Lesson", "Plan", "Time line")}
            check_same(program, drawn, "Reset layout")
        open_tab(program, 3)
        check_view(program, TABS[2])
        kept = check_handle(program, TABS[2]) if height / scale >= 768 else places(program)
        program.quit()
        program = Program(binary, desktop, profile, [LESSON], scale=scale)
        open_tab(program, 3)
        check_view(program, TABS[2])
        check_same(program, kept, "quitting and starting again")
        program.quit()
        check_unusable_state(binary, desktop, profile, scale, first)
    except Exception:
        desktop.picture(f"sizes-{width}-{height}-{scale}")
        raise
    finally:
        program.kill()


def check_unusable_state(binary, desktop, profile, scale, first):
    """A layout that no longer fits is not restored."""
    file = os.path.join(profile, "config", "rankscope", "rankscope.conf")
    text = open(file).read()
    spoilt = re.sub(r'(lesson_width|plan_width|lower_height)([\\"]*:)\d+', r"\g<1>\g<2>9", text)
    check(spoilt != text, f"no layout in {file}")
    open(file, "w").write(spoilt)
    program = Program(binary, desktop, profile, [LESSON], scale=scale)
    try:
        check_same(program, {name: first[name] for name in ("Lesson", "Plan")}, "an unusable state was saved")
        program.quit()
    finally:
        program.kill()


def check_starts_large(program):
    window, desktop = program.window(), program.desktop
    check(window.width >= 0.8 * desktop.width and window.height >= 0.8 * desktop.height,
          f"the window starts small on {desktop.width}x{desktop.height}: {window}")


def check_becomes_small(program):
    """1024 x 700 is possible, and everything fits."""
    found = run(["xdotool", "search", "--onlyvisible", "--pid", str(program.process.pid), "--name", "Rankscope"])
    window = found.stdout.split()[-1]
    run(["xdotool", "windowsize", window, "1024", "680"])
    wait_for("the window is 1024 pixels wide", lambda: abs(program.window().width - 1024) <= ROUNDING)
    open_tab(program, 3)
    check_view(program, TABS[2])


def quick(binary, folder, width, height, scale, desktop):
    program = Program(binary, desktop, fresh_profile(folder, f"profile-{width}-{height}-{scale}"), [LESSON],
                      scale=scale)
    try:
        check_places(program, program.still())
        check_starts_large(program)
        check_tabs(program, with_pictures=False)
        if (width, scale) == (1920, 1.0):
            check_becomes_small(program)
        program.quit()
    except Exception:
        desktop.picture(f"sizes-{width}-{height}-{scale}")
        raise
    finally:
        program.kill()


def test(binary, folder, *chosen):
    for width, height in SCREENS:
        if chosen and f"{width}x{height}" not in chosen:
            continue
        desktop = Desktop(folder, width, height)
        try:
            for scale in SCALES:
                case = (width, height, scale)
                if not is_long() and case not in THOROUGH:
                    continue
                one = thorough if case == ALWAYS_THOROUGH or (is_long() and case in THOROUGH) else quick
                print(f"{width} x {height}, scale {scale}", flush=True)
                one(binary, folder, width, height, scale, desktop)
        finally:
            desktop.close()


if __name__ == "__main__":
    sys.exit(main(test))

# SPDX-License-Identifier: GPL-3.0-or-later
"""The real window, as a screen reader sees it (AT-SPI): its widgets, their positions and their texts."""

import os
import shutil

try:
    import gi

    gi.require_version("Atspi", "2.0")
    from gi.repository import Atspi, GLib
except (ImportError, ValueError):  # desktop.main() skips the test and says so
    Atspi = GLib = None

from desktop import LIMIT, Failed, run, start, wait_for  # noqa: E402

TABS = ("Memory", "Range", "Collectives", "Training", "Scaling", "Search", "Roofline", "Paths", "Formats", "Puzzle", "Validation", "Grid",
        "Topology", "Program", "Hang", "Compare", "Experiments", "Log")
LOG = "Output of the engine"  # the name of the log's widget
NOT_ENTERED = ("table", "list", "list box", "tree", "tree table")  # their cells may be many, and scroll


class Part:
    """A visible widget: its role, name and position on the screen, in pixels of the screen."""

    def __init__(self, node, role, name, x, y, width, height, path):
        self.node, self.role, self.name, self.path = node, role, name, path
        self.x, self.y, self.width, self.height = x, y, width, height

    @property
    def right(self):
        return self.x + self.width

    @property
    def bottom(self):
        return self.y + self.height

    @property
    def centre(self):
        return self.x + self.width // 2, self.y + self.height // 2

    def inside(self, other, slack=0):
        return (self.x >= other.x - slack and self.y >= other.y - slack and self.right <= other.right + slack
                and self.bottom <= other.bottom + slack)

    def overlaps(self, other):
        return (self.x < other.right and other.x < self.right and self.y < other.bottom and other.y < self.bottom)

    def __str__(self):
        return f"{self.role} '{self.name[:60]}' at {self.x},{self.y} {self.width}x{self.height}"


class Program:
    """The program on a desktop, with its own profile."""

    def __init__(self, binary, desktop, profile, arguments=(), scale=1.0):
        self.desktop, self.profile, self.scale = desktop, profile, scale
        self.number = Program.count = getattr(Program, "count", 0) + 1
        environment = dict(os.environ, HOME=profile, XDG_CONFIG_HOME=os.path.join(profile, "config"),
                           XDG_DATA_HOME=os.path.join(profile, "data"), QT_SCALE_FACTOR=str(scale))
        self.log = os.path.join(desktop.folder, f"window-{self.number}.log")
        self.process = start([binary, *arguments], env=environment, cwd=profile, stdout=open(self.log, "w"),
                             stderr=open(self.log, "a"))
        self.application = None
        self.frame = wait_for("a window opens", self._find_frame)

    def _find_frame(self):
        if self.process.poll() is not None:
            raise Failed(f"the program ended with {self.process.returncode}: {open(self.log).read()}")
        try:
            root = Atspi.get_desktop(0)
            for i in range(root.get_child_count()):
                child = root.get_child_at_index(i)
                if child is not None and child.get_process_id() == self.process.pid:
                    self.application = child
                    for j in range(child.get_child_count()):
                        frame = child.get_child_at_index(j)
                        if frame.get_role_name() == "frame" and frame.get_extents(Atspi.CoordType.SCREEN).width > 200:
                            return frame
        except GLib.Error:
            pass
        return None

    def parts(self, within=None):
        """All visible widgets. Widgets that disappear meanwhile are omitted."""
        result = []
        factor = self.scale
        roots = [within.node] if within is not None else []
        if within is None:
            try:
                for i in range(self.application.get_child_count()):
                    roots.append(self.application.get_child_at_index(i))
            except GLib.Error:  # the program is ending
                return result

        def walk(node, path):
            try:
                if node is None or not node.get_state_set().contains(Atspi.StateType.SHOWING):
                    return
                extents = node.get_extents(Atspi.CoordType.SCREEN)
                role, name = node.get_role_name(), node.get_name()
                sizes = (extents.x, extents.y, extents.width, extents.height)
                part = Part(node, role, name, *(round(size * factor) for size in sizes), path)
                result.append(part)
                if role in NOT_ENTERED:
                    return
                for i in range(node.get_child_count()):
                    walk(node.get_child_at_index(i), path + (part,))
            except GLib.Error:
                return

        for root in roots:
            walk(root, within.path if within is not None else ())
        return result

    def find(self, name, role=None, parts=None):
        """The visible part with this name; None if there is none."""
        for part in parts if parts is not None else self.parts():
            if part.name == name and (role is None or part.role == role) and part.width > 0 and part.height > 0:
                return part
        return None

    def wait_for(self, name, role=None, seconds=LIMIT):
        return wait_for(f"'{name}' is shown", lambda: self.find(name, role), seconds)

    def says(self, words, parts=None):
        """Whether words are visible as a label, a text or a name."""
        return any(words in part.name or words in self.text(part) for part in parts or self.parts())

    def text(self, part):
        try:
            text = part.node.get_text_iface()
            return Atspi.Text.get_text(part.node, 0, -1) if text is not None else ""
        except GLib.Error:
            return ""

    def value(self, part):
        return Atspi.Value.get_current_value(part.node)

    def enabled(self, part):
        states = part.node.get_state_set()
        return states.contains(Atspi.StateType.ENABLED) and states.contains(Atspi.StateType.SENSITIVE)

    def press(self, name, role="push button"):
        self.desktop.click(*self.wait_for(name, role).centre)

    def window(self):
        extents = self.frame.get_extents(Atspi.CoordType.SCREEN)
        sizes = (extents.x, extents.y, extents.width, extents.height)
        return Part(self.frame, "frame", "", *(round(size * self.scale) for size in sizes), ())

    def status(self, parts=None):
        """The text of the status line."""
        labels = [part for part in parts or self.parts() if part.role == "label" and part.height > 0]
        return max(labels, key=lambda part: part.y).name if labels else ""

    def still(self, seconds=LIMIT):
        """All parts, once two consecutive looks find the same positions."""
        last = []

        def same():
            now = self.parts()
            places = [(part.role, part.x, part.y, part.width, part.height) for part in now]
            equal = bool(last) and last[-1] == places
            last.append(places)
            return now if equal else None

        return wait_for("the window comes to rest", same, seconds)

    def command(self, words):
        """Types into the command palette, which has every command of the menus, and runs the first that it finds."""
        self.desktop.key("ctrl+k")
        self.wait_for("Command", "dialog")
        self.wait_for_focus()
        self.desktop.type(words)
        self.desktop.key("Return")
        wait_for("the command palette closes", lambda: not self.find("Command", "dialog"))

    def wait_for_focus(self):
        """Until a field of text has the keyboard: a window may be visible before."""
        def focused():
            try:
                return any(part.role == "text" and part.node.get_state_set().contains(Atspi.StateType.FOCUSED)
                           for part in self.parts())
            except GLib.Error:
                return False

        wait_for("a field of text has the keyboard", focused)

    def has_popup(self):
        """Whether a second window of the program is visible: lists of fields are not in a screen reader's tree."""
        found = run(["xdotool", "search", "--onlyvisible", "--pid", str(self.process.pid)])
        return len(found.stdout.split()) > 1

    def quit(self):
        self.desktop.key("ctrl+q")
        try:
            self.process.wait(LIMIT)
        except Exception:
            self.process.kill()
            raise Failed(f"Ctrl+Q did not end the program within {LIMIT} s")
        if self.process.returncode != 0:
            raise Failed(f"the program ended with {self.process.returncode}: {open(self.log).read()}")

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def fresh_profile(folder, name):
    profile = os.path.join(folder, name)
    shutil.rmtree(profile, ignore_errors=True)
    os.makedirs(profile)
    return profile

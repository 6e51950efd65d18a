#!/usr/bin/env python3
"""Presses the button that a screen reader calls so, with the mouse, where it stands: press.py NAME SECONDS

NAME is a regular expression. Waits until the button is on the display and can be pressed; 1 if that does not come about.
A button below the window's edge is scrolled to, as a person does.
"""
import re
import subprocess
import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402

DEPTH_MAX = 40
DISPLAY_HEIGHT = 800


def buttons(node, depth=0):
    if depth > DEPTH_MAX:
        return
    try:
        role, count = node.get_role(), node.get_child_count()
    except Exception:  # it went while we looked
        return
    # Qt calls a button that stays down a check box.
    if role in (Atspi.Role.PUSH_BUTTON, Atspi.Role.TOGGLE_BUTTON, Atspi.Role.CHECK_BOX):
        yield node
    for number in range(count):
        try:
            child = node.get_child_at_index(number)
        except Exception:
            continue
        if child is not None:
            yield from buttons(child, depth + 1)


def find(name):
    """Where its middle is; None if it cannot be pressed yet."""
    desktop = Atspi.get_desktop(0)
    for number in range(desktop.get_child_count()):
        program = desktop.get_child_at_index(number)
        if program is None:
            continue
        for button in buttons(program):
            try:
                if not re.search(name, button.get_name()):
                    continue
                states = button.get_state_set()
                if not (states.contains(Atspi.StateType.ENABLED) and states.contains(Atspi.StateType.VISIBLE)):
                    continue
                place = button.get_extents(Atspi.CoordType.SCREEN)
            except Exception:
                continue
            if place.width > 0 and place.height > 0:
                return place.x + place.width // 2, place.y + place.height // 2
    return None


def mouse(*words):
    subprocess.run(["xdotool", *words], check=True)


def main():
    name, end = sys.argv[1], time.monotonic() + float(sys.argv[2])
    last = None
    while time.monotonic() < end:
        place = find(name)
        if place is None:
            last = None
        elif not 0 <= place[1] < DISPLAY_HEIGHT - 10:
            mouse("mousemove", "640", "400", "click", "5" if place[1] > 0 else "4")
            last = None
        elif place == last:  # it stands still
            mouse("mousemove", str(place[0]), str(place[1]), "click", "1")
            return 0
        else:
            last = place
        time.sleep(0.2)
    return 1


if __name__ == "__main__":
    sys.exit(main())

"""The machine reboots."""
from box import Box, equal
from points.point import point


def is_back(box: Box) -> None:
    box.listen()
    box.well()
    equal(box.show('NRestarts'), '0', 'restarts')
    box.press_arrives()


@point('after a reboot it is there by itself, and a press arrives')
def rebooted(box: Box) -> None:
    mark = box.button.mark
    box.machine.reboot()
    box.button.notes('session ready', since=mark)
    is_back(box)


@point('after a power cut, too')
def cut(box: Box) -> None:
    box.machine.cut_power()
    is_back(box)

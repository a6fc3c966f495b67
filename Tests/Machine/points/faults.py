"""Faults are reported, and Tryck recovers.

A button that has lost its link says nothing until it is pressed; one that was let go advertises at once.
"""
import time

from box import Box, equal
from points.paired import DROP_INS
from points.point import point
from program import Failure


@point('killed, it is started again; the press from meanwhile is accounted for, and the next one arrives')
def killed(box: Box) -> None:
    pid, mark, messages = box.pid, box.button.mark, box.message_mark()
    box.machine.do(f'kill -KILL {pid}')
    box.button.notes('disconnected', since=mark)
    box.button.press()
    box.button.notes('session ready', since=mark)
    if box.pid == pid or box.show('NRestarts') != '1':
        raise Failure(f'it was restarted {box.show("NRestarts")} times')
    box.message('bridge/event .*stale_event|/event .*"queued":true', messages)
    box.press_arrives()


@point('hung, it is killed by the watchdog and started again, and the next press arrives')
def hung(box: Box) -> None:
    box.machine.do(f"""
        mkdir -p {DROP_INS}
        printf '[Service]\\nWatchdogSec=4s\\nTimeoutAbortSec=2s\\n' >{DROP_INS}/watchdog.conf
        systemctl daemon-reload""")
    box.restart()
    pid, journal = box.pid, box.journal_mark()
    box.machine.do(f'kill -STOP {pid}')
    box.journal_until('Watchdog timeout', journal)
    box.well()
    if box.pid == pid:
        raise Failure('it is the same process')
    box.press_arrives()
    box.machine.do(f'rm {DROP_INS}/watchdog.conf && systemctl daemon-reload')
    box.restart()


@point('the adapter pulled out and put in again: the same process goes on, and the next press arrives')
def pulled(box: Box) -> None:
    with box.same_process():
        journal = box.journal_mark()
        box.machine.do('systemctl kill --signal USR1 air')
        box.journal_until('BlueZ has no such adapter', journal)
        told = box.machine.run('tryck status')
        equal(told.status, 1, 'the status of "tryck status" without an adapter')
        box.machine.do('systemctl kill --signal USR2 air')
        box.well()
        box.press_arrives()


@point('the broker stopped and started: the same process goes on, and the next press arrives')
def broker(box: Box) -> None:
    with box.same_process():
        box.machine.do('systemctl stop mosquitto')
        box.machine.until('! tryck status', 'it is noticed')
        box.machine.do('systemctl start mosquitto')
        box.well()
        box.machine.do('systemctl stop messages')
        box.listen()
        box.press_arrives()


@point('"systemctl reload" takes over what it can, in the same process')
def reloaded(box: Box) -> None:
    with box.same_process():
        mark = box.message_mark()
        box.machine.do("printf 'log: {level: debug}\\n' >>/etc/tryck/tryck.yaml && systemctl reload tryck")
        box.message('bridge/info .*"log_level":"debug"', mark)
        box.machine.do("sed -i '/^log:/d' /etc/tryck/tryck.yaml && systemctl reload tryck")
        box.press_arrives()


@point('started on a read-only disk it runs and shows it; a press is recorded in the runtime directory, and survives a '
       'restart; writable again, the disk is used by the same process')
def read_only(box: Box) -> None:
    reserves = "find /run/tryck -name 'tryck.reserve-*' -type f"
    name = box.machine.do(reserves)
    if not name or '\n' in name:
        raise Failure(f'the reserves in the runtime directory: {name!r}')
    inode = box.machine.do(f'stat --format %i {name}')
    # A mount of its own that the service sees after a restart.
    box.machine.do(f"""
        mkdir -p {DROP_INS}
        printf '[Service]\\nReadOnlyPaths=/var/lib/tryck\\n' >{DROP_INS}/read-only.conf
        systemctl daemon-reload""")
    try:
        box.restart()
        box.machine.until('tryck status | grep -F "cannot be written"', 'the fault shows')
        before = box.machine.do(f'sha256sum <{name}')
        box.press_arrives()
        box.machine.until(f'test "$(sha256sum <{name})" != "{before}"', 'the press is in the reserve')
        presses = box.machine.do("tryck status --json | grep -o '\"presses\": *[0-9]*'")
        messages = box.message_mark()
        box.restart()
        equal(box.machine.do(f'{reserves} -printf "%p %i"'), f'{name} {inode}', 'the reserve after the restart')
        equal(box.machine.do("tryck status --json | grep -o '\"presses\": *[0-9]*'"), presses, 'presses')
        with box.same_process():
            box.machine.do(f'nsenter --target {box.pid} --mount mount -o remount,bind,rw /var/lib/tryck')
            # The attempts to write are up to a minute apart.
            box.well(within=90)
            box.press_arrives()
        clicks = box.machine.do(f'tail -n +{messages + 1} /run/messages | grep -c "/action click$"')
        equal(clicks, '1', 'the clicks that were handled since the restart')
    finally:
        box.machine.do(f'rm {DROP_INS}/read-only.conf && systemctl daemon-reload')
    box.restart()
    box.well()
    box.press_arrives()


@point('a wrong configuration ends it with status 78, once; the journal has file and line, as an error')
def misconfigured(box: Box) -> None:
    journal = box.journal_mark()
    box.machine.do("cp /etc/tryck/tryck.yaml good && printf 'mqqt: {}\\n' >>/etc/tryck/tryck.yaml")
    line = box.machine.do('wc -l </etc/tryck/tryck.yaml')
    try:
        box.machine.run('systemctl restart tryck')
        equal(box.show('ExecMainStatus'), '78', 'its status')
        # RestartSec=5s.
        time.sleep(8)
        equal((box.show('ActiveState'), box.show('NRestarts')), ('failed', '0'), 'state and restarts')
        errors = box.journal(journal, '--priority', 'err')
        if not any(f'/etc/tryck/tryck.yaml:{line}:' in error for error in errors):
            raise Failure(f'its errors in the journal: {errors}; all of it: {box.journal(journal)}')
    finally:
        box.machine.do('mv good /etc/tryck/tryck.yaml')
    box.restart()
    box.press_arrives()


@point('at the end it lets the button go, and ends in order')
def stopped(box: Box) -> None:
    mark = box.button.mark
    start = time.monotonic()
    box.machine.do('systemctl stop tryck')
    box.figure(f'{time.monotonic() - start:.1f} s to stop')
    box.button.notes('disconnected', since=mark)
    equal((box.show('Result'), box.show('ActiveState')), ('success', 'inactive'), 'result and state')
    box.machine.do('systemctl start tryck')
    box.button.notes('session ready', since=mark)

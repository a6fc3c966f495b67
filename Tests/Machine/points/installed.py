"""apt installs the package, and the service runs."""
import re
import time

from box import Box, equal
from points.point import point
from program import Failure

NET_ADMIN = 1 << 12
REST = 30  # seconds


@point('apt installs the package, and what it recommends')
def installed(box: Box) -> None:
    start = time.monotonic()
    box.machine.do('DEBIAN_FRONTEND=noninteractive apt-get -q -y install ./packages/tryck_1.deb', within=300)
    box.figure(f'{time.monotonic() - start:.0f} s for apt to install it, with mosquitto, on an emulated processor')
    states = box.machine.do("dpkg-query --show --showformat '${Status}\\n' tryck mosquitto libcurl4 ca-certificates tzdata")
    equal(set(states.splitlines()), {'install ok installed'}, 'states of the packages')


@point('it runs, and will at every boot; it has told systemd that it is ready, and how it is')
def runs(box: Box) -> None:
    wanted = {
        'UnitFileState': 'enabled', 'ActiveState': 'active', 'SubState': 'running', 'Type': 'notify', 'Result': 'success',
        'NRestarts': '0'}
    equal({name: box.show(name) for name in wanted}, wanted, 'the service')
    box.well()
    told = box.show('StatusText')
    if not told or told not in box.machine.do('systemctl --no-pager status tryck'):
        raise Failure(f'systemctl status does not say "{told}"')
    entered, started = (int(box.show(f'{name}TimestampMonotonic')) for name in ('ActiveEnter', 'ExecMainStart'))
    box.figure(f'{(entered - started) / 1000:.0f} ms from its start until it was ready')


@point('it runs as the user tryck, with CAP_NET_ADMIN and nothing else, under seccomp')
def confined(box: Box) -> None:
    status = box.machine.do(f'cat /proc/{box.pid}/status')
    fields = dict(line.split(':\t', 1) for line in status.splitlines() if ':\t' in line)
    equal(set(fields['Uid'].split()), {box.machine.do('id -u tryck')}, 'its user')
    for kind in ('CapPrm', 'CapEff', 'CapBnd'):
        equal(int(fields[kind], 16) & ~NET_ADMIN, 0, kind)
    equal((fields['NoNewPrivs'], fields['Seccomp']), ('1', '2'), 'NoNewPrivs, Seccomp')
    whole, own = (int(fields[name].split()[0]) / 1024 for name in ('VmRSS', 'RssAnon'))
    box.figure(f'{whole:.1f} MB of memory after the start, {own:.1f} MB of it its own; threads: {fields["Threads"]}')


@point('nothing of Swift is on the machine, and it misses nothing of it')
def self_contained(box: Box) -> None:
    maps = box.machine.do(f'cat /proc/{box.pid}/maps')
    if not re.search(r'/usr/bin/tryckd$', maps, re.MULTILINE):
        raise Failure(f'this is not what tryckd has in memory: {maps[:500]}')
    equal(re.findall(r'\S*(?:[Ss]wift|Foundation)\S*', maps), [], 'libraries')


@point('systemd finds nothing wrong with the unit, and its exposure to be at most 2.0 of 10')
def verified(box: Box) -> None:
    equal(box.machine.do('systemd-analyze --man=no verify tryck.service'), '', 'what systemd-analyze verify says')
    exposure = box.exposure()
    box.figure(f'exposure {exposure} of 10')
    if exposure > 2:
        raise Failure(f'the exposure is {exposure}')


@point('its start has no warning in the journal, and what it says there is there with its priority')
def quiet_start(box: Box) -> None:
    # At its first start apt may not have started the broker yet.
    mark = box.journal_mark()
    box.machine.do('systemctl restart tryck')
    box.well()
    equal(box.journal(mark, '--priority', 'warning'), [], 'warnings')
    lines = box.journal(mark, '--priority', 'info', '_SYSTEMD_UNIT=tryck.service')
    if not any('is running; commands reach it at' in line for line in lines):
        raise Failure(f'it does not say that it runs: {lines}')
    equal([line for line in lines if line.startswith('<')], [], 'priorities that the journal does not understand')


@point('BlueZ, which runs as well, shares its adapter')
def beside_bluez(box: Box) -> None:
    equal(box.machine.do('systemctl is-active bluetooth'), 'active', 'BlueZ')
    if 'Controller' not in box.machine.do('bluetoothctl list'):
        raise Failure('BlueZ has no adapter any more')
    if 'shared with BlueZ' not in box.machine.do('tryck status'):
        raise Failure('tryck does not use the adapter through BlueZ')


@point('root and who is in the group tryck may ask it; somebody else is told how to get there')
def asked(box: Box) -> None:
    equal(box.machine.do('stat -c "%a %U %G" /run/tryck/control.sock'), '660 tryck tryck', 'its socket')
    refused = box.machine.run('runuser -u mallory -- tryck status')
    if refused.status != 69 or 'usermod -aG tryck' not in refused.output:
        raise Failure(f'somebody else gets status {refused.status}: {refused.output}')
    box.machine.do('usermod -aG tryck alice && runuser -u alice -- tryck status')


@point(f'at rest it writes nothing into the journal for {REST} s')
def quiet(box: Box) -> None:
    pid = box.pid
    usage = f'cat /proc/{pid}/task/*/status | sed -n "s/^voluntary_ctxt_switches://p"; cut -d " " -f 14,15 /proc/{pid}/stat'
    mark = box.journal_mark()
    before = box.machine.do(usage).split()
    time.sleep(REST)
    after = box.machine.do(usage).split()
    equal(box.journal(mark), [], 'its lines')
    wakeups = sum(map(int, after[:-2])) - sum(map(int, before[:-2]))
    ticks = sum(map(int, after[-2:])) - sum(map(int, before[-2:]))
    box.figure(f'{wakeups / REST:.2f} wakeups a second at rest, {ticks * 10} ms of processor time in {REST} s')

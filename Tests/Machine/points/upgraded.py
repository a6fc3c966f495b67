"""Upgrade, removal and purge of the package."""
from box import Box, equal
from points.point import point
from program import Failure

CONFIGURATION = 'sha256sum /etc/tryck/tryck.yaml /etc/tryck/rules/home.yaml'
APT = 'DEBIAN_FRONTEND=noninteractive apt-get -q -y'


@point('an upgrade starts the newer one; pairings, configuration and rules are as they were')
def upgraded(box: Box) -> None:
    before, pid, mark = box.machine.do(CONFIGURATION), box.pid, box.button.mark
    box.machine.do(f'{APT} install ./packages/tryck_2.deb')
    version = box.machine.do("dpkg-query --show --showformat '${Version}' tryck")
    if not version.endswith('+newer') or box.pid == pid:
        raise Failure(f'there is {version}, with process {box.pid} after {pid}')
    box.button.notes('session ready', since=mark)
    equal(box.machine.do(CONFIGURATION), before, 'configuration and rules')
    box.press_arrives()


@point('a service that somebody has switched off stays off over an upgrade')
def switched_off(box: Box) -> None:
    box.machine.do(f'systemctl disable --now tryck && {APT} reinstall ./packages/tryck_2.deb')
    equal(box.show('UnitFileState'), 'disabled', 'the service')
    box.machine.do('systemctl enable --now tryck')


@point('a removal ends it, and keeps pairings, configuration and rules; installed again, the button is there')
def removed(box: Box) -> None:
    before = box.machine.do(CONFIGURATION)
    box.machine.do(f'{APT} remove tryck')
    if box.machine.run('pgrep tryckd || ls /usr/bin/tryck /usr/bin/tryckd 2>/dev/null').output:
        raise Failure('something of it is still there')
    equal(box.machine.do(CONFIGURATION), before, 'configuration and rules')
    mark = box.button.mark
    box.machine.do(f'{APT} install ./packages/tryck_2.deb')
    box.button.notes('session ready', since=mark)
    box.press_arrives()


@point('a purge leaves nothing of it but its user, and what the administrator put beside the unit')
def purged(box: Box) -> None:
    box.machine.do(f'{APT} purge tryck')
    left = box.machine.do(
        "find / -xdev ( -path /proc -o -path /sys -o -path /root -o -path /var/lib/prometheus -o -path /var/log ) -prune "
        "-o -iname '*tryck*' -print; ls -d /run/tryck* 2>/dev/null; true".replace('( ', '\\( ').replace(' )', ' \\)'))
    equal(set(left.splitlines()), {'/etc/systemd/system/tryck.service.d'}, 'files')
    box.machine.do('id tryck')
    equal(box.machine.do('systemctl list-units --all --plain --no-legend "tryck*"'), '', 'units')

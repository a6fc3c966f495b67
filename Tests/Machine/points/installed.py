"""apt installs it, and it runs."""
from box import Box
from points.point import point


@point('apt installs the package, and what it recommends')
def installed(box: Box) -> None:
    print(box.machine.do('systemctl --failed; systemd-analyze; ls -la packages; bluetoothctl list'))

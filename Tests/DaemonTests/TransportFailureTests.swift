import Glibc
import Testing

@testable import Daemon

@Suite struct TransportFailureTests {
    @Test(
        "an error of the system is told with what to do about it",
        arguments: [
            (
                EAFNOSUPPORT,
                "the kernel has no Bluetooth here: load it with `modprobe bluetooth`; a container needs the host's network"
            ),
            (ENODEV, "there is no adapter hci1: plug it in, and see `ls /sys/class/bluetooth` for those there are"),
            (
                EBUSY,
                "hci1 is in use by another program: stop BlueZ with `systemctl disable --now bluetooth.service`, or plug in an adapter for Tryck alone"
            ),
            (
                EUSERS,
                "hci1 is in use by another program: stop BlueZ with `systemctl disable --now bluetooth.service`, or plug in an adapter for Tryck alone"
            ),
            (
                EPERM,
                "opening hci1 is not permitted: start tryckd as a service, or once run `setcap cap_net_admin,cap_net_raw+ep /usr/bin/tryckd` with the path of your tryckd"
            ),
            (ERFKILL, "the radio of hci1 is switched off: run `rfkill unblock bluetooth`, or look for its switch"),
            (EIO, "bind of hci1 failed: Input/output error"),
        ])
    func sentences(errno: Int32, sentence: String) {
        #expect(TransportFailure(errno: errno, "bind", adapter: 1).description == sentence)
    }
}

import ButtonModel
import Glibc
import Hub
import Radios
import Testing

@testable import Edges

@Suite struct TransportFailureTests {
    private static let address = BluetoothAddress(rawValue: 0x001A_7DDA_7113)
    private static let other = HCISocketTransport.Adapter(
        index: 2, address: BluetoothAddress(rawValue: 0x0011_2233_4455))

    @Test(
        "a failure has a sentence with the remedy, and the resulting state of the adapter",
        arguments: [
            (
                TransportFailure(errno: EAFNOSUPPORT, "socket", adapter: 1), AdapterFault.unsupported,
                "the kernel has no Bluetooth here: load it with `sudo modprobe bluetooth`; a container needs the host's network"
            ),
            (
                TransportFailure(errno: ENODEV, "bind", adapter: 1), .absent,
                "there is no adapter hci1: plug it in, and see `ls /sys/class/bluetooth` for the available ones"
            ),
            (
                .noAdapters, .absent,
                "there is no Bluetooth adapter: plug one in, and see `lsusb` and `sudo dmesg` when it does not show up"
            ),
            (
                .noAdapterWithAddress(address, among: []), .absent,
                "there is no adapter 00:1A:7D:DA:71:13, and no other: plug it in"
            ),
            (
                .noAdapterWithAddress(address, among: [other]), .absent,
                "there is no adapter 00:1A:7D:DA:71:13: plug it in, or name an available one in tryck.yaml: hci2 (00:11:22:33:44:55)"
            ),
            (
                TransportFailure(errno: EBUSY, "bind", adapter: 1, isBlueZRunning: true), .absent,
                "hci1 is in use by BlueZ: run `sudo systemctl stop bluetooth.service` (to make this permanent, `sudo systemctl disable bluetooth.service`), or plug in an adapter for Tryck alone"
            ),
            (
                TransportFailure(errno: EBUSY, "bind", adapter: 1), .absent,
                "hci1 is in use by another program: end that, or plug in an adapter for Tryck alone"
            ),
            (
                TransportFailure(errno: EUSERS, "bind", adapter: 1), .absent,
                "hci1 is in use by another program: end that, or plug in an adapter for Tryck alone"
            ),
            (
                TransportFailure(errno: EPERM, "bind", adapter: 1), .unauthorized,
                "opening hci1 is not permitted: start tryckd as a service with `AmbientCapabilities=CAP_NET_ADMIN`, or once run `sudo setcap cap_net_admin+ep \"$(command -v tryckd)\"`"
            ),
            (
                TransportFailure(errno: ERFKILL, "bind", adapter: 1), .absent,
                "the radio of hci1 is switched off: run `sudo rfkill unblock bluetooth`, or look for its switch"
            ),
            (
                .adapterLost(index: 1), .absent,
                "hci1 disappeared: plug it in again, or see `sudo dmesg` for why it was reset"
            ),
            (
                .stalled("hci1"), .failed,
                "hci1 accepts no more data: reset the controller, or unplug it and plug it in again"
            ),
            (TransportFailure(errno: EIO, "bind", adapter: 1), .absent, "bind of hci1 failed: Input/output error"),
        ])
    func sentences(failure: TransportFailure, fault: AdapterFault, sentence: String) {
        #expect(failure.description == sentence)
        #expect(failure.fault == fault)
    }
}

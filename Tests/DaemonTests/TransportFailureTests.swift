import Glibc
import Reactor
import ReactorTestSupport
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
                EPERM,
                "opening hci1 is not permitted: start tryckd as a service, or once run `setcap cap_net_admin,cap_net_raw+ep /usr/bin/tryckd` with the path of your tryckd"
            ),
            (ERFKILL, "the radio of hci1 is switched off: run `rfkill unblock bluetooth`, or look for its switch"),
            (EIO, "bind of hci1 failed: Input/output error"),
        ])
    func sentences(errno: Int32, sentence: String) {
        #expect(TransportFailure(errno: errno, "bind", adapter: 1).description == sentence)
    }

    @Test("an adapter that cannot be there fails once, and not from inside the call")
    func absentAdapter() async {
        let events: [HCITransportEvent]? = await onReactor { run in
            let transport = HCISocketTransport(loop: run.loop, index: 0xFFFE)
            var events: [HCITransportEvent] = []
            transport.open { event in
                events.append(event)
                transport.send([0x01, 0x03, 0x0C, 0x00])
                run.after(milliseconds: 20) { run.finish(events) }
            }
            if !events.isEmpty { run.finish([]) }
        }
        // Which of them depends on the machine: a kernel without Bluetooth, a user without rights, or neither.
        let possible: [TransportFailure] = [
            .noBluetoothInKernel, .noAdapter(index: 0xFFFE), .notPermitted(index: 0xFFFE),
        ]
        #expect(events?.count == 1)
        #expect(possible.map { HCITransportEvent.failed($0) }.contains(events?.first))
    }

    @Test("nothing is heard of an adapter closed while it was being opened")
    func closedWhileOpening() async {
        let events: [HCITransportEvent]? = await onReactor { run in
            let transport = HCISocketTransport(loop: run.loop, index: 0xFFFE)
            var events: [HCITransportEvent] = []
            transport.open { events.append($0) }
            transport.close()
            run.after(milliseconds: 20) { run.finish(events) }
        }
        #expect(events == [])
    }
}

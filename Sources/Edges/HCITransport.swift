package import ButtonModel
import Glibc
import Platform
package import Radios
package import Reactor

/// A transport of HCI packets to and from a Bluetooth controller.
///
/// Packets include the H4 indicator: 0x01 command, 0x02 ACL data, 0x03 synchronous data, 0x04 event, 0x05 ISO data
/// (Bluetooth Core 5.4, Vol 4, Part A, 2).
@ReactorActor
package protocol HCITransport: AnyObject {
    /// Opens the transport. `handler` receives `opened` or `failed` once, and after `opened` the packets of the
    /// controller until `failed` or `close`. It may be called from inside `open` and `send`. The caller must keep a
    /// reference until then.
    func open(_ handler: @escaping @ReactorActor (HCITransportEvent) -> Void)
    /// Sends a packet, or drops it if the transport is not open.
    func send(_ packet: [UInt8])
    /// Closes the transport. Nothing is reported after this. The transport may be opened again.
    func close()
}

package enum HCITransportEvent: Hashable, Sendable {
    case opened
    case received([UInt8])
    /// The transport has failed and is closed.
    case failed(TransportFailure)
}

/// The reason why there is no controller. `description` says what the user can do.
package enum TransportFailure: Error, Hashable, Sendable {
    /// EAFNOSUPPORT or EPROTONOSUPPORT: the kernel has no Bluetooth sockets.
    case noBluetoothInKernel
    case noAdapters
    /// ENODEV: the adapter does not exist.
    case noAdapter(index: UInt16)
    case noAdapterWithAddress(BluetoothAddress, among: [HCISocketTransport.Adapter])
    /// EBUSY or EALREADY: another program has the adapter open. EUSERS: another program is opening it at this moment.
    case adapterInUse(index: UInt16, byBlueZ: Bool)
    /// EPERM or EACCES: the process lacks CAP_NET_ADMIN.
    case notPermitted(index: UInt16)
    /// ERFKILL: the radio is switched off (rfkill).
    case radioBlocked(index: UInt16)
    /// The adapter disappeared after it had been opened.
    case adapterLost(index: UInt16)
    /// The controller does not read: more octets than `OutgoingBuffer.maximumCount`, or too many packets, wait to be
    /// sent.
    case stalled(String)
    case unreachable(String, reason: String)
    case closedByPeer(String)
    /// The program of a `command` could not be started, or has ended: what happened, without a subject.
    case program(String, reason: String)
    case malformedStream(String, H4Malformed)
    /// Any other system error, with the operation that failed.
    case system(operation: String, subject: String, reason: String)
}

extension TransportFailure {
    /// Maps the `errno` of a call on a Bluetooth socket.
    init(errno: Int32, _ operation: String, adapter index: UInt16, isBlueZRunning: Bool = false) {
        switch errno {
        case EAFNOSUPPORT, EPROTONOSUPPORT: self = .noBluetoothInKernel
        case ENODEV: self = .noAdapter(index: index)
        case EBUSY, EALREADY, EUSERS: self = .adapterInUse(index: index, byBlueZ: isBlueZRunning)
        case EPERM, EACCES: self = .notPermitted(index: index)
        case ERFKILL: self = .radioBlocked(index: index)
        default: self = .system(operation: operation, subject: "hci\(index)", reason: systemMessage(errno))
        }
    }
}

extension TransportFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noBluetoothInKernel:
            """
            the kernel has no Bluetooth here: load it with `sudo modprobe bluetooth`; a container needs the host's network
            """
        case .noAdapters:
            "there is no Bluetooth adapter: plug one in, and see `lsusb` and `sudo dmesg` when it does not show up"
        case .noAdapter(let index):
            "there is no adapter hci\(index): plug it in, and see `ls /sys/class/bluetooth` for the available ones"
        case .noAdapterWithAddress(let address, let adapters):
            adapters.isEmpty
                ? "there is no adapter \(address), and no other: plug it in"
                : """
                there is no adapter \(address): plug it in, or name an available one in tryck.yaml: \
                \(adapters.map { "hci\($0.index) (\($0.address))" }.joined(separator: ", "))
                """
        case .adapterInUse(let index, byBlueZ: true):
            """
            hci\(index) is in use by BlueZ: run `sudo systemctl stop bluetooth.service` (to make this permanent, `sudo systemctl \
            disable bluetooth.service`), or plug in an adapter for Tryck alone
            """
        case .adapterInUse(let index, byBlueZ: false):
            "hci\(index) is in use by another program: end that, or plug in an adapter for Tryck alone"
        case .notPermitted(let index):
            """
            opening hci\(index) is not permitted: start tryckd as a service with \
            `AmbientCapabilities=CAP_NET_ADMIN`, or once run \
            `sudo setcap cap_net_admin+ep "$(command -v tryckd)"`
            """
        case .radioBlocked(let index):
            "the radio of hci\(index) is switched off: run `sudo rfkill unblock bluetooth`, or look for its switch"
        case .adapterLost(let index):
            "hci\(index) disappeared: plug it in again, or see `sudo dmesg` for why it was reset"
        case .stalled(let subject):
            "\(subject) accepts no more data: reset the controller, or unplug it and plug it in again"
        case .unreachable(let subject, let reason):
            "\(subject) cannot be reached: \(reason); start the controller there, or correct tryck.yaml"
        case .program(let name, let reason): "the command of the radio (\(name)) \(reason)"
        case .closedByPeer(let subject):
            "\(subject) closed the connection: see why the controller there ended"
        case .malformedStream(let subject, let malformed):
            "\(subject) does not speak HCI in H4 framing: \(malformed)"
        case .system(let operation, let subject, let reason):
            "\(operation) of \(subject) failed: \(reason)"
        }
    }
}

extension TransportFailure {
    /// The `AdapterFault` for this failure.
    package var fault: AdapterFault {
        switch self {
        case .noBluetoothInKernel: .unsupported
        case .notPermitted: .unauthorized
        case .stalled, .malformedStream: .failed
        case .noAdapters, .noAdapter, .noAdapterWithAddress, .adapterInUse, .radioBlocked, .adapterLost, .unreachable,
            .closedByPeer, .program, .system:
            .absent
        }
    }
}

package import ButtonModel
import CBluetooth
import CLinux
import Glibc
import Platform
package import Reactor

/// A Bluetooth controller of this machine, through the kernel's HCI user channel: while it is open, the kernel's
/// Bluetooth host does not use the controller, and every HCI packet goes to this process.
///
/// The kernel opens the user channel only of an adapter that is down, so the adapter is taken down first if that is
/// permitted. Opening powers the controller up and may load its firmware, which can take seconds, so a helper thread
/// does it.
@ReactorActor
package final class HCISocketTransport: HCITransport {
    /// The attempts to open an adapter that is in use, and the nanoseconds between them. The kernel itself uses an
    /// adapter for a short time after it was plugged in or closed.
    private static let attempts = 5
    private static let attemptInterval: Int64 = 300_000_000
    /// The maximum number of packets that wait. The kernel normally accepts packets at once, and has its own queue.
    nonisolated static let maximumQueued = 256

    private let loop: EventLoop
    /// The N of hciN.
    package let index: UInt16
    private var handler: (@ReactorActor (HCITransportEvent) -> Void)?
    /// Packets are at most 1,029 octets long: Linux refuses longer ones from a controller (`HCI_MAX_FRAME_SIZE`).
    nonisolated static let maximumPacketLength = 4096
    /// Reused for each packet.
    private var buffer = [UInt8](repeating: 0, count: maximumPacketLength)
    /// Changes with every `open` and `close`, so that results of earlier attempts are ignored.
    private var generation: UInt64 = 0
    private var retry: Timer?
    private var descriptor: Int32 = -1
    private var watch: Watch?
    private var queue: [[UInt8]] = []
    /// True if a packet was dropped and its failure will be reported. No packet may follow it.
    private var isFailing = false

    package init(loop: EventLoop, index: UInt16) {
        self.loop = loop
        self.index = index
    }

    package func open(_ handler: @escaping @ReactorActor (HCITransportEvent) -> Void) {
        close()
        self.handler = handler
        tryOpening(attemptsLeft: Self.attempts)
    }

    package func send(_ packet: [UInt8]) {
        guard watch != nil, !isFailing else { return }
        if queue.isEmpty, write(packet) { return }
        guard queue.count < Self.maximumQueued else { return failSoon(.stalled("hci\(index)")) }
        queue.append(packet)
        watch?.set([.read, .write])
    }

    package func close() {
        generation += 1
        handler = nil
        queue = []
        isFailing = false
        retry?.cancel()
        retry = nil
        watch?.cancel()
        watch = nil
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    // MARK: Opening

    private func tryOpening(attemptsLeft: Int) {
        let index = index
        let generation = generation
        loop.offload {
            Self.openUserChannel(index)
        } then: { [weak self] outcome in
            guard let self, generation == self.generation else {
                if case .success(let descriptor) = outcome { Glibc.close(descriptor) }
                return
            }
            switch outcome {
            case .success(let descriptor):
                opened(descriptor)
            case .failure(.adapterInUse) where attemptsLeft > 1:
                retry = loop.timer { [unowned self] in tryOpening(attemptsLeft: attemptsLeft - 1) }
                retry?.set(at: loop.nanosecondsSinceBoot + Self.attemptInterval)
            case .failure(let failure):
                fail(failure)
            }
        }
    }

    private nonisolated static func openUserChannel(_ index: UInt16) -> Result<Int32, TransportFailure> {
        let descriptor = openSocket()
        guard descriptor >= 0 else { return .failure(TransportFailure(errno: errno, "socket", adapter: index)) }
        // The result is ignored: without permission or without an adapter, `bind` fails as well, and that error is reported.
        linux_hci_down(descriptor, index)
        var address = sockaddr_hci()
        address.hci_family = sa_family_t(AF_BLUETOOTH)
        address.hci_dev = index
        address.hci_channel = UInt16(HCI_CHANNEL_USER)
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_hci>.size))
            }
        }
        guard result == 0 else {
            let reason = errno
            Glibc.close(descriptor)
            return .failure(
                TransportFailure(
                    errno: reason, "bind", adapter: index, isBlueZRunning: SystemEnvironment.isRunning("bluetoothd")))
        }
        return .success(descriptor)
    }

    private nonisolated static func openSocket() -> Int32 {
        socket(
            AF_BLUETOOTH, Int32(SOCK_RAW.rawValue) | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), BTPROTO_HCI)
    }

    // MARK: Open

    /// Uses a descriptor of which each read returns one packet.
    package func open(with descriptor: Int32, _ handler: @escaping @ReactorActor (HCITransportEvent) -> Void) {
        close()
        self.handler = handler
        opened(descriptor)
    }

    private func opened(_ descriptor: Int32) {
        self.descriptor = descriptor
        watch = loop.watch(descriptor, .read, isPriority: true) { [unowned self] interest in ready(interest) }
        handler?(.opened)
    }

    /// Receives one packet, because each call returns one. The loop calls again while there are more.
    ///
    /// A longer packet than `maximumPacketLength` would arrive without its end, so it is a failure.
    private func receive() {
        guard watch != nil else { return }
        // With MSG_TRUNC the result is the length of the packet, also if the packet is longer than the buffer.
        let result = recv(descriptor, &buffer, buffer.count, Int32(MSG_TRUNC))
        if result > buffer.count {
            fail(.adapterLost(index: index))
        } else if result > 0 {
            handler?(.received(Array(buffer.prefix(result))))
        } else if result == 0 || (errno != EAGAIN && errno != EINTR) {
            fail(.adapterLost(index: index))
        }
    }

    /// The handler may release the transport during this call, which keeps the transport alive until it returns.
    private func ready(_ interest: IOEvents) {
        if interest.contains(.write) { flush() }
        if interest.contains(.read) || interest.hasHangup { receive() }
    }

    private func flush() {
        while let packet = queue.first, write(packet) { queue.removeFirst() }
        if queue.isEmpty { watch?.set(.read) }
    }

    /// - Returns: false if the packet has to wait. A packet that fails is lost with the adapter.
    private func write(_ packet: [UInt8]) -> Bool {
        while Glibc.write(descriptor, packet, packet.count) < 0 {
            switch errno {
            case EINTR: continue
            case EAGAIN: return false
            default:
                failSoon(.adapterLost(index: index))
                return true
            }
        }
        return true
    }

    private func failSoon(_ failure: TransportFailure) {
        isFailing = true
        let generation = generation
        loop.onNextTurn { [weak self] in
            guard let self, generation == self.generation else { return }
            fail(failure)
        }
    }

    private func fail(_ failure: TransportFailure) {
        let handler = handler
        close()
        handler?(.failed(failure))
    }
}

extension HCISocketTransport {
    /// A controller that the kernel knows.
    package struct Adapter: Hashable, Sendable {
        package var index: UInt16
        /// All zero until the kernel knows the address.
        package var address: BluetoothAddress
    }

    /// The controllers of this machine, lowest index first. No privilege is needed.
    package nonisolated static func adapters() throws(TransportFailure) -> [Adapter] {
        let descriptor = openSocket()
        guard descriptor >= 0 else { throw TransportFailure(errno: errno, "socket", adapter: 0) }
        defer { Glibc.close(descriptor) }
        var indexes = [UInt16](repeating: 0, count: 16)
        let count = linux_hci_list(descriptor, &indexes, Int32(indexes.count))
        guard count >= 0 else { throw TransportFailure(errno: errno, "listing", adapter: 0) }
        return indexes.prefix(Int(count)).sorted().map { index in
            var address = [UInt8](repeating: 0, count: 6)
            linux_hci_address(descriptor, index, &address)
            return Adapter(
                index: index, address: BluetoothAddress(rawValue: address.reversed().reduce(0) { $0 << 8 | UInt64($1) })
            )
        }
    }
}

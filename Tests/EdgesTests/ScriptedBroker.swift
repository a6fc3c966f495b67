import CLinux
import Glibc
import Reactor

/// A peer that speaks MQTT as a test tells it to: one connection at a time, on the test's own loop.
@ReactorActor
final class ScriptedBroker {
    static let connack: [UInt8] = [0x20, 0x03, 0x00, 0x00, 0x00]
    /// Server Keep Alive: one second. Source: MQTT 5.0, 3.2.2.3.14.
    static let hurriedConnack: [UInt8] = [0x20, 0x06, 0x00, 0x00, 0x03, 0x13, 0x00, 0x01]

    let port: UInt16
    private(set) var connections = 0
    /// The packets of the newest connection.
    private(set) var packets: [[UInt8]] = []
    private let listener: Int32
    private let script: @ReactorActor (ScriptedBroker, [UInt8]) -> Void
    private var accepting: Watch?
    private var connection: (descriptor: Int32, watch: Watch)?
    private var incoming: [UInt8] = []
    private var outgoing: ArraySlice<UInt8> = []
    private var isReading = true
    private var isFinishing = false
    /// Octets that were taken from us, on all connections.
    private(set) var sent = 0

    /// - Parameters:
    ///   - receiveBuffer: of the socket, in octets; the system's own where it is `nil`.
    ///   - script: receives each packet.
    init(receiveBuffer: Int32? = nil, _ script: @escaping @ReactorActor (ScriptedBroker, [UInt8]) -> Void) {
        self.script = script
        (listener, port) = listenOnLoopback()
        if var size = receiveBuffer { setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &size, 4) }
        accepting = EventLoop.shared.watch(listener, .read) { [unowned self] _ in accept() }
    }

    func send(_ octets: [UInt8]) {
        outgoing += octets
        flush()
    }

    func stopReading() {
        isReading = false
        connection?.watch.set(interest)
    }

    /// Sends nothing more once everything is sent.
    func finish() {
        isFinishing = true
        flush()
    }

    func hangUp() {
        guard let connection else { return }
        connection.watch.cancel()
        Glibc.close(connection.descriptor)
        self.connection = nil
        outgoing = []
    }

    func close() {
        hangUp()
        accepting?.cancel()
        Glibc.close(listener)
    }

    private var interest: IOEvents {
        var interest: IOEvents = isReading ? .read : []
        if !outgoing.isEmpty { interest.insert(.write) }
        return interest
    }

    private func accept() {
        let descriptor = linux_accept(listener)
        guard descriptor >= 0 else { return }
        hangUp()
        connections += 1
        (incoming, packets, isReading, isFinishing) = ([], [], true, false)
        let watch = EventLoop.shared.watch(descriptor, .read) { [unowned self] interest in
            if interest.contains(.write) { flush() }
            if interest.contains(.read) { receive() } else if interest.hasHangup { hangUp() }
        }
        connection = (descriptor, watch)
    }

    private func receive() {
        guard let descriptor = connection?.descriptor else { return }
        var chunk = [UInt8](repeating: 0, count: 65536)
        let count = read(descriptor, &chunk, chunk.count)
        guard count > 0 else { return hangUp() }
        incoming += chunk.prefix(count)
        while let packet = nextPacket() {
            packets.append(packet)
            script(self, packet)
        }
    }

    /// Takes one whole packet. Source: MQTT 5.0, 2.1.4.
    private func nextPacket() -> [UInt8]? {
        var length = 0
        for place in 1...4 where incoming.count > place {
            length |= Int(incoming[place] & 0x7F) << (7 * (place - 1))
            guard incoming[place] & 0x80 == 0 else { continue }
            guard incoming.count > place + length else { return nil }
            defer { incoming.removeFirst(place + 1 + length) }
            return Array(incoming.prefix(place + 1 + length))
        }
        return nil
    }

    private func flush() {
        while let descriptor = connection?.descriptor, !outgoing.isEmpty {
            let count = outgoing.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { break }
            sent += count
            outgoing = outgoing.dropFirst(count)
        }
        if isFinishing, outgoing.isEmpty, let descriptor = connection?.descriptor {
            shutdown(descriptor, Int32(SHUT_WR))
        }
        connection?.watch.set(interest)
    }
}

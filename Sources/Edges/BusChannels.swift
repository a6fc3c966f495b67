import Glibc
import Reactor

/// The two descriptors of a link through BlueZ: each read is one notification, and each write is one write command.
@ReactorActor
final class BusChannels {
    enum Report {
        case received([UInt8])
        /// A descriptor has ended, or does not take what is written.
        case ended
    }

    /// The values that wait while bluetoothd does not read.
    private static let maximumQueued = 4
    /// The longest value of an attribute.
    private static let maximumValue = 512

    private let loop: EventLoop
    private let report: @ReactorActor (Report) -> Void
    private var notify: (descriptor: Int32, watch: Watch)?
    private var write: (descriptor: Int32, watch: Watch)?
    private var queue: [[UInt8]] = []
    private var buffer = [UInt8](repeating: 0, count: maximumValue)

    init(loop: EventLoop, _ report: @escaping @ReactorActor (Report) -> Void) {
        self.loop = loop
        self.report = report
    }

    func notifies(on descriptor: Int32) {
        setNonBlocking(descriptor)
        notify?.watch.cancel()
        if let notify { Glibc.close(notify.descriptor) }
        notify = (descriptor, loop.watch(descriptor, .read, isPriority: true) { [unowned self] _ in receive() })
    }

    func writes(to descriptor: Int32) {
        setNonBlocking(descriptor)
        write?.watch.cancel()
        if let write { Glibc.close(write.descriptor) }
        // The watch reports the end of the descriptor, and room when that is requested.
        write = (descriptor, loop.watch(descriptor, .read) { [unowned self] events in writable(events) })
    }

    func write(_ value: [UInt8]) {
        guard write != nil else { return }
        if queue.isEmpty, send(value) { return }
        guard queue.count < Self.maximumQueued else { return endSoon() }
        queue.append(value)
        write?.watch.set([.read, .write])
    }

    func close() {
        for end in [notify, write] {
            guard let end else { continue }
            end.watch.cancel()
            Glibc.close(end.descriptor)
        }
        notify = nil
        write = nil
        queue = []
    }

    private func setNonBlocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    /// Receives one value. The loop calls again while there are more.
    private func receive() {
        guard let notify else { return }
        let count = read(notify.descriptor, &buffer, buffer.count)
        if count > 0 {
            report(.received(Array(buffer.prefix(count))))
        } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
            report(.ended)
        }
    }

    private func writable(_ events: IOEvents) {
        while let value = queue.first, send(value) { queue.removeFirst() }
        if queue.isEmpty { write?.watch.set(.read) }
        if events.hasHangup { report(.ended) }
    }

    /// - Returns: false if the value has to wait.
    private func send(_ value: [UInt8]) -> Bool {
        guard let write else { return true }
        while Glibc.send(write.descriptor, value, value.count, Int32(MSG_NOSIGNAL)) < 0 {
            switch errno {
            case EINTR: continue
            case EAGAIN: return false
            default:
                endSoon()
                return true
            }
        }
        return true
    }

    private func endSoon() {
        loop.onNextTurn { [weak self] in
            guard let self, write != nil else { return }
            report(.ended)
        }
    }
}

import ButtonModel
import Bytes

/// Frames on their way to the controller, cut to its packet length and held back while its buffers are full.
///
/// The buffers are one pool for all links. Links take turns, one packet each, so a link whose peer is slow does
/// not keep the others waiting for longer than its own packets fill the pool; and it may not fill all of it: a
/// buffer is left for each of the others, as long as that leaves it half of them.
///
/// A packet is either completed or gone with its link, at the latest when the supervision timeout has passed. Where
/// nothing of a link was completed for that long and `margin` more, and the link is still there, its packets have
/// arrived and that was not told: their buffers are taken back. If the next ones fare no better, the link is of no
/// use. The deadline is looked at when it has come and not moved with every packet, so that a press costs no timer.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 4.1.1.
struct ACLFlow: Sendable {
    fileprivate struct LinkQueue: Sendable {
        /// Whole frames not yet begun.
        var waiting: [[UInt8]] = []
        /// What is left of the frame begun.
        var current: ByteReader?
        /// Packets at the controller, not yet completed.
        var inFlight = 0
        /// When the last of them was completed, or the first was sent.
        var movedAt = Instant(nanoseconds: 0)
        var patience = ACLFlow.longestSupervisionTimeout + ACLFlow.margin
        /// Buffers were taken back, and nothing was completed since.
        var hasForgotten = false

        var isEmpty: Bool { waiting.isEmpty && current == nil }
    }

    enum Fault: Hashable, Sendable {
        case forgotten(ConnectionHandle, packets: Int)
        case stuck(ConnectionHandle)
    }

    static let reservedFrames = 32
    static let margin: Duration = .seconds(4)
    /// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.12.
    static let longestSupervisionTimeout: Duration = .seconds(32)

    /// When to call `timerFired`.
    private(set) var deadline: Instant?
    private let packetLength: Int
    private let bufferCount: Int
    private var freeBuffers: Int
    private var queues: [ConnectionHandle: LinkQueue] = [:]
    /// Links with something to send, the next one first.
    private var turns: [ConnectionHandle] = []

    init(packetLength: Int, bufferCount: Int) {
        self.packetLength = max(1, packetLength)
        self.bufferCount = bufferCount
        freeBuffers = bufferCount
    }

    /// What one link may have at the controller.
    private var share: Int { max(1, bufferCount - min(queues.count - 1, bufferCount / 2)) }

    /// Whether a frame given now would begin to be sent now.
    func isIdle(_ handle: ConnectionHandle) -> Bool {
        guard freeBuffers > 0 else { return false }
        guard let queue = queues[handle] else { return true }
        return queue.isEmpty && queue.inFlight < share
    }

    /// - Parameter supervisionTimeout: units of 10 ms.
    mutating func setSupervisionTimeout(_ supervisionTimeout: UInt16, of handle: ConnectionHandle) {
        queues[handle, default: LinkQueue()].patience = .milliseconds(10 * Int64(supervisionTimeout)) + Self.margin
    }

    /// What a link's end may take once it was asked for.
    func patience(with handle: ConnectionHandle) -> Duration {
        queues[handle]?.patience ?? Self.longestSupervisionTimeout + Self.margin
    }

    /// Links with packets at the controller, lowest handle first.
    var busyLinks: [ConnectionHandle] {
        queues.filter { $0.value.inFlight > 0 }.keys.sorted { $0.rawValue < $1.rawValue }
    }

    mutating func timerFired(at now: Instant) -> [Fault] {
        guard let deadline, now >= deadline else { return [] }
        self.deadline = nil
        var faults: [Fault] = []
        for handle in busyLinks {
            guard var queue = queues[handle] else { continue }
            if now >= queue.movedAt + queue.patience {
                faults.append(queue.hasForgotten ? .stuck(handle) : .forgotten(handle, packets: queue.inFlight))
                queue.hasForgotten = true
                queue.movedAt = now
                freeBuffers += queue.inFlight
                queue.inFlight = 0
                queues[handle] = queue
            } else {
                watch(queue)
            }
        }
        return faults
    }

    private mutating func watch(_ queue: LinkQueue) {
        let end = queue.movedAt + queue.patience
        deadline = min(deadline ?? end, end)
    }

    /// - Parameter isReserved: for answers, confirmations and credits, without which a link stands still: they have
    ///   room beyond what others may fill.
    /// - Returns: whether there was room: a link keeps at most `Host.maximumQueuedFrames` frames waiting, and
    ///   `reservedFrames` more.
    mutating func enqueue(_ frame: [UInt8], for handle: ConnectionHandle, isReserved: Bool) -> Bool {
        var queue = queues.removeValue(forKey: handle) ?? LinkQueue()
        defer { queues[handle] = queue }
        let limit = Host.maximumQueuedFrames + (isReserved ? Self.reservedFrames : 0)
        guard queue.waiting.count < limit else { return false }
        if queue.isEmpty { turns.append(handle) }
        queue.waiting.append(frame)
        return true
    }

    /// The packets that can go now, in order.
    mutating func takePackets(at now: Instant) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        // Those that have their share of the buffers, and keep their place.
        var waiting: [ConnectionHandle] = []
        defer { turns = waiting + turns }
        while freeBuffers > 0, let handle = turns.first {
            turns.removeFirst()
            if let queue = queues[handle], queue.inFlight >= share {
                waiting.append(handle)
                continue
            }
            guard var queue = queues.removeValue(forKey: handle) else { continue }
            defer { queues[handle] = queue }
            guard let packet = queue.nextPacket(of: handle, length: packetLength) else { continue }
            if queue.inFlight == 1 { queue.movedAt = now }
            watch(queue)
            freeBuffers -= 1
            packets.append(packet)
            if !queue.isEmpty { turns.append(handle) }
        }
        return packets
    }

    /// - Returns: whether as many packets were under way; more are not counted.
    mutating func complete(_ completed: CompletedPackets, at now: Instant) -> Bool {
        guard let inFlight = queues[completed.handle]?.inFlight else { return completed.count == 0 }
        let count = min(inFlight, Int(completed.count))
        queues[completed.handle]?.inFlight = inFlight - count
        queues[completed.handle]?.movedAt = now
        queues[completed.handle]?.hasForgotten = false
        freeBuffers += count
        return count == Int(completed.count)
    }

    /// The link is gone: the controller forgets its packets without completing them.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 4, Part E, 4.3.
    mutating func remove(_ handle: ConnectionHandle) {
        guard let queue = queues.removeValue(forKey: handle) else { return }
        freeBuffers += queue.inFlight
        turns.removeAll { $0 == handle }
    }
}

extension ACLFlow.LinkQueue {
    fileprivate mutating func nextPacket(of handle: ConnectionHandle, length: Int) -> [UInt8]? {
        let boundary: ACLDataPacket.Boundary
        var frame: ByteReader
        if let current {
            boundary = .continuing
            frame = current
        } else if !waiting.isEmpty {
            boundary = .firstFromHost
            frame = ByteReader(waiting.removeFirst())
        } else {
            return nil
        }
        let data = (try? frame.bytes(min(length, frame.remainingCount))) ?? []
        current = frame.isAtEnd ? nil : frame
        inFlight += 1
        return ACLDataPacket(handle: handle, boundary: boundary, data: data).packet
    }
}

import ButtonModel
import Bytes

/// Fragments L2CAP frames to the controller's packet length, and holds them back while the controller's buffers are
/// full.
///
/// All links share the controller's buffers. The links take turns, with one packet each. A link may not occupy all
/// buffers: one is reserved for each other link, but no more than half of them. A slow peer therefore does not block
/// other links.
///
/// The controller completes a packet, or discards it with its link when the supervision timeout expires. If none of a
/// link's packets is completed within that time and `margin`, and the link still exists, the completion events were
/// lost: the buffers of the packets that are older than that are considered free. Younger packets keep theirs, because the
/// controller may still have them. If packets that were sent after that are not completed either, without a completion
/// between, the link is `stuck`. A completed packet does not move `deadline`; `timerFired` computes it again, so that a press
/// does not set a timer.
///
/// A completion does not name its packet and counts for the oldest one. After a lost completion, the times of the packets are
/// therefore later than the true ones, and no buffer is considered free too early.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 4.1.1.
struct ACLFlow: Sendable {
    fileprivate struct LinkQueue: Sendable {
        /// Complete frames that have not been started.
        var waiting: [[UInt8]] = []
        /// The rest of the frame that has been started.
        var current: ByteReader?
        /// When each packet at the controller was sent that is not completed, oldest first.
        var sentAt: [Instant] = []
        /// When a packet was last completed.
        var completedAt = Instant(nanoseconds: 0)
        /// How long packets may remain without a completion.
        var completionTimeout = ACLFlow.longestSupervisionTimeout + ACLFlow.margin
        /// When buffers were first considered free after a time-out; `nil` if a packet was completed since.
        var lostAt: Instant?

        var isEmpty: Bool { waiting.isEmpty && current == nil }
        /// The number of packets at the controller that are not completed.
        var inFlight: Int { sentAt.count }
        /// When the oldest packet is too old; `nil` if there is none.
        var end: Instant? { sentAt.first.map { max($0, completedAt) + completionTimeout } }
    }

    enum Fault: Hashable, Sendable {
        /// No packet was completed in time; the link's buffers are considered free.
        case completionsLost(ConnectionHandle, packets: Int)
        /// No packet was completed in time for the second time in a row.
        case stuck(ConnectionHandle)
    }

    /// The number of frames beyond `LEHost.maximumQueuedFrames` that may wait if they are reserved.
    static let reservedFrames = 32
    /// Time allowed beyond the supervision timeout.
    static let margin: Duration = .seconds(4)
    /// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.12.
    static let longestSupervisionTimeout: Duration = .seconds(32)

    /// When to call `timerFired`.
    private(set) var deadline: Instant?
    private let packetLength: Int
    private let bufferCount: Int
    private var freeBuffers: Int
    private var queues: [ConnectionHandle: LinkQueue] = [:]
    /// Links with frames to send; the first is the next.
    private var turns: [ConnectionHandle] = []

    init(packetLength: Int, bufferCount: Int) {
        self.packetLength = max(1, packetLength)
        self.bufferCount = bufferCount
        freeBuffers = bufferCount
    }

    /// The maximum number of packets that a link may have at the controller.
    private var share: Int { max(1, bufferCount - min(queues.count - 1, bufferCount / 2)) }

    /// True if a frame enqueued now would be started at once.
    func isIdle(_ handle: ConnectionHandle) -> Bool {
        guard freeBuffers > 0 else { return false }
        guard let queue = queues[handle] else { return true }
        return queue.isEmpty && queue.inFlight < share
    }

    /// True if frames of the link wait until the controller completes packets.
    func holdsBack(_ handle: ConnectionHandle) -> Bool { queues[handle].map { !$0.isEmpty } ?? false }

    /// - Parameter supervisionTimeout: in units of 10 ms.
    mutating func setSupervisionTimeout(_ supervisionTimeout: UInt16, of handle: ConnectionHandle) {
        queues[handle, default: LinkQueue()].completionTimeout =
            .milliseconds(10 * Int64(supervisionTimeout)) + Self.margin
    }

    /// How long a disconnection may take after it was requested.
    func disconnectTimeout(of handle: ConnectionHandle) -> Duration {
        queues[handle]?.completionTimeout ?? Self.longestSupervisionTimeout + Self.margin
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
            if let fault = queues[handle]?.lose(at: now) {
                faults.append(fault.isAgain ? .stuck(handle) : .completionsLost(handle, packets: fault.packets))
                freeBuffers += fault.packets
            }
            if let queue = queues[handle] { watch(queue) }
        }
        return faults
    }

    private mutating func watch(_ queue: LinkQueue) {
        guard let end = queue.end else { return }
        deadline = min(deadline ?? end, end)
    }

    /// Queues a frame. At most `LEHost.maximumQueuedFrames` frames of a link wait, and `reservedFrames` more that are
    /// reserved.
    ///
    /// - Parameter isReserved: true for responses, confirmations and credits, for which the peer waits.
    /// - Returns: false if there is no room; the frame is then dropped.
    mutating func enqueue(_ frame: [UInt8], for handle: ConnectionHandle, isReserved: Bool) -> Bool {
        var queue = queues.removeValue(forKey: handle) ?? LinkQueue()
        defer { queues[handle] = queue }
        let limit = LEHost.maximumQueuedFrames + (isReserved ? Self.reservedFrames : 0)
        guard queue.waiting.count < limit else { return false }
        if queue.isEmpty { turns.append(handle) }
        queue.waiting.append(frame)
        return true
    }

    /// The packets that can be sent now, in order.
    mutating func takePackets(at now: Instant) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        // Links that have used up their share of the buffers; they keep their turn.
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
            guard let packet = queue.nextPacket(of: handle, length: packetLength, at: now) else { continue }
            watch(queue)
            freeBuffers -= 1
            packets.append(packet)
            if !queue.isEmpty { turns.append(handle) }
        }
        return packets
    }

    /// Handles Number Of Completed Packets for a link.
    ///
    /// - Returns: false if more packets were reported than were sent; the excess is ignored.
    mutating func complete(_ completed: CompletedPackets, at now: Instant) -> Bool {
        guard let inFlight = queues[completed.handle]?.inFlight else { return completed.count == 0 }
        let count = min(inFlight, Int(completed.count))
        queues[completed.handle]?.sentAt.removeFirst(count)
        queues[completed.handle]?.completedAt = now
        queues[completed.handle]?.lostAt = nil
        freeBuffers += count
        return count == Int(completed.count)
    }

    /// Handles the end of a link, with which the controller discards the link's packets.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 4, Part E, 4.3.
    mutating func remove(_ handle: ConnectionHandle) {
        guard let queue = queues.removeValue(forKey: handle) else { return }
        freeBuffers += queue.inFlight
        turns.removeAll { $0 == handle }
    }
}

extension ACLFlow.LinkQueue {
    /// Forgets the packets whose completions were lost.
    ///
    /// - Returns: the number of these packets, and whether the link had lost packets before they were sent; `nil` without such
    ///   packets.
    fileprivate mutating func lose(at now: Instant) -> (packets: Int, isAgain: Bool)? {
        guard let end, now >= end else { return nil }
        let lost = sentAt.prefix { now >= $0 + completionTimeout }
        let isAgain = if let lostAt, let latest = lost.last { latest >= lostAt } else { false }
        lostAt = lostAt ?? now
        sentAt.removeFirst(lost.count)
        return (lost.count, isAgain)
    }

    fileprivate mutating func nextPacket(of handle: ConnectionHandle, length: Int, at now: Instant) -> [UInt8]? {
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
        sentAt.append(now)
        return ACLDataPacket(handle: handle, boundary: boundary, data: data).packet
    }
}

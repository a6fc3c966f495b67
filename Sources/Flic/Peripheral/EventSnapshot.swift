import ButtonModel

/// The event counters and stored events of a simulated button, for inspection from outside.
public struct EventSnapshot: Hashable, Sendable {
    public var bootID: UInt32
    /// The counter of the last event.
    public var eventCount: UInt32
    /// The counters of the stored events, oldest first; at most `EventQueue.maximumCount`.
    public var stored: [UInt32]
    /// The counter up to which a host has received the events since the boot, as said in an acknowledgement or an init
    /// request; 0: none.
    public var acknowledged: UInt32
    /// The same for a Duo's small button.
    public var smallEventCount: UInt32 = 0
    public var smallStored: [UInt32] = []
    public var smallAcknowledged: UInt32 = 0
}

extension EventQueue {
    fileprivate func counters(of part: ButtonPart) -> [UInt32] { entries.filter { $0.part == part }.map(\.counter) }
}

extension FlicPeripheral {
    public var eventSnapshot: EventSnapshot {
        EventSnapshot(
            bootID: bootID, eventCount: press.counter, stored: queue.counters(of: .big),
            acknowledged: queue.acknowledged, smallEventCount: smallPress.counter,
            smallStored: queue.counters(of: .small), smallAcknowledged: queue.acknowledgedSmall)
    }
}

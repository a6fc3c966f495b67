import ButtonModel

/// What a button knows of its events, for those who want to see from outside what a host has done with them.
public struct EventMemory: Hashable, Sendable {
    public var bootID: UInt32
    /// Of the last event there was.
    public var eventCount: UInt32
    /// The counters of those it keeps, the oldest first; the oldest are lost when there is no more room.
    public var stored: [UInt32]
    /// Up to where a host has let the button forget them since the boot, with an acknowledgement or an init request;
    /// 0: none.
    public var acknowledged: UInt32
    /// The same of a Duo's small button.
    public var smallEventCount: UInt32 = 0
    public var smallStored: [UInt32] = []
    public var smallAcknowledged: UInt32 = 0
}

extension EventQueue {
    fileprivate func counters(of part: ButtonPart) -> [UInt32] { entries.filter { $0.part == part }.map(\.counter) }
}

extension FlicPeripheral {
    public var eventMemory: EventMemory {
        EventMemory(
            bootID: bootID, eventCount: press.counter, stored: queue.counters(of: .big),
            acknowledged: queue.acknowledged, smallEventCount: smallPress.counter,
            smallStored: queue.counters(of: .small), smallAcknowledged: queue.acknowledgedSmall)
    }
}

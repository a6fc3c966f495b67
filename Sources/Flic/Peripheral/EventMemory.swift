/// What a button knows of its events, for those who want to see from outside what a host has done with them.
public struct EventMemory: Hashable, Sendable {
    public var bootID: UInt32
    /// Of the last event there was.
    public var eventCount: UInt32
    /// The counters of those it keeps, the oldest first; the oldest are lost when there is no more room.
    public var stored: [UInt32]
    /// Up to where a host has acknowledged them since the boot; 0: none.
    public var acknowledged: UInt32
}

extension FlicPeripheral {
    public var eventMemory: EventMemory {
        EventMemory(
            bootID: bootID, eventCount: press.counter, stored: queue.entries.map(\.counter),
            acknowledged: queue.acknowledged)
    }
}

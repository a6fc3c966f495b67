public import BluetoothHost
public import ButtonModel

/// A host with somebody who uses it: driven as the host is, its events taken care of inside.
public protocol Application {
    var desk: HostDesk { get set }
    mutating func happened(_ event: Host.Event, at now: Instant)
}

extension Application {
    /// As `Host.handle`; what comes back has no events in it.
    public mutating func handle(_ input: Host.Input, at now: Instant) -> [Host.Effect] {
        tell(input, at: now)
        while let event = desk.nextEvent() { happened(event, at: now) }
        return desk.takeEffects()
    }

    /// - Returns: what came of it, which `happened` is told as well.
    @discardableResult
    mutating func tell(_ input: Host.Input, at now: Instant) -> [Host.Event] { desk.tell(input, at: now) }

    @discardableResult
    mutating func perform(_ command: Host.Command, at now: Instant) -> [Host.Event] { tell(.perform(command), at: now) }
}

/// Keeps what a host says in order. Somebody who reacts to an event makes it say more; that goes out behind all
/// packets of the input the event came of.
public struct HostDesk: Sendable {
    public private(set) var host: Host
    private var effects: [Host.Effect] = []
    private var events: [Host.Event] = []

    public init(_ host: Host) { self.host = host }

    mutating func tell(_ input: Host.Input, at now: Instant) -> [Host.Event] {
        var news: [Host.Event] = []
        for effect in host.handle(input, at: now) {
            if case .event(let event) = effect { news.append(event) } else { effects.append(effect) }
        }
        events += news
        return news
    }

    mutating func nextEvent() -> Host.Event? { events.isEmpty ? nil : events.removeFirst() }

    mutating func takeEffects() -> [Host.Effect] {
        defer { effects = [] }
        return effects
    }
}

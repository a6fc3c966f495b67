public import BluetoothHost
public import ButtonModel

/// A host together with the program that uses it. It is driven like `Host`, and handles the host's events itself.
public protocol Application {
    var desk: HostDesk { get set }
    mutating func happened(_ event: Host.Event, at now: Instant)
}

extension Application {
    /// Like `Host.handle`, but the effects contain no events.
    public mutating func handle(_ input: Host.Input, at now: Instant) -> [Host.Effect] {
        tell(input, at: now)
        while let event = desk.nextEvent() { happened(event, at: now) }
        return desk.takeEffects()
    }

    /// - Returns: the events that follow, which `happened` is called with as well.
    @discardableResult
    mutating func tell(_ input: Host.Input, at now: Instant) -> [Host.Event] { desk.tell(input, at: now) }

    @discardableResult
    mutating func perform(_ command: Host.Command, at now: Instant) -> [Host.Event] { tell(.perform(command), at: now) }
}

/// Keeps the effects of a host in order. Commands given while an event is handled make further effects; they follow all
/// effects of the input that made the event.
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

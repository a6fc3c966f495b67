public import BluetoothHost
public import ButtonModel

/// A host together with the program that uses it. It is driven like `LEHost`, and handles the host's events itself.
public protocol Application {
    var desk: HostDesk { get set }
    mutating func happened(_ event: LEHost.Event, at now: Instant)
}

extension Application {
    /// Like `LEHost.handle`, but the effects contain no events.
    public mutating func handle(_ input: LEHost.Input, at now: Instant) -> [LEHost.Effect] {
        tell(input, at: now)
        while let event = desk.nextEvent() { happened(event, at: now) }
        return desk.takeEffects()
    }

    /// - Returns: the events that follow, which `happened` is called with as well.
    @discardableResult
    mutating func tell(_ input: LEHost.Input, at now: Instant) -> [LEHost.Event] { desk.tell(input, at: now) }

    @discardableResult
    mutating func perform(_ command: LEHost.Command, at now: Instant) -> [LEHost.Event] {
        tell(.perform(command), at: now)
    }
}

/// Keeps the effects of a host in order. Commands given while an event is handled make further effects; they follow all
/// effects of the input that made the event.
public struct HostDesk: Sendable {
    public private(set) var host: LEHost
    private var effects: [LEHost.Effect] = []
    private var events: [LEHost.Event] = []

    public init(_ host: LEHost) { self.host = host }

    mutating func tell(_ input: LEHost.Input, at now: Instant) -> [LEHost.Event] {
        var news: [LEHost.Event] = []
        for effect in host.handle(input, at: now) {
            if case .event(let event) = effect { news.append(event) } else { effects.append(effect) }
        }
        events += news
        return news
    }

    mutating func nextEvent() -> LEHost.Event? { events.isEmpty ? nil : events.removeFirst() }

    mutating func takeEffects() -> [LEHost.Effect] {
        defer { effects = [] }
        return effects
    }
}

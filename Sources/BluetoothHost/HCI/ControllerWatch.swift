import ButtonModel

/// Notices a controller that has stopped working without a word.
///
/// | it owes                                       | since                  | for                                  | else              |
/// |-----------------------------------------------|------------------------|--------------------------------------|-------------------|
/// | a link's Disconnection Complete               | we asked for its end   | supervision timeout + `ACLFlow.margin` | it has stopped  |
/// | a sign of life, while it has something to do  | the last one           | `silenceLimit`                       | it is asked for one |
///
/// What an answer to a command may take is `CommandQueue`'s business, and what becomes of data `ACLFlow`'s. The sign
/// of life asked for is an answer that every controller gives; two wakeups in five quiet minutes are its price.
struct ControllerWatch: Hashable, Sendable {
    enum Effect: Hashable, Sendable {
        case probe
        case linkNotEnded(ConnectionHandle)
    }

    static let silenceLimit: Duration = .seconds(300)
    static let probe = HCICommand.readBDADDR

    /// When to call `timerFired`.
    var deadline: Instant? { [silenceEnd, endings.values.min()].compactMap { $0 }.min() }
    /// It has not answered yet.
    var isProbing = false
    private var lastHeard = Instant(nanoseconds: 0)
    private var silenceEnd: Instant?
    private var endings: [ConnectionHandle: Instant] = [:]

    mutating func heard(at now: Instant) { lastHeard = now }

    /// - Parameter isBusy: there are links, or the controller was told to look for somebody.
    mutating func setBusy(_ isBusy: Bool, at now: Instant) {
        guard isBusy != (silenceEnd != nil) else { return }
        silenceEnd = isBusy ? now + Self.silenceLimit : nil
    }

    mutating func ending(_ handle: ConnectionHandle, within patience: Duration, at now: Instant) {
        // Asked for twice, it still ends once.
        if endings[handle] == nil { endings[handle] = now + patience }
    }

    func isEnding(_ handle: ConnectionHandle) -> Bool { endings[handle] != nil }

    mutating func ended(_ handle: ConnectionHandle) { endings[handle] = nil }

    mutating func timerFired(at now: Instant) -> [Effect] {
        let overdue = endings.filter { now >= $0.value }.keys.sorted { $0.rawValue < $1.rawValue }
        var effects = overdue.map { Effect.linkNotEnded($0) }
        for handle in overdue { endings[handle] = nil }
        if let end = silenceEnd, now >= end {
            let isSilent = now >= lastHeard + Self.silenceLimit
            silenceEnd = (isSilent ? now : lastHeard) + Self.silenceLimit
            if isSilent { effects.append(.probe) }
        }
        return effects
    }
}

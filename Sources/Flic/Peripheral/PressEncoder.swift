import ButtonModel

/// Converts presses and releases to the steps that a button reports, with the button's timing.
///
/// | state    | on                          | becomes  | step                                                    |
/// |----------|-----------------------------|----------|---------------------------------------------------------|
/// | idle     | pressed                     | down     | 1 down                                                  |
/// | released | pressed                     | down     | 1 down, the second of a double click                    |
/// | down     | 1 s                         | down     | 3 hold, or 7 hold of a second press                     |
/// | down     | released, first, ≤ 0.5 s    | released | 8 up, single or double click still open                 |
/// | down     | released, first, > 0.5 s    | idle     | 10 up, a single click                                   |
/// | down     | released, first, held       | idle     | 14 up, a single click for programs that do not use holds|
/// | down     | released, second            | idle     | 11 up, a double click; 15 if it was held                |
/// | released | 0.5 s after the first down  | idle     | 2 single click timeout                                  |
///
/// - Source: protocol notes, 6.6 and 7.
struct PressEncoder: Sendable {
    struct Step: Hashable, Sendable {
        var code: EventCode
        /// The event counter at this step.
        var counter: UInt32
        var time: Instant
    }

    static let doubleClickWindow = Duration.milliseconds(500)
    static let holdTime = Duration.seconds(1)

    private enum State: Sendable {
        case idle
        case down(since: Instant, isSecond: Bool, isHeld: Bool)
        case released(firstDown: Instant)
    }

    private var state = State.idle
    /// Modulo 4, it is 1 after a down, 2 after a hold, 3 after an up, 0 after a single click timeout.
    private(set) var counter: UInt32 = 0

    /// When the button went down; `nil` while it is up.
    var downSince: Instant? { if case .down(let since, _, _) = state { since } else { nil } }

    /// When `timePassed` has a step to report.
    var deadline: Instant? {
        switch state {
        case .down(let since, _, isHeld: false): since + Self.holdTime
        case .released(let firstDown): firstDown + Self.doubleClickWindow
        case .idle, .down: nil
        }
    }

    mutating func pressed(at now: Instant) -> Step? {
        switch state {
        case .idle: state = .down(since: now, isSecond: false, isHeld: false)
        case .released: state = .down(since: now, isSecond: true, isHeld: false)
        case .down: return nil
        }
        return step(1, at: now)
    }

    mutating func released(at now: Instant) -> Step? {
        guard case .down(let since, let isSecond, let isHeld) = state else { return nil }
        state = .idle
        switch (isSecond, isHeld) {
        case (true, true): return step(15, at: now)
        case (true, false): return step(11, at: now)
        case (false, true): return step(14, at: now)
        case (false, false):
            if now - since > Self.doubleClickWindow { return step(10, at: now) }
            state = .released(firstDown: since)
            return step(8, at: now)
        }
    }

    /// The step that is due, with the time at which it was due.
    mutating func timePassed() -> Step? {
        guard let deadline else { return nil }
        switch state {
        case .down(let since, let isSecond, _):
            state = .down(since: since, isSecond: isSecond, isHeld: true)
            return step(isSecond ? 7 : 3, at: deadline)
        case .released:
            state = .idle
            return step(2, at: deadline)
        case .idle:
            return nil
        }
    }

    private mutating func step(_ code: UInt8, at time: Instant) -> Step {
        let code = EventCode(rawValue: code)
        let remainder: UInt32 =
            switch code.step {
            case .down: 1
            case .hold: 2
            case .up: 3
            case .clickTimeout: 0
            }
        repeat { counter &+= 1 } while counter % 4 != remainder
        return Step(code: code, counter: counter, time: time)
    }
}

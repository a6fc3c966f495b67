import ButtonModel

/// Reconstructs a button's press steps from flicd's button events, which report each step in up to four families.
///
/// flicd sends the families of a step one after another, in ascending order:
///
/// | step                         | 4    | 5     | 6      | 7      | is complete with              |
/// |------------------------------|------|-------|--------|--------|-------------------------------|
/// | down                         | Down |       |        |        | 4                             |
/// | up                           | Up   | Click |        |        | 5                             |
/// | up, double click             | Up   | Click | Double | Double | 7                             |
/// | up, after hold               | Up   |       |        |        | `optionalTimeout`                   |
/// | … a click without hold       | Up   |       | Single |        | 6                             |
/// | … of a double click          | Up   |       | Double | Double | 7                             |
/// | it was a click               |      |       | Single | Single | 7                             |
/// | hold                         |      | Hold  |        | Hold   | 7                             |
/// | … of the second press        |      | Hold  |        |        | 5                             |
///
/// A press is the second of a double click if the press before it has ended and was not reported as a click yet. This
/// determines which families must follow, so the result does not depend on how TCP delays and splits the stream. If the
/// up already completes a click, the press is reported as an up and then a click timeout; all gestures treat these
/// alike.
///
/// The time of a live step is that of its arrival, but a hold is at least 1 s after its down, and a click timeout at
/// least 0.5 s. Steps that the network delays and delivers together therefore keep their meaning. The times of stored
/// steps are known to the second only.
///
/// - Source: flicd notes, 6.3; protocol notes, 7.
struct FlicdPresses: Hashable, Sendable {
    /// How long to wait for a family that must follow. Later packets cannot overtake it, because TCP keeps their order.
    static let requiredTimeout = Duration.seconds(5)
    /// How long to wait for a family that may follow.
    static let optionalTimeout = Duration.milliseconds(500)

    /// The position of a press in a possible double click.
    private enum Position: Hashable, Sendable {
        /// The down of the press was not received on this connection.
        case unknown
        case first, second
    }

    private struct Step: Hashable, Sendable {
        var clickTypes: [FlicdFamily: FlicdClickType] = [:]
        var last: FlicdFamily
        var wasQueued: Bool
        var timeDifference: UInt32
        var arrivedAt: Instant
        var isGivenUpAt: Instant
    }

    private let button: ButtonID
    private let bootID: UInt32
    private let connectedAt: Instant
    private var counter: UInt32 = 0
    private var latestTicks: UInt64 = 0
    /// Ticks added to our clock so that it is not behind the ticks already reported, which the minimum times of hold
    /// and click timeout can move ahead of it.
    private var lead: UInt64 = 0
    /// The ticks of the last down.
    private var downTicks: UInt64 = 0
    private var position = Position.unknown
    /// The last step that was reported; `nil` at the start of a connection.
    private var lastReported: PressStep?
    /// True if `end` reported the last press as a click. flicd's own click timeout for that press, on the next
    /// connection, is then ignored.
    private(set) var hasEndedClick: Bool
    private var open: Step?

    /// - Parameter hasEndedClick: the value from the previous connection.
    init(_ button: ButtonID, bootID: UInt32, connectedAt: Instant, hasEndedClick: Bool = false) {
        self.button = button
        self.bootID = bootID
        self.connectedAt = connectedAt
        self.hasEndedClick = hasEndedClick
    }

    /// When the open step is reported without waiting for further families.
    var deadline: Instant? { open?.isGivenUpAt }

    /// Adds a button event, and returns the steps that are complete with it, at most two.
    mutating func add(
        _ family: FlicdFamily, _ clickType: FlicdClickType, wasQueued: Bool, timeDifference: UInt32, at now: Instant
    ) -> [ButtonEvent] {
        var events: [ButtonEvent] = []
        if let open, family.rawValue <= open.last.rawValue, let event = flush() { events.append(event) }
        var step =
            open
            ?? Step(
                last: family, wasQueued: wasQueued, timeDifference: timeDifference, arrivedAt: now, isGivenUpAt: now)
        step.clickTypes[family] = clickType
        step.last = family
        let isOptional = position == .unknown || lastReported == .hold(ofSecondPress: false)
        step.isGivenUpAt = now + (isOptional ? Self.optionalTimeout : Self.requiredTimeout)
        open = step
        if isComplete(step.clickTypes), let event = flush() { events.append(event) }
        return events
    }

    private func isComplete(_ clickTypes: [FlicdFamily: FlicdClickType]) -> Bool {
        if clickTypes[.upOrDown] == .buttonDown || clickTypes[.singleOrDoubleClickOrHold] != nil { return true }
        switch (clickTypes[.upOrDown], clickTypes[.clickOrHold], clickTypes[.singleOrDoubleClick]) {
        case (_, .buttonClick, nil): return position == .first
        case (_, .buttonHold, nil): return position == .second
        case (.buttonUp, nil, .buttonSingleClick): return true
        case (.buttonDown, _, _), (.buttonUp, _, _), (.buttonClick, _, _), (.buttonSingleClick, _, _),
            (.buttonDoubleClick, _, _), (.buttonHold, _, _), (nil, _, _):
            return false
        }
    }

    /// Ends the open step with the families received so far. `nil` if there is no open step, or if they denote no step.
    mutating func flush() -> ButtonEvent? {
        guard let step = open else { return nil }
        open = nil
        guard let pressStep = PressStep(step.clickTypes) else { return nil }
        if pressStep == .clickTimeout, hasEndedClick {
            hasEndedClick = false
            return nil
        }
        return event(
            pressStep, arrivedAt: step.arrivedAt, wasQueued: step.wasQueued, timeDifference: step.timeDifference)
    }

    /// Completes the current press when no more of it will be received: a held button is reported as released, and a
    /// possible first click of a double click as a single click.
    mutating func end(at now: Instant) -> [ButtonEvent] {
        var events: [ButtonEvent] = []
        if let event = flush() { events.append(event) }
        switch lastReported {
        case .hold: events.append(event(.up(.afterHold), arrivedAt: now))
        case .up(.open):
            events.append(event(.clickTimeout, arrivedAt: now))
            hasEndedClick = true
        case nil, .down, .clickTimeout, .up: break
        }
        position = .unknown
        lastReported = nil
        return events
    }

    private mutating func event(
        _ step: PressStep, arrivedAt: Instant, wasQueued: Bool = false, timeDifference: UInt32 = 0
    ) -> ButtonEvent {
        let ticks = ticks(of: step, arrivedAt, wasQueued ? timeDifference : 0)
        switch step {
        case .down:
            position = lastReported == .up(.open) ? .second : .first
            downTicks = ticks
            hasEndedClick = false
        case .clickTimeout: if lastReported == .down { position = .first }
        case .hold, .up: break
        }
        lastReported = step
        counter &+= 1
        return ButtonEvent(
            button: button, bootID: bootID, counter: counter, step: step, ticks: ticks, wasQueued: wasQueued,
            age: wasQueued ? .seconds(Int64(timeDifference)) : .zero, isTimeRough: wasQueued)
    }

    /// The ticks of a step, derived from our clock with an offset of 2⁴⁸ ticks, so that a stored press never has
    /// negative ticks.
    private mutating func ticks(of step: PressStep, _ arrivedAt: Instant, _ age: UInt32) -> UInt64 {
        let nanoseconds = UInt64(max(0, (arrivedAt - connectedAt).nanoseconds))
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let clock = 1 << 48 + seconds << 15 + (rest << 15) / 1_000_000_000 + lead
        let sinceDown: UInt64 =
            switch step {
            case .hold: 1 << 15
            case .clickTimeout: 1 << 14
            case .down, .up: 0
            }
        let earliest = max(latestTicks, downTicks + sinceDown)
        latestTicks = max(earliest, clock - UInt64(age) << 15)
        if latestTicks > clock { lead += latestTicks - clock }
        return latestTicks
    }
}

extension PressStep {
    /// `nil` if no step is reported by this combination of families.
    fileprivate init?(_ clickTypes: [FlicdFamily: FlicdClickType]) {
        let (clickOrHold, single) = (clickTypes[.clickOrHold], clickTypes[.singleOrDoubleClick])
        let last = clickTypes[.singleOrDoubleClickOrHold]
        switch clickTypes[.upOrDown] {
        case .buttonDown:
            self = .down
        case .buttonUp:
            switch (single, clickOrHold == .buttonClick) {
            case (.buttonDoubleClick, true): self = .up(.doubleClick)
            case (.buttonDoubleClick, false): self = .up(.afterHoldDoubleClick)
            case (.buttonSingleClick, true): self = .up(.click)
            // Family 7 has no event here, because it has already reported the hold; family 6, which has no hold,
            // reports a click.
            case (.buttonSingleClick, false): self = last == nil ? .up(.afterHoldClick) : .up(.click)
            case (_, true): self = .up(.open)
            case (_, false): self = .up(.afterHold)
            }
        case .buttonClick, .buttonSingleClick, .buttonDoubleClick, .buttonHold, nil:
            if clickOrHold == .buttonHold {
                self = .hold(ofSecondPress: last != .buttonHold)
            } else if last == .buttonSingleClick {
                self = .clickTimeout
            } else if single == .buttonSingleClick {
                // Its family 4 arrived more than `optionalTimeout` before, and was reported as an up after a hold.
                self = .up(.afterHoldClick)
            } else {
                return nil
            }
        }
    }
}

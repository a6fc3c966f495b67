import ButtonModel

/// The presses of one button, put together again from the four ways in which flicd tells each of their steps.
///
/// One step of a press gives a packet in each family that makes something of it, one after another, families ascending:
///
/// | step                         | 4    | 5     | 6      | 7      | is complete with              |
/// |------------------------------|------|-------|--------|--------|-------------------------------|
/// | down                         | Down |       |        |        | 4                             |
/// | up                           | Up   | Click |        |        | 5                             |
/// | up, double click             | Up   | Click | Double | Double | 7                             |
/// | up, after hold               | Up   |       |        |        | `mayFollow`                   |
/// | … a click for some           | Up   |       | Single |        | 6                             |
/// | … of a double click          | Up   |       | Double | Double | 7                             |
/// | it was a click               |      |       | Single | Single | 7                             |
/// | hold                         |      | Hold  |        | Hold   | 7                             |
/// | … of the second press        |      | Hold  |        |        | 5                             |
///
/// Whether a press is the second of a double click follows from what came before it: the first one ended, and nothing has
/// called it a click yet. So it is known what has to come, and a network may deliver late, and cut, wherever it likes.
/// A press that its up already makes a click is told as an up and a click after it, which is the same to every gesture.
///
/// Times of live steps are those of their arrival, except that a hold is a second after its down and a click half a
/// second at least: what the network has held up and brings at once stays what it was. For stored steps they are known to
/// the second only.
///
/// - Source: flicd notes, "Button events"; protocol notes, 7.
struct FlicdPresses: Hashable, Sendable {
    /// For what has to come; with it comes everything that was said since.
    static let mustFollow = Duration.seconds(5)
    /// For what can come.
    static let mayFollow = Duration.milliseconds(500)

    private enum Place: Hashable, Sendable {
        /// Its down was not told here.
        case unknown
        case first, second
    }

    private struct Step: Hashable, Sendable {
        var said: [FlicdFamily: FlicdClickType] = [:]
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
    /// By how much our clock falls short of what the button's must have shown.
    private var lead: UInt64 = 0
    /// Of the last down.
    private var downTicks: UInt64 = 0
    private var place = Place.unknown
    /// The last step that was told.
    private var told: PressStep?
    /// `end` has called the last press a click: that flicd does, too, is nothing new.
    private(set) var hasEndedClick: Bool
    private var open: Step?

    /// - Parameter hasEndedClick: that of the connection before.
    init(_ button: ButtonID, bootID: UInt32, connectedAt: Instant, hasEndedClick: Bool = false) {
        self.button = button
        self.bootID = bootID
        self.connectedAt = connectedAt
        self.hasEndedClick = hasEndedClick
    }

    /// When what is missing of the step that is open is waited for no longer.
    var deadline: Instant? { open?.isGivenUpAt }

    /// The steps that are complete with this packet, at most two.
    mutating func take(
        _ family: FlicdFamily, _ clickType: FlicdClickType, wasQueued: Bool, timeDifference: UInt32, at now: Instant
    ) -> [ButtonEvent] {
        var events: [ButtonEvent] = []
        if let open, family.rawValue <= open.last.rawValue, let event = flush() { events.append(event) }
        var step =
            open
            ?? Step(
                last: family, wasQueued: wasQueued, timeDifference: timeDifference, arrivedAt: now, isGivenUpAt: now)
        step.said[family] = clickType
        step.last = family
        let isOptional = place == .unknown || told == .hold(ofSecondPress: false)
        step.isGivenUpAt = now + (isOptional ? Self.mayFollow : Self.mustFollow)
        open = step
        if isComplete(step.said), let event = flush() { events.append(event) }
        return events
    }

    private func isComplete(_ said: [FlicdFamily: FlicdClickType]) -> Bool {
        if said[.upOrDown] == .buttonDown || said[.singleOrDoubleClickOrHold] != nil { return true }
        switch (said[.upOrDown], said[.clickOrHold], said[.singleOrDoubleClick]) {
        case (_, .buttonClick, nil): return place == .first
        case (_, .buttonHold, nil): return place == .second
        case (.buttonUp, nil, .buttonSingleClick): return true
        default: return false
        }
    }

    /// What was said of the step that is open, though the rest of it may be missing.
    mutating func flush() -> ButtonEvent? {
        guard let step = open else { return nil }
        open = nil
        guard let pressStep = PressStep(step.said) else { return nil }
        if pressStep == .clickTimeout, hasEndedClick {
            hasEndedClick = false
            return nil
        }
        return event(
            pressStep, arrivedAt: step.arrivedAt, wasQueued: step.wasQueued, timeDifference: step.timeDifference)
    }

    /// Nothing more of the press under way is told to us: what was held is let go, and what was one click stays one.
    mutating func end(at now: Instant) -> [ButtonEvent] {
        var events: [ButtonEvent] = []
        if let event = flush() { events.append(event) }
        switch told {
        case .hold: events.append(event(.up(.afterHold), arrivedAt: now))
        case .up(.open):
            events.append(event(.clickTimeout, arrivedAt: now))
            hasEndedClick = true
        case nil, .down, .clickTimeout, .up: break
        }
        place = .unknown
        told = nil
        return events
    }

    private mutating func event(
        _ step: PressStep, arrivedAt: Instant, wasQueued: Bool = false, timeDifference: UInt32 = 0
    ) -> ButtonEvent {
        let ticks = ticks(of: step, arrivedAt, wasQueued ? timeDifference : 0)
        switch step {
        case .down:
            place = told == .up(.open) ? .second : .first
            downTicks = ticks
            hasEndedClick = false
        case .clickTimeout: if told == .down { place = .first }
        case .hold, .up: break
        }
        told = step
        counter &+= 1
        return ButtonEvent(
            button: button, bootID: bootID, counter: counter, step: step, ticks: ticks, wasQueued: wasQueued,
            age: wasQueued ? .seconds(Int64(timeDifference)) : .zero, isTimeRough: wasQueued)
    }

    /// As a button that was started long before any press it can have stored, and whose clock is ours.
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
    /// `nil`: no step of a press is told like this.
    fileprivate init?(_ said: [FlicdFamily: FlicdClickType]) {
        let (clickOrHold, single) = (said[.clickOrHold], said[.singleOrDoubleClick])
        let last = said[.singleOrDoubleClickOrHold]
        switch said[.upOrDown] {
        case .buttonDown:
            self = .down
        case .buttonUp:
            switch (single, clickOrHold == .buttonClick) {
            case (.buttonDoubleClick, true): self = .up(.doubleClick)
            case (.buttonDoubleClick, false): self = .up(.afterHoldDoubleClick)
            case (.buttonSingleClick, true): self = .up(.click)
            // The family that has no hold says click, the one that has it said hold before.
            case (.buttonSingleClick, false): self = last == nil ? .up(.afterHoldClick) : .up(.click)
            case (_, true): self = .up(.open)
            case (_, false): self = .up(.afterHold)
            }
        default:
            if clickOrHold == .buttonHold {
                self = .hold(ofSecondPress: last != .buttonHold)
            } else if last == .buttonSingleClick {
                self = .clickTimeout
            } else if single == .buttonSingleClick {
                // Its up came too long before it.
                self = .up(.afterHoldClick)
            } else {
                return nil
            }
        }
    }
}

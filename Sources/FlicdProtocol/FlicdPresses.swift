import ButtonModel

/// The presses of one button, put together again from the four ways in which flicd tells each of their steps.
///
/// One step of a press gives a packet in each family that makes something of it, one after another, families ascending:
///
/// | step                         | 4    | 5     | 6      | 7      |
/// |------------------------------|------|-------|--------|--------|
/// | down                         | Down |       |        |        |
/// | up, open                     | Up   | Click |        |        |
/// | up, click                    | Up   | Click | Single | Single |
/// | up, double click             | Up   | Click | Double | Double |
/// | up, after hold               | Up   |       |        |        |
/// | … a click for some           | Up   |       | Single |        |
/// | … of a double click          | Up   |       | Double | Double |
/// | click timeout                |      |       | Single | Single |
/// | hold                         |      | Hold  |        | Hold   |
/// | … of the second press        |      | Hold  |        |        |
///
/// A step is complete with family 7, with what cannot belong to it, or when nothing more comes for a moment. That an open
/// up and the timeout after it can be taken for a click at the up changes no gesture. Two steps are never told apart by
/// their times, which for those that were stored are known to the second only.
///
/// - Source: flicd notes, "Button events"; protocol notes, 7.
struct FlicdPresses: Hashable, Sendable {
    /// An up is never all: the rest may come with the next segment only.
    static let firstWait = Duration.milliseconds(100)
    static let nextWait = Duration.milliseconds(20)

    private struct Step: Hashable, Sendable {
        var said: [FlicdFamily: FlicdClickType] = [:]
        var last: FlicdFamily
        var wasQueued: Bool
        var timeDifference: UInt32
        var arrivedAt: Instant
        var isCompleteAt: Instant
    }

    private let button: ButtonID
    private let bootID: UInt32
    private let connectedAt: Instant
    private var counter: UInt32 = 0
    private var latestTicks: UInt64 = 0
    private var open: Step?

    init(_ button: ButtonID, bootID: UInt32, connectedAt: Instant) {
        self.button = button
        self.bootID = bootID
        self.connectedAt = connectedAt
    }

    /// When the step that is open is complete.
    var deadline: Instant? { open?.isCompleteAt }

    /// The steps that are complete with this packet, at most two.
    mutating func take(
        _ family: FlicdFamily, _ clickType: FlicdClickType, wasQueued: Bool, timeDifference: UInt32, at now: Instant
    ) -> [ButtonEvent] {
        var events: [ButtonEvent] = []
        if let open,
            family.rawValue <= open.last.rawValue || wasQueued != open.wasQueued
                || timeDifference != open.timeDifference
        {
            if let event = flush() { events.append(event) }
        }
        var step =
            open
            ?? Step(
                last: family, wasQueued: wasQueued, timeDifference: timeDifference, arrivedAt: now, isCompleteAt: now)
        step.said[family] = clickType
        step.last = family
        step.isCompleteAt = now + (family == .upOrDown ? Self.firstWait : Self.nextWait)
        open = step
        if clickType == .buttonDown || family == .singleOrDoubleClickOrHold, let event = flush() {
            events.append(event)
        }
        return events
    }

    mutating func flush() -> ButtonEvent? {
        guard let step = open else { return nil }
        open = nil
        guard let pressStep = PressStep(step.said) else { return nil }
        counter &+= 1
        latestTicks = max(latestTicks, ticks(of: step))
        return ButtonEvent(
            button: button, bootID: bootID, counter: counter, step: pressStep, ticks: latestTicks,
            wasQueued: step.wasQueued, age: step.wasQueued ? .seconds(Int64(step.timeDifference)) : .zero,
            isTimeRough: step.wasQueued)
    }

    /// As a button that was started long before any press it can have stored, and whose clock is ours.
    private func ticks(of step: Step) -> UInt64 {
        let nanoseconds = UInt64(max(0, (step.arrivedAt - connectedAt).nanoseconds))
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let sinceStart = 1 << 48 + seconds << 15 + (rest << 15) / 1_000_000_000
        return sinceStart - (step.wasQueued ? UInt64(step.timeDifference) << 15 : 0)
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
            } else if single == .buttonSingleClick || last == .buttonSingleClick {
                self = .clickTimeout
            } else {
                return nil
            }
        }
    }
}

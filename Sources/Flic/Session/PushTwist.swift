import ButtonModel

/// The two dials of a Duo: how far it was turned while one of its buttons was down.
///
/// It tells angles only; the positions are kept here, for each button on its own, and stop at both ends.
///
/// A finger that comes down, and a hand that swipes, turn the body a little. What it tells in the first moments of a
/// press and right after a swipe is no turn.
///
/// - Source: protocol notes, 8.1.
struct PushTwist: Sendable {
    static let quietAfterDown = Duration.milliseconds(250)
    static let quietAfterSwipe = Duration.milliseconds(300)

    fileprivate struct Side: Sendable {
        /// In quarters of a unit, 0…4 × `Dial.unitsPerTurn`: of what the button counts, 65536 a turn, each is three.
        var position = 0
        /// What was not told yet, in hundredths of what the button counts: less than a step.
        var remainder = 0
        /// By our clock; `nil` while the button is up, or when nobody has said when it went down.
        var downSince: Instant?

        var units: Int { position / PushTwist.quarters }
    }

    fileprivate static let quarters = 4

    private let button: ButtonID
    private var big = Side()
    private var small = Side()
    private var lastSwipe: Instant?

    init(button: ButtonID, dials: [Dial: Int]) {
        self.button = button
        for (dial, units) in dials { set(dial, units: units) }
    }

    /// Nothing happens to a dial that no Duo has.
    mutating func set(_ dial: Dial, units: Int) {
        let position = Self.quarters * min(max(units, 0), Dial.unitsPerTurn)
        switch dial {
        case .part(.big): big.position = position
        case .part(.small): small.position = position
        case .part, .slot, .free: break
        }
    }

    /// What was new of the events of a notification.
    mutating func take(_ events: [ButtonEvent], at now: Instant) {
        for event in events {
            let age = min(event.age, .seconds(1))
            switch event.step {
            case .down: setDown(now - age, event.part)
            case .up:
                setDown(nil, event.part)
                if event.swipe != nil { lastSwipe = now - age }
            case .hold, .clickTimeout: break
            }
        }
    }

    private mutating func setDown(_ instant: Instant?, _ part: ButtonPart?) {
        if part == .small { small.downSince = instant } else { big.downSince = instant }
    }

    /// A session is over: nobody knows what is down any more.
    mutating func sessionEnded() {
        big.downSince = nil
        small.downSince = nil
    }

    /// A turn, of each button that is down: of no step where it is less than one, and nothing where it leaves all as it was.
    mutating func take(_ notification: ButtonPacket.PushTwistNotification, at now: Instant) -> [ButtonMovement] {
        var movements: [ButtonMovement] = []
        let isQuiet = lastSwipe.map { now - $0 < Self.quietAfterSwipe } ?? false
        if notification.pressed.contains(.big) {
            let before = big.units
            let steps = big.turn(notification, .big, isQuiet: isQuiet, at: now)
            movements += movement(.big, big, steps, before: before)
        }
        if notification.pressed.contains(.small) {
            let before = small.units
            let steps = small.turn(notification, .small, isQuiet: isQuiet, at: now)
            movements += movement(.small, small, steps, before: before)
        }
        return movements
    }

    private func movement(_ part: ButtonPart, _ side: Side, _ steps: Int, before units: Int) -> [ButtonMovement] {
        guard steps != 0 || side.units != units else { return [] }
        return [
            ButtonMovement(
                button: button, part: part, kind: .rotation(steps: steps),
                position: Dial.percentage(units: side.units), dial: .part(part), units: side.units)
        ]
    }
}

extension PushTwist.Side {
    /// - Returns: whole hundredths of a turn; clockwise is positive.
    fileprivate mutating func turn(
        _ notification: ButtonPacket.PushTwistNotification, _ part: ButtonPacket.PushTwistNotification.Parts,
        isQuiet: Bool, at now: Instant
    ) -> Int {
        if downSince == nil, notification.isFirst.contains(part) { downSince = now }
        let isEarly = downSince.map { now - $0 < PushTwist.quietAfterDown } ?? false
        guard !isQuiet, !isEarly || notification.isPressedLong.contains(part) else { return 0 }
        let angle = Int(notification.angle)
        position = min(max(position + 3 * angle, 0), PushTwist.quarters * Dial.unitsPerTurn)
        let hundredths = remainder + 100 * angle
        let turn = ButtonPacket.PushTwistNotification.unitsPerTurn
        remainder = hundredths % turn
        return hundredths / turn
    }
}

import ButtonModel

/// The two dials of a Duo: rotation while one of its buttons is pressed.
///
/// A Duo reports only angles. The host keeps a position for each of its buttons, which stops at both ends.
///
/// A press and a swipe rotate the Duo slightly, so rotation shortly after a down and shortly after a swipe is ignored.
///
/// - Source: protocol notes, 8.1.
struct DuoDials: Sendable {
    static let quietAfterDown = Duration.milliseconds(250)
    static let quietAfterSwipe = Duration.milliseconds(300)

    fileprivate struct Side: Sendable {
        /// 0…4 × `Dial.unitsPerTurn`, in quarters of a unit. Each of the Duo's 65536 units per turn is three quarters.
        var position = 0
        /// The rotation that has not become a step, in hundredths of the Duo's units.
        var remainder = 0
        /// When the button went down, by the host's clock; `nil` while it is up or when the time is unknown.
        var downSince: Instant?

        var units: Int { position / DuoDials.quarters }
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

    /// Sets the position of a dial. Ignored for a dial that a Duo does not have.
    mutating func set(_ dial: Dial, units: Int) {
        let position = Self.quarters * min(max(units, 0), Dial.unitsPerTurn)
        switch dial {
        case .part(.big): big.position = position
        case .part(.small): small.position = position
        case .part, .slot, .free: break
        }
    }

    /// Records downs, ups and swipes of new events.
    mutating func receive(_ events: [ButtonEvent], at now: Instant) {
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

    /// Forgets which buttons are down, because their ups may be missed between sessions.
    mutating func sessionEnded() {
        big.downSince = nil
        small.downSince = nil
    }

    /// Applies a rotation to each button that is down. Returns no movement for a button without a whole step or a
    /// change of its position.
    mutating func receive(_ notification: ButtonPacket.PushTwistNotification, at now: Instant) -> [ButtonMovement] {
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
                button: button, part: part, steps: steps,
                position: Dial.percentage(units: side.units), dial: .part(part), units: side.units)
        ]
    }
}

extension DuoDials.Side {
    /// - Returns: whole hundredths of a turn, clockwise positive.
    fileprivate mutating func turn(
        _ notification: ButtonPacket.PushTwistNotification, _ part: ButtonPacket.PushTwistNotification.Parts,
        isQuiet: Bool, at now: Instant
    ) -> Int {
        if downSince == nil, notification.isFirst.contains(part) { downSince = now }
        let isEarly = downSince.map { now - $0 < DuoDials.quietAfterDown } ?? false
        guard !isQuiet, !isEarly || notification.isPressedLong.contains(part) else { return 0 }
        let angle = Int(notification.angle)
        position = min(max(position + 3 * angle, 0), DuoDials.quarters * Dial.unitsPerTurn)
        let hundredths = remainder + 100 * angle
        let turn = ButtonPacket.PushTwistNotification.unitsPerTurn
        remainder = hundredths % turn
        return hundredths / turn
    }
}

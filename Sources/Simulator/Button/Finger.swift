import ButtonModel

/// The finger on a simulated button: press scripts one after another, in time.
///
/// | state   | on                       | becomes | and we                                          |
/// |---------|--------------------------|---------|-------------------------------------------------|
/// | resting | a whole press            | moving  | begin it, `trainGap` after the last `up`        |
/// | resting | a bare `down` or `up`    | moving  | begin it at once                                |
/// | moving  | the time of a movement   | moving  | move                                            |
/// | moving  | the last movement        | resting | finish the press, begin the next one            |
///
/// Pauses count from when the movement before really happened: a late timer makes a press longer, never shorter.
struct Finger: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        case down
        case up
        case finished(SimulatedPress)
    }

    static let maximumQueuedPresses = 64
    /// Longer than a double click, so that two presses never become one.
    static let trainGap = Duration.milliseconds(700)

    private(set) var isDown = false
    private(set) var deadline: Instant?
    private var queue: [SimulatedPress] = []
    private var movements: [SimulatedPress.Movement] = []
    private var lastUp: Instant?

    /// - Returns: false when there are too many waiting; the press is not taken.
    mutating func enqueue(_ press: SimulatedPress, at now: Instant) -> Bool {
        guard queue.count < Finger.maximumQueuedPresses else { return false }
        queue.append(press)
        if queue.count == 1 { begin(press, at: now) }
        return true
    }

    /// Everything that is due. A finger that is down already does not go down again.
    mutating func advance(to now: Instant) -> [Step] {
        var steps: [Step] = []
        while let deadline, deadline <= now {
            if let movement = movements.first {
                movements.removeFirst()
                if movement.isDown != isDown {
                    isDown = movement.isDown
                    steps.append(isDown ? .down : .up)
                    if !isDown { lastUp = now }
                }
            }
            if let next = movements.first {
                self.deadline = now + next.pause
            } else {
                self.deadline = nil
                if let press = queue.first {
                    queue.removeFirst()
                    steps.append(.finished(press))
                }
                if let press = queue.first { begin(press, at: now) }
            }
        }
        return steps
    }

    private mutating func begin(_ press: SimulatedPress, at now: Instant) {
        movements = press.movements
        let first = movements.first?.pause ?? .zero
        // Bare movements are somebody's own fingers, and come when they come.
        guard press != .down, press != .up, !isDown, let lastUp else {
            deadline = now + first
            return
        }
        deadline = max(now, lastUp + Finger.trainGap) + first
    }
}

import ButtonModel

/// Performs press scripts and swipes on a simulated button, one after another.
///
/// | state   | on                       | becomes | and we                                            |
/// |---------|--------------------------|---------|---------------------------------------------------|
/// | resting | a whole press            | moving  | begin it, at least `trainGap` after the last `up` |
/// | resting | a single `down` or `up`  | moving  | begin it immediately                              |
/// | moving  | the time of a movement   | moving  | move                                              |
/// | moving  | the last movement        | resting | finish the press, begin the next press            |
///
/// A pause begins when the previous movement was performed, so a late timer makes a press longer, never shorter.
struct Finger: Hashable, Sendable {
    enum Step: Hashable, Sendable {
        case down
        case up
        /// An `up` that ends a swipe.
        case swiped(SwipeDirection)
        case finished(SimulatedPress)
    }

    enum Script: Hashable, Sendable {
        case press(SimulatedPress)
        /// Down, and up 200 ms later with a swipe.
        case swipe(SwipeDirection)
    }

    static let maximumQueuedPresses = 64
    /// The minimum time between an `up` and the next press. It is longer than the time for a double click, so that two
    /// presses are never one double click.
    static let trainGap = Duration.milliseconds(700)

    private(set) var isDown = false
    private(set) var deadline: Instant?
    private var queue: [Script] = []
    private var movements: [SimulatedPress.Movement] = []
    private var lastUp: Instant?

    /// - Returns: false if the queue is full; the press is then dropped.
    mutating func enqueue(_ press: SimulatedPress, at now: Instant) -> Bool { enqueue(.press(press), at: now) }

    /// - Returns: false if the queue is full; the script is then dropped.
    mutating func enqueue(_ script: Script, at now: Instant) -> Bool {
        guard queue.count < Finger.maximumQueuedPresses else { return false }
        queue.append(script)
        if queue.count == 1 { begin(script, at: now) }
        return true
    }

    /// Performs all movements that are due. A movement to the present state is skipped.
    mutating func advance(to now: Instant) -> [Step] {
        var steps: [Step] = []
        while let deadline, deadline <= now {
            if let movement = movements.first {
                movements.removeFirst()
                if movement.isDown != isDown {
                    isDown = movement.isDown
                    steps.append(isDown ? .down : queue.first?.end ?? .up)
                    if !isDown { lastUp = now }
                }
            }
            if let next = movements.first {
                self.deadline = now + next.pause
            } else {
                self.deadline = nil
                if case .press(let press)? = queue.first { steps.append(.finished(press)) }
                queue = Array(queue.dropFirst())
                if let script = queue.first { begin(script, at: now) }
            }
        }
        return steps
    }

    private mutating func begin(_ script: Script, at now: Instant) {
        movements = script.movements
        let first = movements.first?.pause ?? .zero
        // A single `down` or `up` comes from a person who controls the timing, so it is not delayed.
        guard script != .press(.down), script != .press(.up), !isDown, let lastUp else {
            deadline = now + first
            return
        }
        deadline = max(now, lastUp + Finger.trainGap) + first
    }
}

extension Finger.Script {
    fileprivate var movements: [SimulatedPress.Movement] {
        switch self {
        case .press(let press): press.movements
        case .swipe: [.init(pause: .zero, isDown: true), .init(pause: .milliseconds(200), isDown: false)]
        }
    }

    fileprivate var end: Finger.Step {
        switch self {
        case .press: .up
        case .swipe(let direction): .swiped(direction)
        }
    }
}

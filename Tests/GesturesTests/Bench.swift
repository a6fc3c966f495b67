import ButtonModel
import Gestures
import TestSupport
import Testing

extension GestureRecogniser: StateMachine {}

extension ButtonID {
    static let kitchen = ButtonID(BluetoothAddress(rawValue: 1))
    static let hall = ButtonID(BluetoothAddress(rawValue: 2))
    static let sofa = ButtonID(BluetoothAddress(rawValue: 3))
}

extension Instant {
    static let start = Instant(sinceBoot: .seconds(1000))

    /// The moment at which a button's clock, which ran from `start`, shows this many ticks.
    init(ticks: Int) { self.init(nanoseconds: Instant.start.nanoseconds + Int64(ticks) * 1_953_125 / 64) }

    /// Rounded to the nearest millisecond.
    var millisecondsSinceStart: Int64 { ((self - .start).nanoseconds + 500_000) / 1_000_000 }
}

extension RecognisedEvent {
    /// A short name for the gesture: `click`, `sssl`, `hold 700`, `turn -3`.
    var word: String {
        switch kind {
        case .down: "down"
        case .up: "up"
        case .pattern(.click): "click"
        case .pattern(.doubleClick): "double_click"
        case .pattern(let lengths): lengths.map { $0 == .short ? "s" : "l" }.joined()
        case .hold(let after) where after == .seconds(1): "hold"
        case .hold(let after): "hold \(after.milliseconds)"
        case .holdRelease: "hold_release"
        case .chord(let place): "chord \(place)"
        case .swipe(let direction): direction.rawValue
        case .rotation(let steps, _): "turn \(steps)"
        }
    }

    var isRaw: Bool { kind == .down || kind == .up }
}

/// A press; both times are ticks of a button's clock since the start.
struct FingerPress: Hashable, Sendable {
    var down: Int
    var up: Int
    var length: Int { up - down }
}

/// The events a button sends for presses, with the click and hold times that are built into the hardware.
struct Button {
    var id = ButtonID.kitchen
    var bootID: UInt32 = 7
    var firstReading: UInt64 = 1 << 30

    func event(_ step: PressStep, at ticks: Int) -> ButtonEvent {
        ButtonEvent(button: id, bootID: bootID, counter: 0, step: step, ticks: firstReading + UInt64(ticks))
    }

    /// - Returns: the events in the order of their times.
    func events(of presses: [FingerPress]) -> [ButtonEvent] {
        var events: [ButtonEvent] = []
        var firstDown: Int?
        for (place, press) in presses.enumerated() {
            let isSecond = firstDown.map { press.down - $0 <= 16_384 } ?? false
            if let waiting = firstDown, !isSecond { events.append(event(.clickTimeout, at: waiting + 16_384)) }
            firstDown = nil
            events.append(event(.down, at: press.down))
            let isHeld = press.length >= 32_768
            if isHeld { events.append(event(.hold(ofSecondPress: isSecond), at: press.down + 32_768)) }
            let release: PressStep.Release =
                switch (isSecond, isHeld) {
                case (true, true): .afterHoldDoubleClick
                case (true, false): .doubleClick
                case (false, true): .afterHoldClick
                case (false, false): press.length > 16_384 ? .click : .open
                }
            events.append(event(.up(release), at: press.up))
            if release == .open { firstDown = press.down }
            if place == presses.count - 1, let waiting = firstDown {
                events.append(event(.clickTimeout, at: waiting + 16_384))
            }
        }
        return events
    }

    /// The same events in the form in which a button sends them after a connection at `connectedAt`: all stored, the
    /// last one marked as last.
    func storedEvents(of presses: [FingerPress], connectedAt: Int) -> [ButtonEvent] {
        var stored = events(of: presses)
        for place in stored.indices {
            let age = UInt64(connectedAt) + firstReading - stored[place].ticks
            stored[place].wasQueued = true
            stored[place].wasQueuedLast = place == stored.count - 1
            stored[place].age = .nanoseconds(Int64(age) * 1_953_125 / 64)
        }
        return stored
    }

    func ticks(of event: ButtonEvent) -> Int { Int(event.ticks - firstReading) }
}

/// A recogniser, and a clock that fires the recogniser's timer at its deadlines.
struct Room {
    var recogniser: GestureRecogniser
    var now = Instant.start
    /// Everything the recogniser reported, with the moment of each report.
    private(set) var log: [(at: Instant, RecognisedEvent)] = []
    /// How late the radio delivers each event, in nanoseconds.
    var delay: () -> Int64 = { 0 }

    init(_ vocabulary: Vocabulary, chords: [Chord] = [], usesButtonVerdicts: Bool = true) {
        recogniser = GestureRecogniser(usesButtonVerdicts: usesButtonVerdicts)
        recogniser.configure([:], others: vocabulary, chords: chords, at: now)
    }

    /// Fires the timers that are due before `end`. A timer due exactly at `end` waits, so that an event of that moment
    /// comes first.
    mutating func wait(until end: Instant, isInclusive: Bool = false) {
        var rounds = 0
        while let due = recogniser.deadline, isInclusive ? due <= end : due < end, rounds < 10_000 {
            now = max(now, due)
            handle(.timerFired)
            rounds += 1
        }
        precondition(rounds < 10_000, "a timer that never comes to rest")
        now = max(now, end)
    }

    mutating func handle(_ input: GestureRecogniser.Input) {
        log += recogniser.checked(input, at: now).map { (now, $0) }
    }

    mutating func hear(_ event: ButtonEvent) { handle(.event(event)) }

    mutating func press(_ presses: [FingerPress], on button: Button = Button()) {
        for event in button.events(of: presses) {
            wait(until: Instant(nanoseconds: Instant(ticks: button.ticks(of: event)).nanoseconds + delay()))
            hear(event)
        }
    }

    /// Lets so much time pass that every timer has fired.
    mutating func rest() { wait(until: now + .seconds(100_000), isInclusive: true) }

    var told: [RecognisedEvent] { log.map(\.1) }
    var gestures: [RecognisedEvent] { told.filter { !$0.isRaw } }
}

extension Room {
    /// Reads presses in milliseconds, such as `0-80 200-280`.
    static func presses(_ text: String) -> [FingerPress] {
        text.split(separator: " ").compactMap { press in
            let ends = press.split(separator: "-").compactMap { Int($0) }.map { ($0 * 32_768 + 500) / 1000 }
            return ends.count == 2 ? FingerPress(down: ends[0], up: ends[1]) : nil
        }
    }

    /// Gestures and when they were reported, in milliseconds since the start: `click@500`.
    var timed: [String] {
        log.filter { !$0.1.isRaw }.map { at, recognised in
            "\(recognised.word)@\(at.millisecondsSinceStart)"
        }
    }
}

extension Array<RecognisedEvent> {
    /// Gestures and the presses they are made of: `double_click 1-2`.
    var summary: [String] {
        map { recognised in
            guard let presses = recognised.presses else { return recognised.word }
            let first = presses.lowerBound
            let last = presses.upperBound
            return recognised.word + (first == last ? " \(first)" : " \(first)-\(last)")
        }
    }
}

extension SeededGenerator {
    /// Random presses whose lengths and distances are close to the times at which the recogniser decides.
    mutating func presses(upTo count: Int, around marks: [Int] = [3277, 16_384, 32_768, 40_000]) -> [FingerPress] {
        var time = 0
        return (0..<Int.random(in: 1...count, using: &self)).map { _ in
            let mark = marks.randomElement(using: &self) ?? 3277
            let length = max(1, [mark / 2, mark - 1, mark, mark + 1, mark * 2].randomElement(using: &self) ?? 1)
            let down = time
            time = down + length
            let next = marks.randomElement(using: &self) ?? 3277
            let gap = [next / 4, next - 1, next, next + 1].randomElement(using: &self) ?? 1
            // Half of the distances are counted from the down, the others from the up.
            time = Bool.random(using: &self) ? time + max(1, gap) : max(time + 1, down + gap)
            return FingerPress(down: down, up: down + length)
        }
    }

    mutating func vocabulary() -> Vocabulary {
        var vocabulary = Vocabulary()
        for _ in 0..<Int.random(in: 0...5, using: &self) {
            let count = [1, 1, 2, 2, 3, 4, 8].randomElement(using: &self) ?? 1
            let isAllShort = Bool.random(using: &self)
            vocabulary.patterns.insert(
                (0..<count).map { _ in isAllShort || Bool.random(using: &self) ? .short : .long })
        }
        for stage in [300, 1000, 2500] where Int.random(in: 0..<4, using: &self) == 0 {
            vocabulary.holdStages.insert(.milliseconds(stage))
        }
        vocabulary.usesHoldRelease = Int.random(in: 0..<4, using: &self) == 0
        if Bool.random(using: &self) { vocabulary.holdAfter = .milliseconds(500) }
        if Bool.random(using: &self) { vocabulary.clickGap = .milliseconds(1000) }
        if Int.random(in: 0..<8, using: &self) == 0 {
            vocabulary.fixedMode = TriggerMode.allCases.randomElement(using: &self)
        }
        return vocabulary
    }
}

package import ButtonModel

extension GestureRecogniser {
    /// Encodes a button's undecided trains as text, to restore them after a restart; empty if there are none.
    ///
    /// - Parameter clock: an instant and its wall clock time; `nil` if the wall clock is implausible.
    package func saved(_ button: ButtonID, by clock: (instant: Instant, time: UTCTime)? = nil) -> String {
        guard let row = existingRowIndex(of: button) else { return "" }
        return rows[row].machines.compactMap { $0.saved(by: clock) }.joined(separator: ";")
    }

    /// Restores trains that `saved` encoded. Their presses count as queued. Trains that cannot be parsed are skipped.
    ///
    /// - Parameter time: the wall clock time at `now`. If it is `nil`, the ages of the presses count from `now`.
    package mutating func restore(_ button: ButtonID, _ saved: String, at now: Instant, time: UTCTime? = nil) {
        let row = rowIndex(of: button)
        for text in saved.split(separator: ";", maxSplits: ButtonPart.allCases.count + 1) {
            guard let train = SavedTrain(text) else { continue }
            let machine = rows[row].machineIndex(of: train.part)
            rows[row].machines[machine].restore(train, at: now, time: time)
        }
        rearm(row)
    }
}

/// The text format of an undecided train of one part of a button, in fields separated by spaces.
///
///     big 305419896 51200 d s16000-12000 ?4000 @1795000014000
///
/// - the part, or `-`; the boot ID; the button's clock at its last event, in ticks;
/// - the state: `r` released; `d` down (undecided or long); `h` hold, followed by the latest reported stage in ticks
///   and, if the hold was reported late, `q` and its age in milliseconds; `s` spent; `e` without presses, after a train
///   that was decided by its times, so that later verdicts of the button on it are ignored;
/// - the presses, of which `h` and `s` have one: `s` short, `l` long or `?` undecided, then how many ticks before the
///   last event the press began and, after `-`, ended;
/// - `@` and the wall clock time of the last event, in milliseconds since 1970, if it is known.
struct SavedTrain: Hashable, Sendable {
    var part: ButtonPart?
    var bootID: UInt32
    var reading: UInt64
    var state: Character
    var firedStage: Ticks = -1
    /// How late the hold was reported.
    var hold: RecognisedEvent.Lateness?
    var presses: [SavedPress]
    /// The wall clock time of the last event.
    var time: UTCTime?

    struct SavedPress: Hashable, Sendable {
        var length: PressLength?
        var down: Ticks
        var up: Ticks?
    }

    /// The maximum age of a hold, in milliseconds: a hundred years.
    fileprivate static let maximumAge: Int64 = 3_155_760_000_000

    init?(_ text: some StringProtocol) {
        var fields = text.split(separator: " ", maxSplits: Vocabulary.maximumPresses + 6)
        if let last = fields.last, last.first == "@" {
            guard let milliseconds = Int64(last.dropFirst()), milliseconds >= 0 else { return nil }
            time = UTCTime(milliseconds: milliseconds)
            fields.removeLast()
        }
        guard fields.count >= 4, let bootID = UInt32(fields[1]), let reading = UInt64(fields[2]),
            let state = fields[3].first
        else { return nil }
        if fields[0] != "-" {
            guard let part = ButtonPart(rawValue: String(fields[0])) else { return nil }
            self.part = part
        }
        self.bootID = bootID
        self.reading = reading
        self.state = state
        presses = fields.dropFirst(4).compactMap { SavedPress($0) }
        guard presses.count == fields.count - 4, presses.count <= Vocabulary.maximumPresses, isOrdered,
            presses.isEmpty == (state == "e")
        else { return nil }

        switch state {
        case "r":
            guard presses.allSatisfy({ $0.up != nil && $0.length != nil }) else { return nil }
        case "d":
            guard presses.dropLast().allSatisfy({ $0.up != nil && $0.length != nil }), presses.last?.up == nil else {
                return nil
            }
        case "h":
            let parts = fields[3].dropFirst().split(separator: "q", maxSplits: 1, omittingEmptySubsequences: false)
            guard presses.count == 1, let fired = parts.first.flatMap({ Ticks($0) }), fired >= -1 else { return nil }
            firedStage = fired
            if fired >= 0 { hold = RecognisedEvent.Lateness(wasQueued: false, age: .zero) }
            guard parts.count > 1 else { break }
            guard let age = Int64(parts[1]), (0...SavedTrain.maximumAge).contains(age) else { return nil }
            hold = RecognisedEvent.Lateness(wasQueued: true, age: .milliseconds(age))
        case "s":
            guard presses.count == 1 else { return nil }
        case "e":
            break
        default:
            return nil
        }
    }

    /// True if each press begins before it ends, and ends before the next one begins.
    private var isOrdered: Bool {
        var latest = Ticks.longest
        for press in presses {
            for span in [press.down, press.up ?? 0] {
                guard (0...latest).contains(span) else { return false }
                latest = span
            }
        }
        return true
    }
}

extension SavedTrain.SavedPress {
    fileprivate init?(_ text: some StringProtocol) {
        let spans = text.dropFirst().split(separator: "-", maxSplits: 2, omittingEmptySubsequences: false)
        guard let letter = text.first, let first = spans.first, let down = Ticks(first), spans.count <= 2 else {
            return nil
        }
        switch letter {
        case "s": length = .short
        case "l": length = .long
        case "?": length = nil
        default: return nil
        }
        self.down = down
        if spans.count == 2 {
            guard let up = Ticks(spans[1]) else { return nil }
            self.up = up
        }
    }
}

extension PressMachine {
    /// Encodes the train; `nil` if there is nothing to restore.
    func saved(by clocks: (instant: Instant, time: UTCTime)?) -> String? {
        if train.isEmpty, pressOutsideTrain == nil {
            guard !usesButtonVerdicts, grammar.verdictMode != nil, clock.reading > 0 else { return nil }
        }
        // Every press is encoded before its rules act, and interpolated texts would take a third of that time.
        return String(unsafeUninitializedCapacity: 176 + 48 * train.count) { memory in
            var text = AsciiText(memory)
            write(by: clocks, to: &text)
            return text.count
        }
    }

    /// The press that is down and not in the train. The train is not encoded then, because it is decided.
    private var pressOutsideTrain: Press? {
        switch state {
        case .released, .undecided, .long: nil
        case .holding(let press, _), .spent(let press): press
        }
    }

    private func write(by clocks: (instant: Instant, time: UTCTime)?, to text: inout AsciiText) {
        if let part { text.add(part.rawValue) } else { text.add(UInt8(ascii: "-")) }
        text.add(UInt8(ascii: " "))
        text.add(Int64(clock.bootID))
        text.add(UInt8(ascii: " "))
        text.add(Int64(clamping: clock.reading))
        text.add(UInt8(ascii: " "))
        switch state {
        case .released where train.isEmpty, .undecided where train.isEmpty, .long where train.isEmpty:
            text.add(UInt8(ascii: "e"))
        case .released: text.add(UInt8(ascii: "r"))
        case .undecided, .long: text.add(UInt8(ascii: "d"))
        case .holding(let press, let fired):
            text.add(UInt8(ascii: "h"))
            text.add(fired)
            guard let hold = press.hold, hold.wasQueued else { break }
            text.add(UInt8(ascii: "q"))
            text.add(min(max(0, hold.age.milliseconds), SavedTrain.maximumAge))
        case .spent: text.add(UInt8(ascii: "s"))
        }
        if let pressOutsideTrain {
            write(pressOutsideTrain, to: &text)
        } else {
            for press in train { write(press, to: &text) }
        }
        guard let clocks else { return }
        text.add(UInt8(ascii: " "))
        text.add(UInt8(ascii: "@"))
        text.add(max(0, clocks.time.advanced(from: clocks.instant, to: clock.instant).milliseconds))
    }

    private func write(_ press: Press, to text: inout AsciiText) {
        text.add(UInt8(ascii: " "))
        switch press.length {
        case .short: text.add(UInt8(ascii: "s"))
        case .long: text.add(UInt8(ascii: "l"))
        case nil: text.add(UInt8(ascii: "?"))
        }
        text.add(min(.longest, clock.moment - press.down))
        guard let up = press.up else { return }
        text.add(UInt8(ascii: "-"))
        text.add(min(.longest, clock.moment - up))
    }

    /// Restores a train, unless a press has already begun. Its last `up` may have been received by the earlier process
    /// only, so the machine does not use verdicts, and waits for events only for `missingEventWaitAfterRestart`.
    mutating func restore(_ saved: SavedTrain, at now: Instant, time: UTCTime?) {
        guard isIdle else { return }
        var happened = now
        if let time, let then = saved.time {
            happened = now - max(.zero, .milliseconds(time.milliseconds.addingSaturating(-then.milliseconds)))
        }
        guard let first = saved.presses.first else {
            clock.restore(bootID: saved.bootID, reading: saved.reading, moment: 0, at: happened)
            latestPress = clock.latest
            usesButtonVerdicts = false
            return
        }
        clock.restore(bootID: saved.bootID, reading: saved.reading, moment: first.down, at: happened)
        train = saved.presses.map { press in
            pressCount &+= 1
            return Press(
                number: pressCount, down: first.down - press.down, up: press.up.map { first.down - $0 },
                length: press.length, wasQueued: true, wasQueuedLast: false, age: .zero,
                at: happened - press.down.duration)
        }
        switch saved.state {
        case "d": state = train[train.count - 1].length == .long ? .long : .undecided
        case "h":
            train[train.count - 1].hold = saved.hold
            state = .holding(train.removeLast(), fired: saved.firedStage)
            if saved.firedStage >= 0 { holdEndsAt = now + PressMachine.missingEventWaitAfterRestart }
        case "s": state = .spent(train.removeLast())
        default: state = .released
        }
        let sinceDown = UInt64(clamping: saved.presses[saved.presses.count - 1].down)
        latestPress = ButtonClock.Reading(bootID: saved.bootID, ticks: saved.reading - min(sinceDown, saved.reading))
        usesButtonVerdicts = false
        linkLostAt = happened
        isRestored = true
        lostLinkDuringPress = state != .released
        settlesAt = now + PressMachine.missingEventWaitAfterRestart
        reevaluatesAt = now
        rearm()
    }
}

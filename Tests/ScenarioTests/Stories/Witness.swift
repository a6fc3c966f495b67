import ButtonModel
import Flic
import Hub
import JSON
import MQTTTopics
import Rules
import Simulator

/// Observes everything that happens to a house, and compares it with the promises. It counts events from the buttons
/// themselves, and does not rely on what the hub reports of them.
struct Witness {
    struct Problem: Hashable, CustomStringConvertible {
        var promise: String
        var sentence: String
        var at: Instant

        var description: String { "\(promise) at \(at): \(sentence)" }
    }

    /// A part with its own event counter: a button, or the small button of a Duo.
    fileprivate struct Part: Hashable {
        var button: ButtonID
        var isSmall = false
    }

    /// A press of a button, from its down.
    struct Press: Hashable {
        var bootID: UInt32
        var counter: UInt32
        var at: Instant
        /// The number of records of the hub that contain the press.
        var deliveries = 0
        /// The button itself has lost the press, because its memory was full or because it was rebooted.
        var isGone = false
        /// True if the record of the press has been lost.
        var isLost = false
        /// The process died between the record of the press and its messages.
        var isCutOff = false
    }

    /// The largest difference between a time in milliseconds and the ticks of a button's clock.
    private static let tolerance = Duration.milliseconds(250)
    /// The delay from which a press counts as stored.
    private static let longestSilence = Duration.milliseconds(1250)
    /// The time from the last movement to the gesture, for gestures that are decided last.
    static let gestureTime = Duration.milliseconds(1600)
    /// Turns have no time stamps. A repeated notification arrives late by at most the time for which a link can be
    /// silent.
    private static let longestTurn = Duration.seconds(10)
    /// The times in which the far end of a radio did nothing.
    var stalls: [Range<Instant>] = []

    private(set) var problems: [Problem] = []
    /// A topic that must not be published, for a test of the witness.
    var forbiddenTopic: String?
    private var presses: [Part: [Press]] = [:]
    var secrecy = Secrecy()
    private var now = Instant(nanoseconds: 0)
    private var moved: [Part: Instant] = [:]
    /// Hundredths of a turn by hand, and as reported. While both of its buttons are down, a Duo turns both.
    private var turned: [Part: (byHand: Int, told: Int, at: Instant)] = [:]
    private var handled: [ButtonID: EventCursor] = [:]
    private var pressCounts: [ButtonID: Int64] = [:]
    /// Indices in `presses` of presses that were recorded and not reported yet.
    private var untold: [Part: [Int]] = [:]
    private var toldPresses: [Part: Int] = [:]
    private var gestures: [Part: (lines: Int, presses: Int, messages: Int)] = [:]
    /// The sequence number of the latest hold, or end of a hold, of each button that was published as stale.
    private var latestStale: [ButtonID: Int64] = [:]
    private var lateness: [String: (at: Instant, age: Duration)] = [:]
    private var readyTimes: [ButtonID: [Instant]] = [:]
    private var interruptedRules: [String] = []
    /// Holds that were reported, and whose ends were not.
    private var openHolds: Set<Part> = []
    /// The same, according to the latest records of press trains.
    private var recordedHolds: [ButtonID: Set<Part>] = [:]
    /// Holds that were published as gestures, and whose ends were not published.
    private var publishedHolds: Set<Part> = []
    /// True if `kitchen_dim` ran and `kitchen_undim` did not; `nil` if a process died meanwhile.
    private var isDimming: Bool? = false
    /// Something recorded may have been lost, so that it comes back.
    private var mayReturn = false
    private var isLossKnown = false
    private var returns = 0

    static let names = Dictionary(
        uniqueKeysWithValues: Story.buttons.map { ($0.name, ButtonID($0.wantedAddress)) })

    mutating func see(_ house: inout Household) {
        for (at, sight) in house.takeSights() {
            now = at
            switch sight {
            case .began(let stored): began(stored)
            case .died(let isPowerCut): died(isPowerCut: isPowerCut)
            case .effect(let effect): consider(effect)
            case .problem(let sentence): report("P9", sentence)
            case .recordFailed: isLossKnown = true
            case .hand(let input): handMoved(input)
            case .remembered(let name, let former, let memory, let onDisk):
                guard let button = Self.names[name] else { break }
                let onDisk = onDisk.flatMap { $0.bootID == memory.bootID ? $0 : nil } ?? EventCursor()
                remembered(
                    Part(button: button), former.map { PartMemory($0) }, PartMemory(memory), onDisk: onDisk.eventCount)
                remembered(
                    Part(button: button, isSmall: true), former.map { PartMemory(small: $0) },
                    PartMemory(small: memory),
                    onDisk: onDisk.smallEventCount)
            }
        }
        // During the pause in the middle of a press, its messages are not sent yet.
        if !house.hub.isIncomplete { expectTold() }
        for violation in house.violations where !problems.contains(where: { $0.sentence == violation }) {
            report("P5", violation)
        }
    }

    mutating func report(_ promise: String, _ sentence: String) {
        problems.append(Problem(promise: promise, sentence: sentence, at: now))
    }

    // MARK: The buttons

    private mutating func remembered(_ part: Part, _ former: PartMemory?, _ memory: PartMemory, onDisk: UInt32) {
        let isSameBoot = former?.bootID == memory.bootID
        let before = isSameBoot ? former : nil
        if memory.eventCount != before?.eventCount ?? 0 { moved[part] = now }
        if !isSameBoot {
            for place in presses[part, default: []].indices { presses[part]?[place].isGone = true }
        }
        for counter in memory.stored where counter > before?.eventCount ?? 0 && counter % 4 == 1 {
            presses[part, default: []].append(Press(bootID: memory.bootID, counter: counter, at: now))
        }
        for counter in before?.stored ?? [] where !memory.stored.contains(counter) && counter > memory.acknowledged {
            if let place = presses[part]?.firstIndex(where: { $0.bootID == memory.bootID && $0.counter == counter }) {
                presses[part]?[place].isGone = true
            }
        }
        guard memory.acknowledged > before?.acknowledged ?? 0, onDisk < memory.acknowledged else { return }
        report("P1", "\(part.name) was acknowledged up to \(memory.acknowledged), and the disk has \(onDisk)")
    }

    private mutating func handMoved(_ input: SimulatedWorld.Input) {
        switch input {
        case .turn(let name, let hundredths), .pushTurn(let name, let hundredths, _):
            for part in Self.names[name].map(Part.all) ?? [] {
                let before = turned[part]
                turned[part] = ((before?.byHand ?? 0) + abs(hundredths), before?.told ?? 0, now)
            }
        default: break
        }
    }

    // MARK: The process

    private mutating func began(_ stored: StoredState) {
        handled = [:]
        pressCounts = [:]
        readyTimes = [:]
        untold = [:]
        for button in stored.buttons {
            for part in Part.all(of: button.id) {
                let lost = presses[part, default: []].indices.filter { place in
                    guard let press = presses[part]?[place] else { return false }
                    return press.deliveries > 0 && !press.isLost && !Self.covers(button.cursor, press, of: part)
                }
                if !lost.isEmpty, !mayReturn {
                    report("P2", "\(lost.count) presses of \(part.name) were recorded and are lost")
                }
                for place in lost { presses[part]?[place].isLost = true }
            }
            handled[button.id] = button.cursor
            pressCounts[button.id] = button.pressCount.value
            let holds = Self.holds(of: button.id, in: button.recogniser)
            if !mayReturn, let recorded = recordedHolds[button.id], recorded != holds {
                report("P2", "recorded holds of \(button.id) are not stored: \(button.recogniser)")
            }
            recordedHolds[button.id] = holds
            for part in Part.all(of: button.id) {
                if holds.contains(part) { openHolds.insert(part) } else { openHolds.remove(part) }
            }
        }
        if mayReturn { returns += 1 }
        mayReturn = false
        isLossKnown = false
        let waiting = Set(stored.rules.waitingRuns.map(\.run.rawValue))
        interruptedRules = stored.runs.filter { !waiting.contains($0.id) }.map(\.rule)
    }

    private static func covers(_ cursor: EventCursor, _ press: Press, of part: Part) -> Bool {
        // Presses before a reboot of the button are over.
        cursor.bootID != press.bootID || part.count(in: cursor) >= press.counter
    }

    private mutating func died(isPowerCut: Bool) {
        mayReturn = isPowerCut || isLossKnown
        for (part, places) in untold {
            for place in places { presses[part]?[place].isCutOff = true }
        }
        untold = [:]
        interruptedRules = []
        publishedHolds = []
        isDimming = nil
    }

    /// The parts of a button whose holds were reported and have not ended, according to its press train.
    private static func holds(of button: ButtonID, in train: String) -> Set<Part> {
        Set(
            train.split(separator: ";").compactMap { text in
                let fields = text.split(separator: " ")
                guard fields.count > 3, fields[3].hasPrefix("h"), !fields[3].hasPrefix("h-") else { return nil }
                return Part(button: button, isSmall: fields[0] == "small")
            })
    }

    // MARK: What the hub does

    private mutating func consider(_ effect: Hub.Effect) {
        secrecy.see(effect)
        switch effect {
        case .record(_, let changes):
            for case .progress(let button, let cursor, let train, let count, _, _, _) in changes {
                progressed(button, cursor, pressCount: count.value)
                recordedHolds[button] = Self.holds(of: button, in: train)
            }
        case .broadcast(_, let line): told(line)
        case .publish(_, let message, _): published(message)
        case .startJob(_, .process(let request)): started(request)
        case .log(_, let sentence):
            if let place = interruptedRules.firstIndex(where: { sentence.hasPrefix("rule \($0) was interrupted") }) {
                interruptedRules.remove(at: place)
            }
        case .setTimer, .cancelTimer, .needsEntropy, .goOn, .openTransport, .closeTransport, .send, .bus, .source,
            .flicd, .sync,
            .subscribe, .unsubscribe, .uplink, .startJob, .cancelJob, .loadRules,
            .discard,
            .readFirmware, .respond, .pressSimulated, .setLogLevel, .status, .writeMetrics, .finish:
            break
        }
    }

    private mutating func progressed(_ button: ButtonID, _ cursor: EventCursor, pressCount: Int64) {
        expectTold()
        let before = handled[button] ?? EventCursor()
        let isSameBoot = before.bootID == cursor.bootID
        var (all, sure) = (0, 0)
        for part in Part.all(of: button) {
            let (former, latest) = (isSameBoot ? part.count(in: before) : 0, part.count(in: cursor))
            if latest < former { report("P2", "\(part.name) went back from \(former) to \(latest)") }
            let new = presses[part, default: []].indices.filter { place in
                guard let press = presses[part]?[place], press.bootID == cursor.bootID else { return false }
                return press.counter <= latest && press.counter > former
            }
            all += new.count
            sure += new.count { presses[part]?[$0].isGone == false }
            for place in new {
                presses[part]?[place].deliveries += 1
                presses[part]?[place].isLost = false
            }
            untold[part, default: []] += new
        }
        let counted = pressCount - (pressCounts[button] ?? 0)
        if counted < sure { report("P1", "\(button) was pressed \(sure) times, and \(counted) presses were counted") }
        if counted > all { report("P2", "\(button) was pressed \(all) times, and \(counted) presses were counted") }
        handled[button] = cursor
        pressCounts[button] = pressCount
    }

    /// Expects a message for every press that has been recorded.
    private mutating func expectTold() {
        for (part, places) in untold {
            let forgotten = places.count { presses[part]?[$0].isGone == false }
            if forgotten > 0 { report("P1", "\(forgotten) presses of \(part.name) were not reported") }
        }
        untold = [:]
        if !interruptedRules.isEmpty { report("P1", "interrupted runs of \(interruptedRules) were not reported") }
        interruptedRules = []
    }

    private mutating func told(_ line: JSONValue) {
        switch line["kind"]?.stringValue {
        case "event": eventTold(line)
        case "rule" where line["outcome"] == "started": runTold(line)
        case "button" where line["state"] == "ready":
            if let button = line["id"]?.stringValue.flatMap({ ButtonID($0) }) {
                readyTimes[button, default: []].append(now)
            }
        default: break
        }
    }

    private mutating func eventTold(_ line: JSONValue) {
        guard let button = line["id"]?.stringValue.flatMap({ ButtonID($0) }), let event = line["event"]?.stringValue,
            let milliseconds = line["age_ms"]?.integerValue, let name = line["button"]?.stringValue
        else { return }
        let age = Duration.milliseconds(milliseconds)
        if event.hasPrefix("rotate") { return turnTold(button, line) }
        let part = Part(button: button, isSmall: line["part"] == "small")
        let isLate = line["queued"] == true
        // A run does not say which part of a Duo started it, so of events at one instant the youngest counts.
        let lateAge = isLate ? age : .zero
        let earlier = lateness["\(name) \(event)"].flatMap { $0.at == now ? $0.age : nil }
        lateness["\(name) \(event)"] = (now, earlier.map { min($0, lateAge) } ?? lateAge)
        switch event {
        case "down":
            let trueAges = untold[part, default: []].compactMap { presses[part]?[$0].at }.map { now - $0 }
            let tolerance = isLate ? Self.tolerance : Self.longestSilence
            // The two presses of a double click are closer to each other than the tolerance.
            let nearest = trueAges.indices.min { (trueAges[$0] - age).magnitude < (trueAges[$1] - age).magnitude }
            guard let place = nearest, (trueAges[place] - age).magnitude <= tolerance else {
                return report(
                    "P1", "a press of \(part.name) that is said to be \(milliseconds) ms old was none of \(trueAges)")
            }
            untold[part]?.remove(at: place)
            toldPresses[part, default: 0] += 1
        case "up", "battery_low": break
        default:
            if event == "hold", !openHolds.insert(part).inserted {
                report("P2", "a hold of \(part.name) was reported before the end of the previous one")
            }
            if event == "hold_release", openHolds.remove(part) == nil {
                report("P2", "a second end of a hold of \(part.name)")
            }
            let count = event == "double_click" ? 2 : event == "hold_release" ? 0 : Int(event.dropFirst(7)) ?? 1
            gestures[part, default: (0, 0, 0)].lines += 1
            gestures[part, default: (0, 0, 0)].presses += count
            // A button also reports the end of a press whose beginning is lost.
            let cutOff = presses[part, default: []].count { $0.isCutOff || $0.isGone }
            let most = toldPresses[part, default: 0] + cutOff + returns * 8
            if gestures[part, default: (0, 0, 0)].presses > most {
                report("P2", "\(part.name) has gestures with more than its \(most) presses")
            }
            // Between the lost link and the reported end of the hold, nothing was received from the button.
            guard line["reason"] != "link_lost" else { return }
            guard let moved = moved[part] else {
                return report("P2", "\(event) of \(part.name), which was not touched")
            }
            if now - moved - (isLate ? age : Self.longestSilence) > Self.gestureTime + Self.tolerance {
                report(
                    "P3",
                    "\(event) of \(part.name) is reported as \(milliseconds) ms old, and was not touched for \(now - moved)"
                )
            }
        }
    }

    /// Turns are not stored: a turn may be lost, but is never reported twice.
    private mutating func turnTold(_ button: ButtonID, _ line: JSONValue) {
        let part = Part(button: button, isSmall: line["part"] == "small")
        gestures[part, default: (0, 0, 0)].lines += 1
        guard let steps = line["steps"]?.integerValue, let position = line["position"]?.integerValue,
            let before = turned[part]
        else { return report("P2", "a turn of \(part.name), which was not turned: \(line)") }
        turned[part]?.told += Int(steps.magnitude)
        if !(0...100 ~= position) || steps == 0 { report("P2", "\(part.name) was turned by \(steps) to \(position)") }
        if before.told + Int(steps.magnitude) > before.byHand {
            report("P2", "\(part.name) was turned by \(before.byHand), and \(before.told) and \(steps) were reported")
        }
        if now - before.at > longestTurn(since: before.at) {
            report("P3", "\(part.name) was turned \(now - before.at) ago")
        }
    }

    /// The longest time that a turn may have taken since `start`. A far end that did nothing meanwhile delivers the turn
    /// afterwards, and the hub cannot tell that turn from a new one: turns have no time, and a far end that does nothing looks
    /// like one near which nothing happens.
    private func longestTurn(since start: Instant) -> Duration {
        let waits = stalls.map { min(now, $0.upperBound) - max(start, $0.lowerBound) }
        return Self.longestTurn + max(.zero, waits.max() ?? .zero)
    }

    // MARK: Events

    private mutating func runTold(_ line: JSONValue) {
        dimmed(line["rule"]?.stringValue)
        if let rule = line["rule"]?.stringValue, !StoryRules.hasButton(rule) {
            if line["button"] != .null { report("P3", "\(rule) ran for a button: \(line)") }
            return
        }
        guard let rule = line["rule"]?.stringValue, let name = line["button"]?.stringValue,
            let event = line["event"]?.stringValue, let button = Self.names[name]
        else { return report("P3", "a rule ran without an event: \(line)") }
        guard event != "connected" else {
            if readyTimes[button, default: []].count < 2 {
                report("P3", "\(rule) ran because \(name) was connected at the start")
            }
            return
        }
        guard let patience = StoryRules.lateness(of: rule) else { return }
        if let age = lateness["\(name) \(event)"]?.age, age > patience + .milliseconds(600) {
            report("P3", "\(rule) ran for \(event) of \(name), \(age) old")
        }
        expectMoved(name, within: patience + Self.gestureTime, "\(rule) ran")
    }

    private mutating func dimmed(_ rule: String?) {
        switch rule {
        case "kitchen_dim":
            if isDimming == true { report("P1", "the rule for the end of a hold of kitchen did not run") }
            isDimming = true
        case "kitchen_undim":
            if isDimming == false { report("P2", "the rule for the end of a hold of kitchen ran without a hold") }
            isDimming = false
        default: break
        }
    }

    private mutating func expectMoved(_ name: String, within patience: Duration, _ sentence: String) {
        let parts = Self.names[name].map(Part.all) ?? []
        let turn = parts.first.flatMap { turned[$0]?.at }.map { $0 + longestTurn(since: $0) }
        guard let moved = (parts.compactMap { moved[$0] } + [turn].compactMap(\.self)).max() else {
            return report("P3", "\(sentence), and \(name) was never touched")
        }
        if now - moved > patience + Self.longestSilence {
            report("P3", "\(sentence), and \(name) was not touched for \(now - moved)")
        }
    }

    private mutating func published(_ message: MQTTMessage) {
        if message.topicName == forbiddenTopic { report("P0", "published on \(message.topicName)") }
        let levels = message.topicName.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if message.topicName.contains(where: { "#+\u{0}".contains($0) }) || levels.contains("") {
            report("P7", "published on \(message.topicName.debugDescription)")
        }
        switch levels.first {
        case "did": ruleSaid(levels, message)
        case "tryck" where levels.count == 3 && levels[2] == "action":
            gestureSaid(levels[1], message, isSmall: false)
        case "tryck" where levels.suffix(2) == ["small", "action"]: gestureSaid(levels[1], message, isSmall: true)
        case "tryck" where levels == ["tryck", "bridge", "event"]: bridgeSaid(message)
        case "tryck": break
        default: report("P7", "published on \(message.topicName.debugDescription)")
        }
    }

    private mutating func ruleSaid(_ levels: [String], _ message: MQTTMessage) {
        guard levels.count >= 2, levels.count == 2 || levels.count == 3 && StoryRules.hasSubtopic(levels[1]) else {
            return report("P7", "published on \(message.topicName.debugDescription)")
        }
        guard let (name, patience) = StoryRules.patience(of: levels[1]) else { return }
        expectMoved(name, within: patience, "\(message.topicName) was published")
    }

    private mutating func bridgeSaid(_ message: MQTTMessage) {
        guard let event = try? JSONValue(parsing: message.payload), event["type"] == "stale_event",
            let data = event["data"], let type = data["event_type"]?.stringValue,
            let button = data["id"]?.stringValue.flatMap({ ButtonID($0) }), let sequence = data["seq"]?.integerValue,
            // A message that the broker did not acknowledge is sent again, perhaps after a later hold was published.
            type == "hold" || type == "hold_release", sequence > latestStale[button, default: -1]
        else { return }
        latestStale[button] = sequence
        let part = Part(button: button, isSmall: data["part"] == "small")
        guard type == "hold_release" else {
            // The end of the hold before was given up, because the broker was away for longer than its time to live.
            publishedHolds.remove(part)
            return
        }
        if publishedHolds.contains(part) { report("P1", "the end of a hold that was published is stale: \(data)") }
    }

    private mutating func gestureSaid(_ id: String, _ message: MQTTMessage, isSmall: Bool) {
        guard let button = ButtonID(id), let name = Self.names.first(where: { $0.value == button })?.key else { return }
        let part = Part(button: button, isSmall: isSmall)
        let gesture = String(decoding: message.payload, as: UTF8.self)
        // The end of a hold is sent again if the broker did not acknowledge it.
        let isRepeated = gesture == "hold_release" && publishedHolds.remove(part) == nil
        if !isRepeated { gestures[part, default: (0, 0, 0)].messages += 1 }
        let counts = gestures[part, default: (0, 0, 0)]
        if counts.messages > counts.lines {
            report("P2", "\(name) had \(counts.lines) gestures, and there are \(counts.messages) messages")
        }
        guard gesture != "hold_release" else { return }
        if gesture == "hold" { publishedHolds.insert(part) }
        guard let patience = StoryRules.lateness(ofButton: name) else { return }
        expectMoved(name, within: patience + Self.gestureTime + Self.tolerance, "a gesture of \(name) was published")
    }

    private mutating func started(_ request: ProcessRequest) {
        let arguments = request.arguments
        let isAsWritten =
            switch arguments.first {
            case "say": arguments.count == 4 && arguments[2] == "--" && !arguments[1].hasPrefix("-")
            case "/bin/sh": arguments.count == 5 && Array(arguments[1...3]) == ["-c", #"echo "$1""#, "sh"]
            default: false
            }
        if !isAsWritten { report("P7", "started \(arguments)") }
    }

    // MARK: The end

    /// Checks what must hold after all faults were repaired and enough time has passed.
    mutating func expectNothingLeft(_ house: Household) {
        for (name, button) in Self.names.sorted(by: { $0.key < $1.key }) {
            for press in Part.all(of: button).flatMap({ presses[$0, default: []] })
            where press.deliveries == 0 && !press.isGone {
                report("P1", "press \(press.counter) of \(name) is still in the button")
            }
        }
        for part in openHolds { report("P1", "a hold of \(part.name) has no end") }
        if isDimming == true { report("P1", "the rule for the end of a hold of kitchen never ran") }
        let underway = house.hub.underway
        if underway != Hub.Underway() { report("P6", "still in progress: \(underway)") }
        let state = house.store.state
        if !state.runs.isEmpty || !state.rules.waitingRuns.isEmpty {
            report("P1", "runs that never end: \(state.runs.map(\.rule)), \(state.rules.waitingRuns.count) wait")
        }
        for kept in state.rules.keptEvents { report("P1", "\(kept.rule) never decides what it kept of \(kept.button)") }
    }
}

/// The counts that a button keeps for the events of a part.
private struct PartMemory {
    var bootID, eventCount, acknowledged: UInt32
    var stored: [UInt32]

    init(_ memory: EventSnapshot) {
        (bootID, eventCount, acknowledged) = (memory.bootID, memory.eventCount, memory.acknowledged)
        stored = memory.stored
    }

    init(small memory: EventSnapshot) {
        (bootID, eventCount, acknowledged) = (memory.bootID, memory.smallEventCount, memory.smallAcknowledged)
        stored = memory.smallStored
    }
}

extension Witness.Part {
    fileprivate static func all(of button: ButtonID) -> [Witness.Part] {
        [Witness.Part(button: button), Witness.Part(button: button, isSmall: true)]
    }

    fileprivate var name: String { isSmall ? "\(button) small" : "\(button)" }

    fileprivate func count(in cursor: EventCursor) -> UInt32 { isSmall ? cursor.smallEventCount : cursor.eventCount }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}

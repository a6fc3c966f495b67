import ButtonModel
import Flic
import HomeAssistant
import Hub
import JSON
import Rules
import Simulator

/// Sees everything that happens to a house, and holds it against the promises.
///
/// It has its own account of what the buttons did, from the buttons themselves, and takes nothing for granted that the hub
/// says of them.
struct Witness {
    struct Problem: Hashable, CustomStringConvertible {
        var promise: String
        var sentence: String
        var at: Instant

        var description: String { "\(promise) at \(at): \(sentence)" }
    }

    /// A finger went down on a button.
    struct Press: Hashable {
        var cursor: EventCursor
        var at: Instant
        /// The hub has recorded it so often.
        var deliveries = 0
        /// The button itself does not have it any more, for want of room or because it was rebooted.
        var isGone = false
        /// What was recorded of it is not any more.
        var isLost = false
        /// The process died between the record and what was to be said of it.
        var isCutOff = false
    }

    /// As far as a time in milliseconds and the ticks of a button's clock can differ.
    private static let tolerance = Duration.milliseconds(250)
    /// What was longer on its way than a second counts as stored.
    private static let longestSilence = Duration.milliseconds(1250)
    /// From a finger's last movement to the gesture that it makes, for those that are decided last.
    static let gestureTime = Duration.milliseconds(1600)

    private(set) var problems: [Problem] = []
    /// What must not be published: for a test of the witness.
    var forbiddenTopic: String?
    private var presses: [ButtonID: [Press]] = [:]
    var secrecy = Secrecy()
    private var now = Instant(nanoseconds: 0)
    private var moved: [ButtonID: Instant] = [:]
    private var handled: [ButtonID: EventCursor] = [:]
    private var pressCounts: [ButtonID: Int64] = [:]
    /// Places in `presses` that were recorded and not told of yet.
    private var untold: [ButtonID: [Int]] = [:]
    private var toldPresses: [ButtonID: Int] = [:]
    private var gestures: [ButtonID: (lines: Int, presses: Int, messages: Int)] = [:]
    private var lateness: [String: Duration] = [:]
    private var readyTimes: [ButtonID: [Instant]] = [:]
    private var interruptedRules: [String] = []
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
            case .recordFailed: isLossKnown = true
            case .remembered(let name, let former, let memory, let onDisk):
                if let button = Self.names[name] { remembered(button, former, memory, onDisk) }
            }
        }
        expectTold()
        for violation in house.violations where !problems.contains(where: { $0.sentence == violation }) {
            report("P5", violation)
        }
    }

    mutating func report(_ promise: String, _ sentence: String) {
        problems.append(Problem(promise: promise, sentence: sentence, at: now))
    }

    // MARK: The buttons

    private mutating func remembered(
        _ button: ButtonID, _ former: EventMemory?, _ memory: EventMemory, _ onDisk: EventCursor?
    ) {
        let isSameBoot = former?.bootID == memory.bootID
        let before = isSameBoot ? former : nil
        if memory.eventCount != before?.eventCount { moved[button] = now }
        if !isSameBoot {
            for place in presses[button, default: []].indices { presses[button]?[place].isGone = true }
        }
        for counter in memory.stored where counter > before?.eventCount ?? 0 && counter % 4 == 1 {
            presses[button, default: []].append(
                Press(cursor: EventCursor(bootID: memory.bootID, eventCount: counter), at: now))
        }
        for counter in before?.stored ?? [] where !memory.stored.contains(counter) && counter > memory.acknowledged {
            let cursor = EventCursor(bootID: memory.bootID, eventCount: counter)
            if let place = presses[button]?.firstIndex(where: { $0.cursor == cursor }) {
                presses[button]?[place].isGone = true
            }
        }
        guard memory.acknowledged > before?.acknowledged ?? 0 else { return }
        guard let onDisk, onDisk.bootID == memory.bootID, onDisk.eventCount >= memory.acknowledged else {
            return report(
                "P1",
                "\(button) may forget its event \(memory.acknowledged), and the disk has \(onDisk?.eventCount ?? 0)")
        }
    }

    // MARK: The process

    private mutating func began(_ stored: StoredState) {
        handled = [:]
        pressCounts = [:]
        readyTimes = [:]
        untold = [:]
        for button in stored.buttons {
            let lost = presses[button.id, default: []].indices.filter { place in
                guard let press = presses[button.id]?[place] else { return false }
                return press.deliveries > 0 && !press.isLost && !Self.covers(button.cursor, press)
            }
            if !lost.isEmpty, !mayReturn {
                report("P2", "\(lost.count) presses of \(button.id) were recorded and are not any more")
            }
            for place in lost { presses[button.id]?[place].isLost = true }
            handled[button.id] = button.cursor
            pressCounts[button.id] = button.pressCount
        }
        if mayReturn { returns += 1 }
        mayReturn = false
        isLossKnown = false
        let waiting = Set(stored.rules.waiting.map(\.run.rawValue))
        interruptedRules = stored.runs.filter { !waiting.contains($0.id) }.map(\.rule)
    }

    private static func covers(_ cursor: EventCursor, _ press: Press) -> Bool {
        // What happened before a reboot is over.
        cursor.bootID != press.cursor.bootID || cursor.eventCount >= press.cursor.eventCount
    }

    private mutating func died(isPowerCut: Bool) {
        mayReturn = isPowerCut || isLossKnown
        for (button, places) in untold {
            for place in places { presses[button]?[place].isCutOff = true }
        }
        untold = [:]
        interruptedRules = []
    }

    // MARK: What the hub does

    private mutating func consider(_ effect: Hub.Effect) {
        secrecy.see(effect)
        switch effect {
        case .record(_, let changes):
            for case .progress(let button, let cursor, _, let count, _, _) in changes {
                progressed(button, cursor, pressCount: count)
            }
        case .tell(_, let line): told(line)
        case .publish(_, let message, _): published(message)
        case .startProcess(_, let request): started(request)
        case .log(_, let sentence):
            if let place = interruptedRules.firstIndex(where: { sentence.hasPrefix("rule \($0) was interrupted") }) {
                interruptedRules.remove(at: place)
            }
        case .setTimer, .cancelTimer, .needsEntropy, .openTransport, .closeTransport, .send, .source, .flicd, .sync,
            .subscribe, .unsubscribe, .cancelProcess, .startWebRequest, .cancelWebRequest, .loadRules, .discard,
            .readFirmware, .respond, .pressSimulated, .setLogLevel, .status, .writeMetrics, .finish:
            break
        }
    }

    private mutating func progressed(_ button: ButtonID, _ cursor: EventCursor, pressCount: Int64) {
        expectTold()
        let before = handled[button] ?? EventCursor()
        let isSameBoot = before.bootID == cursor.bootID
        if isSameBoot, cursor.eventCount < before.eventCount {
            report("P2", "\(button) went back from \(before.eventCount) to \(cursor.eventCount)")
        }
        let new = presses[button, default: []].indices.filter { place in
            guard let press = presses[button]?[place], press.cursor.bootID == cursor.bootID else { return false }
            return press.cursor.eventCount <= cursor.eventCount
                && press.cursor.eventCount > (isSameBoot ? before.eventCount : 0)
        }
        let sure = new.count { presses[button]?[$0].isGone == false }
        let counted = pressCount - (pressCounts[button] ?? 0)
        if counted < sure {
            report("P1", "\(button) was pressed \(sure) times up to \(cursor.eventCount), and \(counted) were taken")
        }
        if counted > new.count {
            report(
                "P2", "\(button) was pressed \(new.count) times up to \(cursor.eventCount), and \(counted) were taken")
        }
        for place in new {
            presses[button]?[place].deliveries += 1
            presses[button]?[place].isLost = false
        }
        untold[button, default: []] += new
        handled[button] = cursor
        pressCounts[button] = pressCount
    }

    /// Of everything recorded by now there has been a line.
    private mutating func expectTold() {
        for (button, places) in untold {
            let forgotten = places.count { presses[button]?[$0].isGone == false }
            if forgotten > 0 { report("P1", "nobody was told of \(forgotten) presses of \(button)") }
        }
        untold = [:]
        if !interruptedRules.isEmpty { report("P1", "nobody was told that \(interruptedRules) were interrupted") }
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
        let isLate = line["queued"] == true
        lateness["\(name) \(event)"] = isLate ? age : .zero
        switch event {
        case "down":
            let trueAges = untold[button, default: []].compactMap { presses[button]?[$0].at }.map { now - $0 }
            let tolerance = isLate ? Self.tolerance : Self.longestSilence
            // Two of a double click are nearer to each other than what is tolerated.
            let nearest = trueAges.indices.min { (trueAges[$0] - age).magnitude < (trueAges[$1] - age).magnitude }
            guard let place = nearest, (trueAges[place] - age).magnitude <= tolerance else {
                return report(
                    "P1", "a press of \(button) that is said to be \(milliseconds) ms old was none of \(trueAges)")
            }
            untold[button]?.remove(at: place)
            toldPresses[button, default: 0] += 1
        case "up", "battery_low": break
        default:
            let count = event == "double_click" ? 2 : event == "hold_release" ? 0 : Int(event.dropFirst(7)) ?? 1
            gestures[button, default: (0, 0, 0)].lines += 1
            gestures[button, default: (0, 0, 0)].presses += count
            // Of a press whose beginning is gone the button tells the end.
            let cutOff = presses[button, default: []].count { $0.isCutOff || $0.isGone }
            let most = toldPresses[button, default: 0] + cutOff + returns * 8
            if gestures[button, default: (0, 0, 0)].presses > most {
                report("P2", "\(button) has gestures of more than the \(most) presses there were")
            }
            guard let moved = moved[button] else { return report("P2", "\(event) of \(button), which nobody touched") }
            if now - moved - (isLate ? age : Self.longestSilence) > Self.gestureTime + Self.tolerance {
                report(
                    "P3",
                    "\(event) of \(button) is said to be \(milliseconds) ms old, and nobody touched it for \(now - moved)"
                )
            }
        }
    }

    // MARK: What the house hears

    private mutating func runTold(_ line: JSONValue) {
        guard let rule = line["rule"]?.stringValue, let name = line["button"]?.stringValue,
            let event = line["event"]?.stringValue, let button = Self.names[name]
        else { return report("P3", "a rule ran for nothing: \(line)") }
        guard event != "connected" else {
            if readyTimes[button, default: []].count < 2 {
                report("P3", "\(rule) ran since \(name) was there at the start")
            }
            return
        }
        guard let patience = StoryRules.lateness(of: rule) else { return }
        if let age = lateness["\(name) \(event)"], age > patience + .milliseconds(600) {
            report("P3", "\(rule) ran for \(event) of \(name), \(age) old")
        }
        expectMoved(name, within: patience + Self.gestureTime, "\(rule) ran")
    }

    private mutating func expectMoved(_ name: String, within patience: Duration, _ sentence: String) {
        guard let button = Self.names[name], let moved = moved[button] else {
            return report("P3", "\(sentence), and nobody ever touched \(name)")
        }
        if now - moved > patience + Self.longestSilence {
            report("P3", "\(sentence), and nobody touched \(name) for \(now - moved)")
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
        case "tryck" where levels.count == 3 && levels[2] == "action": gestureSaid(levels[1])
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

    private mutating func gestureSaid(_ id: String) {
        guard let button = ButtonID(id), let name = Self.names.first(where: { $0.value == button })?.key else { return }
        gestures[button, default: (0, 0, 0)].messages += 1
        let counts = gestures[button, default: (0, 0, 0)]
        if counts.messages > counts.lines {
            report("P2", "\(name) had \(counts.lines) gestures, and there are \(counts.messages) messages")
        }
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

    /// To be asked when everything was mended and has had its time.
    mutating func expectNothingLeft(_ house: Household) {
        for (name, button) in Self.names.sorted(by: { $0.key < $1.key }) {
            for press in presses[button, default: []] where press.deliveries == 0 && !press.isGone {
                report("P1", "press \(press.cursor.eventCount) of \(name) is still in the button")
            }
        }
        let underway = house.hub.underway
        if underway != Hub.Underway() { report("P6", "not over: \(underway)") }
        let state = house.store.state
        if !state.runs.isEmpty || !state.rules.waiting.isEmpty {
            report("P1", "runs that never end: \(state.runs.map(\.rule)), \(state.rules.waiting.count) wait")
        }
    }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}

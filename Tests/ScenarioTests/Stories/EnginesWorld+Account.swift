import ButtonModel
import Feed
import JSON
import MQTTTopics
import TestSupport

// What has become of each press.
extension EnginesWorld {
    /// What a message of a rule does.
    enum Deed: Hashable {
        /// Acts on a step of `hall`.
        case step(Press)
        /// Acts on this number of presses of a button. It is not known on which.
        case presses(ButtonID, Int)
        case holdBegins
        case holdEnds
        /// Acts on turns of `dial` by this number of steps together.
        case turns(Int)
    }

    struct Fate: Hashable {
        /// The number of actions; only of steps of `hall`.
        var actions = 0
        var isReported = false
        /// A report has arrived at the broker.
        var hasReportArrived = false
        /// The disk of its site was replaced by a copy that does not have it.
        var wentWithDisk = false
        /// How far a turn is.
        var steps = 0
    }

    struct Account {
        private(set) var fates: [Press: Fate] = [:]
        private(set) var problems: [String] = []
        /// The press in each message.
        private var places: [Place: Press] = [:]
        /// The messages in which the release of a hold is.
        private var releases: Set<Place> = []
        /// The number of presses that were acted on, or of steps of turns, for buttons whose actions do not say which.
        private(set) var acted: [ButtonID: Int] = [:]
        /// The same of actions that failed.
        private var failed: [ButtonID: Int] = [:]
        /// The last step of `hall` that was acted on.
        private var latest = 0
        /// The highest term of a claim to lead.
        private var term = 0
        /// The number of terms that have begun since a hold was told; `nil` if its end was told, or cannot be.
        private var termsSinceHold: Int?

        mutating func note(_ problem: String) { problems.append(problem) }
        mutating func made(_ press: Press, steps: Int = 0) { fates[press] = Fate(steps: steps) }
        mutating func wentWithDisk(_ press: Press) { fates[press]?.wentWithDisk = true }
        mutating func releaseWentWithDisk() { termsSinceHold = nil }

        mutating func put(_ entry: Entry, at place: Place) {
            places[place] = entry.press
            if entry.isRelease { releases.insert(place) } else { releases.remove(place) }
        }

        /// An engine claims to lead. The one that leads next ends a hold that was told, and the one after that does not know of it.
        mutating func led(in term: Int) {
            guard term > self.term else { return }
            self.term = term
            termsSinceHold = termsSinceHold.flatMap { $0 == 0 ? 1 : nil }
        }

        /// An engine reports that the message at a place may have had no effect.
        ///
        /// - Parameter hasArrived: whether the report is at the broker.
        mutating func reported(_ place: Place, hasArrived: Bool) {
            guard let press = places[place] else { return }
            // The engine that has claimed the release has perhaps ended before it could tell the end of the hold.
            if releases.contains(place) { termsSinceHold = nil }
            if hasArrived { fates[press]?.hasReportArrived = true } else { fates[press]?.isReported = true }
        }

        /// An engine sends the message of an action.
        mutating func sent(_ deed: Deed, by engine: String) {
            guard case .step(let press) = deed, fates[press]?.hasReportArrived == true else { return }
            note("\(engine) acts on \(press), which was reported")
        }

        /// The message of an action was not published, which the log says.
        mutating func failed(_ deed: Deed) {
            switch deed {
            case .step(let press): fates[press]?.isReported = true
            case .presses(let button, let count): failed[button, default: 0] += count
            case .holdBegins: failed[EnginesWorld.attic, default: 0] += 1
            case .holdEnds: termsSinceHold = nil
            case .turns(let steps): failed[EnginesWorld.dial, default: 0] += steps
            }
        }

        /// The message of an action has arrived at the broker.
        mutating func done(_ deed: Deed) {
            switch deed {
            case .step(let press):
                if fates[press] == nil { note("an action for a press that was not: \(press)") }
                fates[press, default: Fate()].actions += 1
                if press.number < latest { note("\(press) was acted on after a later one") }
                latest = press.number
            case .presses(let button, let count): acted[button, default: 0] += count
            case .holdBegins:
                acted[EnginesWorld.attic, default: 0] += 1
                termsSinceHold = 0
            case .holdEnds: termsSinceHold = nil
            case .turns(let steps): acted[EnginesWorld.dial, default: 0] += steps
            }
        }

        /// The promises that are broken, as sentences.
        ///
        /// - Parameter waiting: the presses that are still in journals.
        func broken(waiting: Set<Press>, _ features: Features) -> [String] {
            var broken = problems
            let sorted = fates.sorted { ($0.key.button, $0.key.number) < ($1.key.button, $1.key.number) }
            for (press, fate) in sorted where press.button == EnginesWorld.hall {
                if fate.actions > 1 { broken.append("\(press) was acted on \(fate.actions) times") }
                if fate.actions == 0, !fate.isReported, !fate.wentWithDisk, !waiting.contains(press) {
                    broken.append("\(press) was neither acted on, nor reported, nor is it in the journal")
                }
            }
            // Of these it is known only how many were acted on.
            for button in [EnginesWorld.attic, EnginesWorld.stair, EnginesWorld.dial] {
                let all = sorted.filter { $0.key.button == button }
                func count(_ presses: [(key: Press, value: Fate)]) -> Int {
                    button == EnginesWorld.dial ? presses.reduce(0) { $0 + $1.value.steps } : presses.count
                }
                let rest = all.filter { $0.value.isReported || $0.value.wentWithDisk || waiting.contains($0.key) }
                let acted = acted[button] ?? 0
                let name = EnginesWorld.names[button] ?? ""
                if acted > count(all) {
                    broken.append("\(name): \(acted) were acted on, and there were \(count(all))")
                }
                if acted + (failed[button] ?? 0) + count(rest) < count(all) {
                    broken.append(
                        "\(name): of \(count(all)), \(acted) were acted on, \(failed[button] ?? 0) failed, and \(count(rest)) "
                            + "were reported, or are in the journal or lost with a disk")
                }
            }
            if termsSinceHold != nil, features.contains(.ends) { broken.append("a hold was told, and its end was not") }
            return broken
        }
    }

    /// What a message does; `nil` if it is no action.
    func deed(_ message: MQTTMessage, _ engine: Engine) -> Deed? {
        guard message.topicName == "lamp/hall" else { return Self.deed(message.topicName, message.payload) }
        let press = engine.claims[Self.hall].flatMap { engine.presses[$0] }
        return .step(press ?? Press(button: Self.hall, number: 0))
    }

    private static func deed(_ topicName: String, _ payload: [UInt8]) -> Deed? {
        let text = String(decoding: payload, as: UTF8.self)
        switch topicName {
        case "lamp/hall": return Int(text).map { .step(Press(button: hall, number: $0)) }
        case "lamp/dial": return Int(text).map { .turns($0) }
        case "lamp/attic", "lamp/stair":
            let button = topicName == "lamp/attic" ? attic : stair
            switch text {
            case "click", "swipe_right": return .presses(button, 1)
            case "double_click": return .presses(button, 2)
            case "hold": return .holdBegins
            case "hold_release": return .holdEnds
            default: return nil
            }
        default: return nil
        }
    }

    /// A message has arrived at the broker.
    mutating func arrived(_ message: SimulatedBroker.Message) {
        if let deed = Self.deed(message.topicName, message.payload) { account.done(deed) }
        if message.topicName.hasSuffix("/bridge/event") {
            for place in Self.reportedPlaces(message.payload) { account.reported(place, hasArrived: true) }
        }
    }

    /// An engine publishes an event, which may report messages that are not repeated.
    mutating func reported(_ payload: [UInt8]) {
        for place in Self.reportedPlaces(payload) { account.reported(place, hasArrived: false) }
    }

    private static func reportedPlaces(_ payload: [UInt8]) -> [Place] {
        guard let event = try? JSONValue(parsing: payload), event["type"] == "interrupted", let data = event["data"],
            let site = data["site"]?.stringValue, let installation = data["installation"]?.stringValue,
            let button = names.keys.first(where: { data["button"]?.stringValue == $0.description }),
            let first = data["first_n"]?.integerValue, let last = data["last_n"]?.integerValue, first <= last
        else { return [] }
        return (Int(first)...Int(last)).map {
            Place(site: site, installation: installation, button: button, number: $0)
        }
    }
}

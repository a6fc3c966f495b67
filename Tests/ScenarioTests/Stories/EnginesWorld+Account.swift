import ButtonModel
import Feed
import JSON
import MQTTTopics
import TestSupport

// What has become of each press.
extension EnginesWorld {
    /// What a message of a rule does.
    enum Deed: Hashable {
        case acts([Press])
        /// Acts on a press and the one before it.
        case doubleClick(Press)
        case holdBegins(Press)
        case holdEnds

        /// The presses that the engine has certainly received.
        var presses: [Press] {
            switch self {
            case .acts(let presses): presses
            case .doubleClick(let press), .holdBegins(let press): [press]
            case .holdEnds: []
            }
        }

        /// The first press of a double click.
        var first: Press? {
            guard case .doubleClick(var press) = self else { return nil }
            press.number -= 1
            return press
        }

        /// The payload with which the message reaches the lamp, so that the lamp learns which presses it was.
        var payload: [UInt8] {
            let words: [String] =
                switch self {
                case .acts(let presses): ["acts"] + presses.map { String($0.number) }
                case .doubleClick(let press): ["double_click", String(press.number)]
                case .holdBegins(let press): ["hold", String(press.number)]
                case .holdEnds: ["hold_release"]
                }
            return Array(words.joined(separator: " ").utf8)
        }

        init?(_ payload: [UInt8], with button: ButtonID) {
            let words = String(decoding: payload, as: UTF8.self).split(separator: " ")
            let presses = words.dropFirst().compactMap { Int($0) }.map { Press(button: button, number: $0) }
            switch (words.first, presses.first) {
            case ("acts", _): self = .acts(presses)
            case ("double_click", let press?): self = .doubleClick(press)
            case ("hold", let press?): self = .holdBegins(press)
            case ("hold_release", _): self = .holdEnds
            default: return nil
            }
        }
    }

    struct Fate: Hashable {
        var actions = 0
        /// An action of it was not published, which the log says.
        var hasFailed = false
        /// A report has arrived at the broker.
        var isReported = false
        /// The disk of its site was replaced by a copy that does not have all of it.
        var wentWithDisk = false
    }

    struct Account {
        private(set) var fates: [Press: Fate] = [:]
        private(set) var problems: [String] = []
        /// The press in each message.
        private var places: [Place: Press] = [:]
        /// The messages in which the release of a hold is.
        private var releases: Set<Place> = []
        /// The last step of `hall` that was acted on.
        private var latest = 0
        /// The highest term of a claim to lead.
        private var term = 0
        /// The number of terms that have begun since a hold was told; `nil` if its end was told, or cannot be.
        private var termsSinceHold: Int?
        /// The presses that are holds by the button's own account. An engine also tells a hold if the release of another press is late. The
        /// engine that leads next reports this press, and the release does not say that it ends a hold.
        private var holds: Set<Press> = []
        /// The hold that was told last.
        private var hold: Press?
        /// The holds whose releases were lost with a disk, perhaps while the message of the hold was still on its way to an engine.
        private var holdsWithoutRelease: Set<Press> = []

        mutating func note(_ problem: String) { problems.append(problem) }
        mutating func made(_ press: Press) { fates[press] = Fate() }
        mutating func isHold(_ press: Press) { holds.insert(press) }
        mutating func wentWithDisk(_ press: Press) { fates[press]?.wentWithDisk = true }

        mutating func releaseWentWithDisk(of hold: Press) {
            holdsWithoutRelease.insert(hold)
            if hold == self.hold { termsSinceHold = nil }
        }

        mutating func put(_ entry: Entry, at place: Place) {
            places[place] = entry.press
            if entry.isRelease { releases.insert(place) } else { releases.remove(place) }
        }

        /// An engine claims to lead. The one that leads next ends a hold that was told if the button says that it is one, and the one
        /// after that does not know of it.
        mutating func led(in term: Int) {
            guard term > self.term else { return }
            self.term = term
            let isHold = hold.map { holds.contains($0) } ?? false
            termsSinceHold = termsSinceHold.flatMap { $0 == 0 && isHold ? 1 : nil }
        }

        /// An engine reports that the message at a place may have had no effect, and the report has not arrived yet.
        mutating func reports(_ place: Place) {
            // The engine that has claimed the release has perhaps ended before it could tell the end of the hold.
            if releases.contains(place) { termsSinceHold = nil }
        }

        /// A report about the message at a place has arrived at the broker.
        mutating func reported(_ place: Place) {
            reports(place)
            if let press = places[place] { fates[press]?.isReported = true }
        }

        /// The press in a message.
        func press(at place: Place) -> Press? { places[place] }

        /// An engine sends the message of an action.
        mutating func sent(_ deed: Deed, by engine: String, _ features: Features) {
            for press in deed.presses where fates[press]?.isReported == true {
                let isGesture = press.button == EnginesWorld.attic || press.button == EnginesWorld.stair
                guard features.contains(isGesture ? .gestureOrder : .order) else { continue }
                note("\(engine) acts on \(press), which was reported")
            }
        }

        /// The message of an action was not published, which the log says.
        mutating func failed(_ deed: Deed) {
            for press in deed.presses { fates[press]?.hasFailed = true }
            if let first = deed.first { fates[first]?.hasFailed = true }
            if deed == .holdEnds { termsSinceHold = nil }
        }

        /// The message of an action has arrived at the broker.
        mutating func done(_ deed: Deed) {
            for press in deed.presses { acted(on: press) }
            // By the verdict of the button, an engine tells a double click of which it has received only the second press. The first
            // one is reported then.
            if let first = deed.first, let fate = fates[first], !fate.isReported, !fate.hasFailed {
                acted(on: first)
            }
            switch deed {
            case .acts, .doubleClick: break
            case .holdBegins(let press):
                hold = press
                termsSinceHold = holdsWithoutRelease.contains(press) ? nil : 0
            case .holdEnds: termsSinceHold = nil
            }
        }

        private mutating func acted(on press: Press) {
            if fates[press] == nil { note("an action for a press that was not: \(press)") }
            fates[press, default: Fate()].actions += 1
            guard press.button == EnginesWorld.hall else { return }
            if press.number < latest { note("\(press) was acted on after a later one") }
            latest = press.number
        }

        /// The promises that are broken, as sentences.
        ///
        /// - Parameter waiting: the presses that are still in journals.
        func broken(waiting: Set<Press>, _ features: Features) -> [String] {
            var broken = problems
            for (press, fate) in fates.sorted(by: { ($0.key.button, $0.key.number) < ($1.key.button, $1.key.number) }) {
                if fate.actions > 1 { broken.append("\(press) was acted on \(fate.actions) times") }
                if fate.actions == 0, !fate.isReported, !fate.hasFailed, !fate.wentWithDisk, !waiting.contains(press) {
                    broken.append("\(press) was neither acted on, nor reported, nor is it in the journal")
                }
            }
            if termsSinceHold != nil, features.contains(.ends) { broken.append("a hold was told, and its end was not") }
            return broken
        }
    }

    /// The buttons by the topics of their lamps.
    private static let lamps = [
        "lamp/hall": hall, "lamp/attic": attic, "lamp/stair": stair, "lamp/dial": dial,
    ]

    /// What a message that an engine publishes does; `nil` if it is no action.
    ///
    /// A message about a `down` of `attic` or `stair` is none. It follows on the claim of the press, and says to which press the next
    /// gestures of this part of the button belong, because no gesture is decided after the `down` of a later press. A gesture of which
    /// the engine has not received the `down` is decided by the last message that it has claimed.
    mutating func deed(_ message: MQTTMessage, _ index: Int) -> Deed? {
        guard let button = Self.lamps[message.topicName] else { return nil }
        let text = String(decoding: message.payload, as: UTF8.self)
        if button == Self.dial { return Int(text).map { .acts(pad.turns(ofSum: $0)) } }
        let unknown = Press(button: button, number: 0)
        let claimed = engines[index].claims[button].flatMap { engines[index].presses[$0] } ?? unknown
        if button == Self.hall { return .acts([claimed]) }
        let words = text.split(separator: " ").map(String.init)
        let source = "\(message.topicName) \(words.dropFirst().joined())"
        let begun = engines[index].begun[source] ?? claimed
        switch words.first {
        case "down": engines[index].begun[source] = claimed
        case "click", "swipe_right": return .acts([begun])
        case "double_click": return .doubleClick(begun)
        case "hold": return .holdBegins(begun)
        case "hold_release": return .holdEnds
        default: break
        }
        return nil
    }

    /// A message has arrived at the broker.
    mutating func arrived(_ message: SimulatedBroker.Message) {
        if let button = Self.lamps[message.topicName], let deed = Deed(message.payload, with: button) {
            account.done(deed)
        }
        if message.topicName.hasSuffix("/bridge/event") {
            for place in Self.reportedPlaces(message.payload) { account.reported(place) }
        }
    }

    /// An engine publishes an event, which may report messages that are not repeated.
    mutating func reported(_ payload: [UInt8], by index: Int) {
        for place in Self.reportedPlaces(payload) {
            account.reports(place)
            // A button that was carried hastily repeats presses that were acted on or reported, and so does a copy of a disk.
            if engines[index].taken.contains(place), lives == 0, !features.contains(.hastyMoves) {
                let press = account.press(at: place)?.description ?? "message \(place.number)"
                account.note("\(engines[index].name) reports \(press) although nothing has failed since it took it")
            }
        }
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

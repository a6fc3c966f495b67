package import ButtonModel

/// The topic names of a bridge, all below one base topic. Buttons are named by address: a rename moves no topic.
package struct Topics: Hashable, Sendable {
    /// `tryck`; may have several levels.
    package var base: String

    package init(base: String) { self.base = base }

    package var bridgeState: String { base + "/bridge/state" }
    package var bridgeEvent: String { base + "/bridge/event" }
    /// The filter for everything that is asked of the bridge.
    package var requestFilter: String { base + "/bridge/request/#" }

    /// Octets of the name of a request.
    static let maximumRequestLength = 64

    /// The request a topic name stands for: `permit_join`, `button/rename`; `nil` for other topics, and for what no
    /// request is called: the answer's topic name is made of it, and must be one.
    package func request(of topicName: String) -> String? {
        let prefix = base + "/bridge/request/"
        guard topicName.hasPrefix(prefix) else { return nil }
        let name = topicName.utf8.dropFirst(prefix.utf8.count)
        let isName = name.allSatisfy { octet in
            switch octet {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
        return isName && (1...Topics.maximumRequestLength).contains(name.count) ? String(Substring(name)) : nil
    }

    package func response(to request: String) -> String { base + "/bridge/response/" + request }

    package var bridgeInfo: String { base + "/bridge/info" }
    package var bridgeDevices: String { base + "/bridge/devices" }
    package var bridgeLogging: String { base + "/bridge/logging" }

    package func status(of button: ButtonID) -> String { "\(base)/\(button)" }
    package func availability(of button: ButtonID) -> String { "\(base)/\(button)/availability" }
    package func event(of button: ButtonID, _ part: ButtonPart? = nil) -> String { level("event", of: button, part) }
    package func action(of button: ButtonID, _ part: ButtonPart? = nil) -> String { level("action", of: button, part) }
    package func raw(of button: ButtonID, _ part: ButtonPart? = nil) -> String { level("raw", of: button, part) }

    /// The small button of a Duo has topics of its own; everything else is the button's.
    private func level(_ word: String, of button: ButtonID, _ part: ButtonPart?) -> String {
        part == .small ? "\(base)/\(button)/small/\(word)" : "\(base)/\(button)/\(word)"
    }

    func set(of button: ButtonID) -> String { "\(base)/\(button)/set" }
    func request(_ name: String) -> String { "\(base)/bridge/request/\(name)" }
}

/// What is asked of one button on its own topics.
package enum ButtonTopicRequest: Hashable, Sendable {
    case set(String)
    case get(String)
}

extension Topics {
    /// Filters for everything `buttonRequest` knows.
    package var buttonFilters: [String] { ["\(base)/+/set", "\(base)/+/get"] }

    /// Octets of the word a button is asked by.
    static let maximumButtonWordLength = 64

    /// The word between base and verb, an id where somebody did it right. Never empty, never with a level or a wildcard in
    /// it; `nil`, too, for what is no button's: the bridge, rules and variables.
    package func buttonRequest(of topicName: String) -> ButtonTopicRequest? {
        guard topicName.utf8.starts(with: base.utf8) else { return nil }
        let levels = topicName.utf8.dropFirst(base.utf8.count).split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard levels.count == 3, levels[0].isEmpty, let word = Topics.buttonWord(levels[1]) else { return nil }
        return switch Substring(levels[2]) {
        case "set": .set(word)
        case "get": .get(word)
        default: nil
        }
    }

    private static func buttonWord(_ level: Substring.UTF8View) -> String? {
        let isWord = level.allSatisfy { octet in
            octet >= 0x20 && octet != 0x7F && octet != UInt8(ascii: "+") && octet != UInt8(ascii: "#")
        }
        guard isWord, (1...maximumButtonWordLength).contains(level.count) else { return nil }
        let word = String(Substring(level))
        return ["bridge", "rules", "variables"].contains(word) ? nil : word
    }
}

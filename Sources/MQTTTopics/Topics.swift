package import ButtonModel

/// The topic names of a bridge, all below one base topic. The topics of a button contain its address, so that a rename
/// does not move them.
package struct Topics: Hashable, Sendable {
    /// The base topic, such as `tryck`; it may have several levels.
    package var base: String

    package init(base: String) { self.base = base }

    package var bridgeState: String { base + "/bridge/state" }
    package var bridgeEvent: String { base + "/bridge/event" }
    /// The filter for all requests to the bridge.
    package var requestFilter: String { base + "/bridge/request/#" }

    /// The maximum length of a request's name in octets.
    static let maximumRequestLength = 64

    /// The request in a topic name, such as `permit_join` or `button/rename`. `nil` for other topics, and for a name
    /// with unexpected characters, because the name becomes part of the response topic.
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
    package var bridgePairing: String { base + "/bridge/pairing" }
    package var bridgeHealth: String { base + "/bridge/health" }
    package var bridgeRadios: String { base + "/bridge/radios" }
    package var bridgeLogging: String { base + "/bridge/logging" }

    package func status(of button: ButtonID) -> String { "\(base)/\(button)" }
    package func availability(of button: ButtonID) -> String { "\(base)/\(button)/availability" }
    package func event(of button: ButtonID, _ part: ButtonPart? = nil) -> String { level("event", of: button, part) }
    package func action(of button: ButtonID, _ part: ButtonPart? = nil) -> String { level("action", of: button, part) }
    package func raw(of button: ButtonID, _ part: ButtonPart? = nil) -> String { level("raw", of: button, part) }

    /// The small button of a Duo has its own topics; all other parts use those of the whole button.
    private func level(_ name: String, of button: ButtonID, _ part: ButtonPart?) -> String {
        part == .small ? "\(base)/\(button)/small/\(name)" : "\(base)/\(button)/\(name)"
    }

    func set(of button: ButtonID) -> String { "\(base)/\(button)/set" }
    func request(_ name: some RequestName) -> String { request(name.rawValue) }
    package func request(_ name: String) -> String { "\(base)/bridge/request/\(name)" }
}

/// A request to one button on the button's own topics. The text is the topic level that names the button.
package enum ButtonTopicRequest: Hashable, Sendable {
    case set(String)
    case get(String)
}

extension Topics {
    /// The filters for all topics that `buttonRequest(of:)` understands.
    package var buttonFilters: [String] { ["\(base)/+/set", "\(base)/+/get"] }

    /// The maximum length in octets of the topic level that names a button.
    static let maximumButtonNameLength = 64

    /// The request in a topic name, with the level between the base topic and the verb, which should be a button's id.
    /// That level is not empty and contains neither `/` nor a wildcard. `nil` for all other topics, including those of
    /// the bridge, rules and variables.
    package func buttonRequest(of topicName: String) -> ButtonTopicRequest? {
        guard topicName.utf8.starts(with: base.utf8) else { return nil }
        let levels = topicName.utf8.dropFirst(base.utf8.count).split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard levels.count == 3, levels[0].isEmpty, let name = Topics.buttonName(levels[1]) else { return nil }
        return switch Substring(levels[2]) {
        case "set": .set(name)
        case "get": .get(name)
        default: nil
        }
    }

    private static func buttonName(_ level: Substring.UTF8View) -> String? {
        let isValid = level.allSatisfy { octet in
            octet >= 0x20 && octet != 0x7F && octet != UInt8(ascii: "+") && octet != UInt8(ascii: "#")
        }
        guard isValid, (1...maximumButtonNameLength).contains(level.count) else { return nil }
        let name = String(Substring(level))
        return ["bridge", "rules", "variables"].contains(name) ? nil : name
    }
}

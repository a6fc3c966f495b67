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
    package func event(of button: ButtonID) -> String { "\(base)/\(button)/event" }
    package func action(of button: ButtonID) -> String { "\(base)/\(button)/action" }
    package func raw(of button: ButtonID) -> String { "\(base)/\(button)/raw" }
}

/// What is asked of one button on its own topics.
package enum ButtonTopicRequest: Hashable, Sendable {
    case set(String)
    case get(String)
}

extension Topics {
    /// Filters for everything `buttonRequest` knows.
    package var buttonFilters: [String] { ["\(base)/+/set", "\(base)/+/get"] }

    /// The word between base and verb, an id where somebody did it right.
    package func buttonRequest(of topicName: String) -> ButtonTopicRequest? { nil }
}

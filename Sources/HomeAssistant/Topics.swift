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

    /// The request a topic name stands for: `permit_join`, `button/rename`; `nil` for other topics.
    package func request(of topicName: String) -> String? {
        let prefix = base + "/bridge/request/"
        guard topicName.hasPrefix(prefix), topicName.utf8.count > prefix.utf8.count else { return nil }
        return String(topicName.dropFirst(prefix.count))
    }

    package func response(to request: String) -> String { base + "/bridge/response/" + request }

    package func event(of button: ButtonID) -> String { "\(base)/\(button)/event" }
    package func action(of button: ButtonID) -> String { "\(base)/\(button)/action" }
    package func raw(of button: ButtonID) -> String { "\(base)/\(button)/raw" }
}

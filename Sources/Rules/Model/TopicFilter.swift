/// An MQTT topic, in which `+` stands for one level, and `#` at the end for any number of levels.
///
/// - Source: MQTT 5.0, 4.7.
package struct TopicFilter: Hashable, Sendable {
    private let levels: [Substring]
    package let hasWildcards: Bool

    package init(_ text: String) {
        levels = text.split(separator: "/", omittingEmptySubsequences: false)
        hasWildcards = levels.contains { $0 == "+" || $0 == "#" }
    }

    /// A level with a wildcard beside other characters, or a `#` before the end; `nil` if the text is a valid filter.
    package static func misplacedLevel(of text: String) -> String? {
        let levels = text.split(separator: "/", omittingEmptySubsequences: false)
        for (index, level) in levels.enumerated() where level.contains("+") || level.contains("#") {
            guard level == "+" || level == "#" && index == levels.count - 1 else { return String(level) }
        }
        return nil
    }

    /// True if the topic is one of this filter. Wildcards at the beginning match no topic that begins with `$`, and `a/#`
    /// matches `a`.
    package func matches(_ topicName: String) -> Bool {
        let topic = topicName.split(separator: "/", omittingEmptySubsequences: false)
        if topicName.hasPrefix("$"), levels.first == "+" || levels.first == "#" { return false }
        for (index, level) in levels.enumerated() {
            if level == "#" { return true }
            guard index < topic.count, level == "+" || level == topic[index] else {
                return false
            }
        }
        return levels.count == topic.count
    }
}

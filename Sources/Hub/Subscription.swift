/// What the broker is asked to send.
package struct Subscription: Hashable, Sendable {
    package var topicFilter: String
    /// 0…2.
    package var qos: Int
    /// What we publish there ourselves does not come back, where the broker knows how (MQTT 5, 3.8.3.1: No Local).
    package var isWithoutOurs: Bool

    package init(_ topicFilter: String, qos: Int = 1, isWithoutOurs: Bool = false) {
        self.topicFilter = topicFilter
        self.qos = qos
        self.isWithoutOurs = isWithoutOurs
    }
}

/// A subscription at the broker.
package struct Subscription: Hashable, Sendable {
    package var topicFilter: String
    /// The maximum QoS, 0…2.
    package var qos: Int
    /// True if messages published by this client are not sent back (MQTT 5, 3.8.3.1, No Local). Ignored in MQTT 3.1.1.
    package var isWithoutOurs: Bool

    package init(_ topicFilter: String, qos: Int = 1, isWithoutOurs: Bool = false) {
        self.topicFilter = topicFilter
        self.qos = qos
        self.isWithoutOurs = isWithoutOurs
    }
}

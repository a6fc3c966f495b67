/// An MQTT message to publish.
package struct MQTTMessage: Hashable, Sendable {
    package var topicName: String
    package var payload: [UInt8]
    package var qos: Int
    package var retain: Bool

    package init(topicName: String, payload: [UInt8], qos: Int = 0, retain: Bool = false) {
        self.topicName = topicName
        self.payload = payload
        self.qos = qos
        self.retain = retain
    }
}

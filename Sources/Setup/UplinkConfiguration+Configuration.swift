import Hub
import Settings

extension UplinkConfiguration {
    /// `nil` if the configuration has no uplink.
    init?(_ configuration: Configuration) {
        guard let uplink = configuration.uplink else { return nil }
        self.init(
            broker: uplink.broker.configurationText, topic: uplink.topic, buttons: uplink.buttons,
            journalLength: uplink.journalLength)
    }
}

extension Configuration {
    /// `uplink:`: the broker of an engine, to which this site sends presses.
    package struct Uplink: Hashable, Sendable {
        /// The range of `journalLength`.
        package static let journalLengths = 20...50_000

        /// The address of the broker; neither `embedded` nor `none`.
        package var broker: Broker
        package var username: String?
        package var password: Password?
        package var clientIdentifier: String?
        package var tls = TLS()
        /// The base topic of the site.
        package var topic: String
        /// The names of the buttons whose presses are sent, with `*` for any characters; empty: all that no rule names.
        package var buttons: [String] = []
        /// The maximum number of messages about a button that wait for an engine.
        package var journalLength = 10_000

        package init(broker: Broker, topic: String) {
            self.broker = broker
            self.topic = topic
        }
    }
}

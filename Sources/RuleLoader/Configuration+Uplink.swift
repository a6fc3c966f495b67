extension Configuration {
    /// `uplink:`: the broker of an engine, to which this site sends presses.
    package struct Uplink: Hashable, Sendable {
        /// The numbers that `journal` may have.
        static let journalLengths = 20...50_000

        /// An address; neither `embedded` nor `none`.
        package var broker: Broker
        package var username: String?
        package var password: Password?
        package var clientIdentifier: String?
        package var tls = TLS()
        /// The base topic of the site.
        package var topic: String
        /// The names of the buttons that are sent, with `*` for any characters; empty: all that no rule names.
        package var buttons: [String] = []
        /// The most entries of a button that wait for an engine.
        package var journalLength = 10_000
    }
}

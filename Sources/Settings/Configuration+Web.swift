extension Configuration {
    /// The settings below `web:`, which tryck-web uses. The daemon uses only `url`.
    package struct Web: Hashable, Sendable {
        package enum Listen: Hashable, Sendable, CustomStringConvertible {
            case tcp(HostAndPort)
            /// A Unix socket, for a proxy.
            case unix(path: String)

            package var description: String {
                switch self {
                case .tcp(let address): "\(address)"
                case .unix(let path): "unix:\(path)"
                }
            }

            /// True if only programs of this machine can connect.
            package var isLocal: Bool {
                switch self {
                case .tcp(let address): address.isLoopback
                case .unix: true
                }
            }
        }

        package var listen = Listen.tcp(HostAndPort(host: "127.0.0.1", port: 8125))
        /// `nil`: browsers are let in by links with a token, and only loopback is listened on.
        package var password: Password?
        package var editsRules = true
        /// True if only Home Assistant's ingress is let in, which has asked for a password.
        package var trustsIngress = false
        /// Begins and ends with `/`.
        package var basePath = "/"
        /// The address under which people open the page; `nil` if nothing links to it.
        package var url: String?

        package init() {}
    }
}

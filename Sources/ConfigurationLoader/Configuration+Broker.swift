import Settings

extension Configuration.Broker {
    /// Parses the value of `broker:`.
    init?(_ text: String) {
        func rest(after prefix: String) -> String? {
            text.hasPrefix(prefix) && text.utf8.count > prefix.utf8.count ? String(text.dropFirst(prefix.count)) : nil
        }
        if text == "embedded" {
            self = .embedded
        } else if text == "none" {
            self = .none
        } else if let path = rest(after: "unix:") {
            self = .unix(path: path)
        } else if let address = rest(after: "mqtts://"), let endpoint = HostAndPort(address, defaultPort: 8883) {
            self = .tcp(host: endpoint.host, port: endpoint.port, tls: true)
        } else if let address = rest(after: "mqtt://"), let endpoint = HostAndPort(address, defaultPort: 1883) {
            self = .tcp(host: endpoint.host, port: endpoint.port, tls: false)
        } else {
            return nil
        }
    }
}

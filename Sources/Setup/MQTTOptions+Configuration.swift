package import Edges
import Feed
package import MQTTTopics
import Platform
package import Settings

extension MQTTOptions {
    /// A connection of a site or an engine receives messages about many buttons at once.
    private static let feedReceiveMaximum: UInt16 = 200

    /// The options of the configuration's `mqtt` section. Timeouts other than `keepAlive` have their default values.
    package init(
        _ configuration: Configuration, endpoint: Endpoint, clientIdentifier: String, will: MQTTMessage? = nil
    ) {
        self.init(
            endpoint: endpoint, username: configuration.mqttUsername,
            password: configuration.mqttPassword.map { MQTTPassword($0.value) }, clientIdentifier: clientIdentifier,
            keepAlive: configuration.mqttKeepAlive, protocolVersion: configuration.mqttVersion == .v5 ? .v5 : .v311,
            will: will)
        // A stand-by takes over when the broker publishes the will of a dead leader, so the broker has to notice its death
        // soon.
        if !configuration.sites.isEmpty {
            keepAlive = min(keepAlive, EnginePatience(configuration.enginePatience).keepAlive)
            reportsExpiry = true
            receiveMaximum = Self.feedReceiveMaximum
        }
    }
}

extension MQTTOptions {
    /// The options of the configuration's `uplink` section.
    ///
    /// - Parameter directory: the base of relative paths in the configuration.
    package init?(
        _ uplink: Configuration.Uplink, in directory: String, installationID: String, will: MQTTMessage?
    ) {
        guard let endpoint = Endpoint(uplink.broker, uplink.tls, in: directory) else { return nil }
        self.init(
            endpoint: endpoint, username: uplink.username,
            password: uplink.password.map { MQTTPassword($0.value) },
            clientIdentifier: uplink.clientIdentifier ?? "tryck_uplink_" + installationID, will: will)
        receiveMaximum = Self.feedReceiveMaximum
    }
}

extension MQTTOptions.Endpoint {
    /// The broker's address; `nil` for the embedded broker, and for none.
    ///
    /// - Parameter directory: the base of relative paths in the configuration.
    package init?(_ configuration: Configuration, in directory: String) {
        self.init(configuration.broker, configuration.tls, in: directory)
    }

    init?(_ broker: Configuration.Broker, _ tls: Configuration.TLS, in directory: String) {
        func path(_ path: String?) -> String? { path.map { resolve($0, in: directory) } }
        switch broker {
        case .none, .embedded: return nil
        case .unix(let path): self = .unix(path: resolve(path, in: directory))
        case .tcp(let host, let port, tls: false): self = .tcp(host: host, port: UInt16(clamping: port))
        case .tcp(let host, let port, tls: true):
            self = .tls(
                host: host, port: UInt16(clamping: port),
                MQTTTransportSecurity(
                    certificateAuthorityPath: path(tls.authorityPath), certificatePath: path(tls.certificatePath),
                    keyPath: path(tls.keyPath), isInsecure: tls.isInsecure))
        }
    }
}

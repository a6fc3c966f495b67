import Rules

extension Configuration {
    /// The keys whose values differ from those of `before`, as paths such as `mqtt.tls.ca`, in the order of the fields.
    package func keys(changedSince before: Configuration) -> [String] {
        var keys: [String] = []
        func compare(_ key: String, _ value: (Configuration) -> some Equatable) {
            if value(self) != value(before) { keys.append(key) }
        }
        compare("radios", \.radios)
        compare("bluetooth.transport", \.transport)
        compare("bluetooth.trust_roots", \.trustRoots)
        compare("bluetooth.max_connections", \.maximumConnections)
        compare("mqtt.broker", \.broker)
        compare("mqtt.username", \.mqttUsername)
        compare("mqtt.password", \.mqttPassword)
        compare("mqtt.client_id", \.mqttClientIdentifier)
        compare("mqtt.keep_alive", \.mqttKeepAlive)
        compare("mqtt.protocol", \.mqttVersion)
        compare("mqtt.tls.ca", \.tls.authorityPath)
        compare("mqtt.tls.certificate", \.tls.certificatePath)
        compare("mqtt.tls.key", \.tls.keyPath)
        compare("mqtt.tls.insecure", \.tls.isInsecure)
        compare("mqtt.base_topic", \.baseTopic)
        compare("homeassistant.discovery", \.homeAssistantDiscovery)
        compare("homeassistant.prefix", \.homeAssistantPrefix)
        compare("homeassistant.status_topic", \.homeAssistantStatusTopic)
        compare("rules", \.rulesPath)
        compare("state_directory", \.stateDirectory)
        compare("control_socket", \.controlSocket)
        compare("flicd.listen", \.flicdListen)
        compare("sources") { Sources(flicds: $0.sources, sites: $0.sites, share: $0.share) }
        compare("engine.name", \.engineName)
        compare("engine.patience", \.enginePatience)
        compare("uplink", \.uplink)
        for kind in StepKind.allCases { compare("actions.\(kind.rawValue)") { $0.forbiddenSteps.contains(kind) } }
        compare("control.mqtt", \.control)
        compare("log.level", \.logLevel)
        compare("log.format", \.logFormat)
        compare("metrics.textfile", \.metricsTextfile)
        compare("history", \.history)
        compare("history_size", \.historySize)
        return keys
    }
}

private struct Sources: Equatable {
    var flicds: [HostAndPort]
    var sites: [String]
    var share: Configuration.Share?
}

package import ButtonModel
package import JSON

/// The payload of the retained topic `bridge/info`.
package struct BridgeStatus: Hashable, Sendable {
    package struct Adapter: Hashable, Sendable {
        /// The transport in the notation of the configuration, such as `hci:0` or `none`.
        package var transport: String
        package var address: BluetoothAddress?
        /// The state of the controller, such as `powered_on`.
        package var state: String
        package var isPowered: Bool
        /// True if other programs use the adapter, too, through BlueZ.
        package var isShared: Bool
        /// Why there is no adapter, as a sentence for users; `nil` if it works, is being opened, or is not configured.
        package var problem: String?

        package init(
            transport: String, address: BluetoothAddress?, state: String, isPowered: Bool,
            isShared: Bool = false, problem: String? = nil
        ) {
            self.transport = transport
            self.address = address
            self.state = state
            self.isPowered = isPowered
            self.isShared = isShared
            self.problem = problem
        }
    }

    package struct Source: Hashable, Sendable {
        /// The URL in the notation of the configuration: `flicd://host:5551`.
        package var name: String
        /// The state of the flicd's Bluetooth controller; `nil` if the flicd is not connected.
        package var state: String?

        package init(name: String, state: String?) {
            self.name = name
            self.state = state
        }
    }

    package var version: String
    package var commit: String
    package var adapter: Adapter
    /// The number of radios in the configuration, and of those that are ready.
    package var radioCount: Int
    package var readyRadioCount: Int
    package var sources: [Source]
    /// When the search for new buttons ends; `nil` if there is none.
    package var permitJoinEnd: UTCTime?
    /// The minimum level of log lines, such as `info`.
    package var logLevel: String
    /// Public keys that are trusted besides Flic's own.
    package var trustRoots: [String]
    package var buttonCount: Int
    package var ruleCount: Int
    /// The number of errors in the rules on disk.
    package var ruleErrorCount: Int

    package init(
        version: String, commit: String, adapter: Adapter, radioCount: Int = 1, readyRadioCount: Int = 1,
        sources: [Source] = [], permitJoinEnd: UTCTime? = nil,
        logLevel: String,
        trustRoots: [String] = [], buttonCount: Int, ruleCount: Int, ruleErrorCount: Int = 0
    ) {
        self.version = version
        self.commit = commit
        self.adapter = adapter
        self.radioCount = radioCount
        self.readyRadioCount = readyRadioCount
        self.sources = sources
        self.permitJoinEnd = permitJoinEnd
        self.logLevel = logLevel
        self.trustRoots = trustRoots
        self.buttonCount = buttonCount
        self.ruleCount = ruleCount
        self.ruleErrorCount = ruleErrorCount
    }

    package var json: JSONValue {
        [
            "version": .string(version), "commit": .string(commit), "adapter": adapter.json,
            "radios": .integer(Int64(radioCount)), "radios_ready": .integer(Int64(readyRadioCount)),
            "sources": .array(sources.map(\.json)),
            "permit_join": .bool(permitJoinEnd != nil),
            "permit_join_end": permitJoinEnd.map { .string($0.description) } ?? .null,
            "log_level": .string(logLevel), "trust_roots": .array(trustRoots.map(JSONValue.string)),
            "buttons": .integer(Int64(buttonCount)),
            "rules": ["loaded": .integer(Int64(ruleCount)), "errors": .integer(Int64(ruleErrorCount))],
        ]
    }
}

extension BridgeStatus.Source {
    fileprivate var json: JSONValue {
        [
            "url": .string(name), "connected": .bool(state != nil),
            "adapter": .string(state ?? "unknown"),
        ]
    }
}

extension BridgeStatus.Adapter {
    fileprivate var json: JSONValue {
        [
            "id": .string(id), "address": address.map { .string($0.description) } ?? .null, "state": .string(state),
            "powered": .bool(isPowered), "shared": .bool(isShared), "problem": problem.map { .string($0) } ?? .null,
        ]
    }

    /// The name of an adapter in Linux: `hci0` for `hci:0`. Other transports keep their name in the configuration.
    private var id: String {
        let scheme = "hci:"
        return transport.hasPrefix(scheme) ? "hci" + transport.dropFirst(scheme.count) : transport
    }
}

/// An entry of the array on `bridge/devices`.
package struct ListedButton: Hashable, Sendable {
    package var identity: ButtonIdentity
    package var name: String
    /// The configured trigger mode, or `auto`.
    package var triggerMode: String
    /// The trigger mode in effect; `raw` if none recognises what the rules need.
    package var effectiveTriggerMode: String
    /// `nil` for a Twist, which has no latency mode.
    package var latencyMode: LatencyMode?
    /// The URL of the flicd that has the button, as in the configuration; `nil` for the bridge's own adapter.
    package var source: String?
    package var pairedAt: UTCTime

    package init(
        identity: ButtonIdentity, name: String, triggerMode: String, effectiveTriggerMode: String,
        latencyMode: LatencyMode?, source: String? = nil, pairedAt: UTCTime
    ) {
        self.identity = identity
        self.name = name
        self.triggerMode = triggerMode
        self.effectiveTriggerMode = effectiveTriggerMode
        self.latencyMode = latencyMode
        self.source = source
        self.pairedAt = pairedAt
    }

    package var json: JSONValue {
        [
            "id": .string(identity.id.description), "address": .string(identity.address.description),
            "uuid": .string(identity.uuid), "name": .string(name), "nickname": .string(identity.nickname),
            "serial": .string(identity.serial), "model": .string(identity.model.productName),
            "firmware": .integer(Int64(identity.firmwareVersion)),
            "modes": [
                "trigger_mode": .string(triggerMode), "effective_trigger_mode": .string(effectiveTriggerMode),
                "latency_mode": latencyMode.map { .string($0.rawValue) } ?? .null,
            ],
            "source": source.map { .string($0) } ?? .null, "paired_at": .string(pairedAt.description),
        ]
    }
}

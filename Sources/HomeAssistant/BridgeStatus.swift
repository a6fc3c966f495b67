package import ButtonModel
package import JSON

/// What is retained on `bridge/info`.
package struct BridgeStatus: Hashable, Sendable {
    package struct Adapter: Hashable, Sendable {
        /// As the configuration says it: `hci:0`, `none`.
        package var transport: String
        package var address: BluetoothAddress?
        /// A controller state, `powered_on`.
        package var state: String
        package var isPowered: Bool

        package init(transport: String, address: BluetoothAddress?, state: String, isPowered: Bool) {
            self.transport = transport
            self.address = address
            self.state = state
            self.isPowered = isPowered
        }
    }

    package var version: String
    package var commit: String
    package var adapter: Adapter
    /// Until when new buttons are looked for; `nil`: they are not.
    package var permitJoinEnd: UTCTime?
    /// `info`.
    package var logLevel: String
    /// Keys that are trusted besides Flic's own.
    package var trustRoots: [String]
    package var buttonCount: Int
    package var ruleCount: Int
    /// Of the rules on disk.
    package var ruleErrorCount: Int

    package init(
        version: String, commit: String, adapter: Adapter, permitJoinEnd: UTCTime? = nil, logLevel: String,
        trustRoots: [String] = [], buttonCount: Int, ruleCount: Int, ruleErrorCount: Int = 0
    ) {
        self.version = version
        self.commit = commit
        self.adapter = adapter
        self.permitJoinEnd = permitJoinEnd
        self.logLevel = logLevel
        self.trustRoots = trustRoots
        self.buttonCount = buttonCount
        self.ruleCount = ruleCount
        self.ruleErrorCount = ruleErrorCount
    }

    package var json: JSONValue { .object([]) }
}

/// One entry of the array on `bridge/devices`.
package struct ListedButton: Hashable, Sendable {
    package var identity: ButtonIdentity
    package var name: String
    /// What was chosen: a trigger mode, or `auto`.
    package var triggerMode: String
    package var latencyMode: LatencyMode
    package var pairedAt: UTCTime

    package init(
        identity: ButtonIdentity, name: String, triggerMode: String, latencyMode: LatencyMode, pairedAt: UTCTime
    ) {
        self.identity = identity
        self.name = name
        self.triggerMode = triggerMode
        self.latencyMode = latencyMode
        self.pairedAt = pairedAt
    }

    package var json: JSONValue { .object([]) }
}

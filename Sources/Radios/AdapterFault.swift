/// The kind of a fault that makes an adapter unusable, as MQTT and `status` show it. A sentence beside it has the details.
package enum AdapterFault: String, CaseIterable, Hashable, Sendable {
    /// There is no adapter, or it is in use, switched off or out of reach.
    case absent
    /// The adapter was open and failed; it is being reset.
    case failed
    /// The adapter or the kernel lacks something that Tryck needs.
    case unsupported
    /// The process has no permission to open the adapter.
    case unauthorized
    /// An ESPHome proxy and the configuration have different keys.
    case wrongKey = "wrong_key"
    /// Another client uses the Bluetooth of an ESPHome proxy.
    case taken
    /// The device is no ESPHome proxy that connects to Bluetooth devices.
    case notAProxy = "not_a_proxy"
    /// The proxy hears no Bluetooth device any more.
    case deaf
    /// The proxy has ended the connection, as it does before it restarts.
    case restarting

    /// True if the fault lasts until a person changes something.
    package var isLasting: Bool {
        switch self {
        case .wrongKey, .notAProxy, .unsupported, .unauthorized: true
        case .absent, .failed, .taken, .deaf, .restarting: false
        }
    }
}

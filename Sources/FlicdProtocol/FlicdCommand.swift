package import ButtonModel

/// What a client asks of a flicd.
///
/// Ids are chosen by the client, any 32 bits, and count for its own TCP connection only; those of scanners, channels,
/// wizards and listeners are four different kinds.
///
/// - Source: flicd notes, "Commands".
package enum FlicdCommand: Hashable, Sendable {
    case getInfo
    case createScanner(id: UInt32)
    case removeScanner(id: UInt32)
    case createConnectionChannel(id: UInt32, BluetoothAddress, FlicdChannelMode)
    case removeConnectionChannel(id: UInt32)
    case forceDisconnect(BluetoothAddress)
    case changeModeParameters(id: UInt32, FlicdChannelMode)
    case ping(id: UInt32)
    case getButtonInfo(BluetoothAddress)
    case createScanWizard(id: UInt32)
    case cancelScanWizard(id: UInt32)
    case deleteButton(BluetoothAddress)
    case createBatteryStatusListener(id: UInt32, BluetoothAddress)
    case removeBatteryStatusListener(id: UInt32)
    case other(opcode: UInt8)
}

/// What a channel wishes of its button's link.
package struct FlicdChannelMode: Hashable, Sendable {
    package var latencyMode: LatencyMode
    /// Seconds without a press, 0…510; `nil`: never (511 and more on the wire).
    package var autoDisconnectTime: UInt16?

    package init(latencyMode: LatencyMode = .normal, autoDisconnectTime: UInt16? = nil) {
        self.latencyMode = latencyMode
        self.autoDisconnectTime = autoDisconnectTime
    }
}

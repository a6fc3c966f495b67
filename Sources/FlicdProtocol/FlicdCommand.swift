package import ButtonModel

/// A command from a client to a flicd.
///
/// Ids are arbitrary 32-bit numbers chosen by the client, unique on its TCP connection. Scanners, channels, wizards and
/// battery listeners have separate id spaces.
///
/// - Source: flicd notes, 3.
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

/// The connection parameters that a channel requests for its button.
package struct FlicdChannelMode: Hashable, Sendable {
    package var latencyMode: LatencyMode
    /// Seconds without a press until the button disconnects, 0…510; `nil`: never (511 and more on the wire).
    package var autoDisconnectTime: UInt16?

    package init(latencyMode: LatencyMode = .normal, autoDisconnectTime: UInt16? = nil) {
        self.latencyMode = latencyMode
        self.autoDisconnectTime = autoDisconnectTime
    }
}

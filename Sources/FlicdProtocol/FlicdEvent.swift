package import ButtonModel

/// An event from a flicd to its clients.
///
/// - Source: flicd notes, 4.
package enum FlicdEvent: Hashable, Sendable {
    case advertisementPacket(scanID: UInt32, FlicdAdvertisement)
    case createConnectionChannelResponse(id: UInt32, error: FlicdChannelError, FlicdConnectionStatus)
    case connectionStatusChanged(id: UInt32, FlicdConnectionStatus, reason: FlicdDisconnectReason)
    case connectionChannelRemoved(id: UInt32, FlicdRemovedReason)
    case button(id: UInt32, FlicdFamily, FlicdClickType, wasQueued: Bool, timeDifference: UInt32)
    case newVerifiedButton(BluetoothAddress)
    case getInfoResponse(FlicdInfo)
    case noSpaceForNewConnection(maximum: UInt8)
    case gotSpaceForNewConnection(maximum: UInt8)
    case bluetoothControllerStateChange(FlicdControllerState)
    case pingResponse(id: UInt32)
    case getButtonInfoResponse(FlicdButtonInfo)
    case scanWizardFoundPrivateButton(id: UInt32)
    case scanWizardFoundPublicButton(id: UInt32, BluetoothAddress, name: String)
    case scanWizardButtonConnected(id: UInt32)
    case scanWizardCompleted(id: UInt32, FlicdScanWizardResult)
    case buttonDeleted(BluetoothAddress, byThisClient: Bool)
    /// `percentage`: 0…100, `nil` if unknown. `timestamp`: seconds since 1970 UTC.
    case batteryStatus(id: UInt32, percentage: Int8?, timestamp: Int64)
    case other(opcode: UInt8)
}

package enum FlicdChannelError: UInt8, CaseIterable, Hashable, Sendable {
    case noError, maxPendingConnectionsReached
}

package enum FlicdConnectionStatus: UInt8, CaseIterable, Hashable, Sendable {
    case disconnected, connected, ready
}

package enum FlicdDisconnectReason: UInt8, CaseIterable, Hashable, Sendable {
    case unspecified, connectionEstablishmentFailed, timedOut, bondingKeysMismatch
}

package enum FlicdRemovedReason: UInt8, CaseIterable, Hashable, Sendable {
    case removedByThisClient, forceDisconnectedByThisClient, forceDisconnectedByOtherClient
    case buttonIsPrivate, verifyTimeout, internetBackendError, invalidData, couldntLoadDevice
    case deletedByThisClient, deletedByOtherClient, buttonBelongsToOtherPartner, deletedFromButton
}

/// The four types of button events, with their opcodes. flicd reports each press in all of them.
package enum FlicdFamily: UInt8, CaseIterable, Hashable, Sendable {
    case upOrDown = 4
    case clickOrHold, singleOrDoubleClick, singleOrDoubleClickOrHold
}

package enum FlicdClickType: UInt8, CaseIterable, Hashable, Sendable {
    case buttonDown, buttonUp, buttonClick, buttonSingleClick, buttonDoubleClick, buttonHold
}

package enum FlicdControllerState: UInt8, CaseIterable, Hashable, Sendable {
    case detached, resetting, attached
}

package enum FlicdScanWizardResult: UInt8, CaseIterable, Hashable, Sendable {
    case success, cancelledByUser, failedTimeout, buttonIsPrivate, bluetoothUnavailable, internetBackendError
    case invalidData, buttonBelongsToOtherPartner, buttonAlreadyConnectedToOtherDevice
}

package struct FlicdAdvertisement: Hashable, Sendable {
    package var address: BluetoothAddress
    /// The advertised name, at most 16 octets of UTF-8.
    package var name: String
    /// In dBm; -127 means unknown.
    package var rssi: Int8
    package var isPrivate: Bool
    package var isAlreadyVerified: Bool
    package var isConnectedToThisDevice: Bool
    package var isConnectedToOtherDevice: Bool

    package init(
        address: BluetoothAddress, name: String, rssi: Int8, isPrivate: Bool, isAlreadyVerified: Bool,
        isConnectedToThisDevice: Bool = false, isConnectedToOtherDevice: Bool = false
    ) {
        self.address = address
        self.name = name
        self.rssi = rssi
        self.isPrivate = isPrivate
        self.isAlreadyVerified = isAlreadyVerified
        self.isConnectedToThisDevice = isConnectedToThisDevice
        self.isConnectedToOtherDevice = isConnectedToOtherDevice
    }
}

package struct FlicdInfo: Hashable, Sendable {
    package var controllerState: FlicdControllerState
    package var address: BluetoothAddress
    package var maxPendingConnections: UInt8
    /// `nil` if unknown.
    package var maxConcurrentlyConnectedButtons: Int16?
    package var currentPendingConnections: UInt8
    package var hasNoSpace: Bool
    package var verifiedButtons: [BluetoothAddress]

    package init(
        controllerState: FlicdControllerState, address: BluetoothAddress, maxPendingConnections: UInt8,
        maxConcurrentlyConnectedButtons: Int16?, currentPendingConnections: UInt8, hasNoSpace: Bool,
        verifiedButtons: [BluetoothAddress]
    ) {
        self.controllerState = controllerState
        self.address = address
        self.maxPendingConnections = maxPendingConnections
        self.maxConcurrentlyConnectedButtons = maxConcurrentlyConnectedButtons
        self.currentPendingConnections = currentPendingConnections
        self.hasNoSpace = hasNoSpace
        self.verifiedButtons = verifiedButtons
    }
}

package struct FlicdButtonInfo: Hashable, Sendable {
    package var address: BluetoothAddress
    /// 32 lower-case hexadecimal digits; empty if unknown.
    package var uuid: String
    /// `color` and `serial` have at most 16 octets each.
    package var color: String
    package var serial: String
    /// 1 or 2; 0 if unknown.
    package var flicVersion: UInt8
    package var firmwareVersion: UInt32

    package init(
        address: BluetoothAddress, uuid: String = "", color: String = "", serial: String = "", flicVersion: UInt8 = 0,
        firmwareVersion: UInt32 = 0
    ) {
        self.address = address
        self.uuid = uuid
        self.color = color
        self.serial = serial
        self.flicVersion = flicVersion
        self.firmwareVersion = firmwareVersion
    }
}

import ButtonModel
import FlicdProtocol

let hall = BluetoothAddress(rawValue: 0x80E4_DA12_3456)
let attic = BluetoothAddress(rawValue: 0x9088_A9AB_CDEF)

/// At least one packet of each kind, with the smallest and largest values.
enum Packets {
    static let commands: [FlicdCommand] = [
        .getInfo,
        .createScanner(id: 0), .removeScanner(id: .max),
        .createConnectionChannel(id: 0x0102_0304, hall, FlicdChannelMode(latencyMode: .low)),
        .createConnectionChannel(id: 7, attic, FlicdChannelMode(latencyMode: .normal, autoDisconnectTime: 0)),
        .removeConnectionChannel(id: 7),
        .forceDisconnect(hall),
        .changeModeParameters(id: 7, FlicdChannelMode(latencyMode: .high, autoDisconnectTime: 510)),
        .ping(id: 0xDEAD_BEEF),
        .getButtonInfo(attic),
        .createScanWizard(id: 1), .cancelScanWizard(id: 1),
        .deleteButton(hall),
        .createBatteryStatusListener(id: .max, hall), .removeBatteryStatusListener(id: .max),
        .other(opcode: 14), .other(opcode: 255),
    ]

    static let events: [FlicdEvent] =
        [
            .advertisementPacket(
                scanID: 5,
                FlicdAdvertisement(
                    address: attic, name: "Küche", rssi: -127, isPrivate: true, isAlreadyVerified: false,
                    isConnectedToThisDevice: false, isConnectedToOtherDevice: true)),
            .newVerifiedButton(attic),
            .getInfoResponse(info(buttons: [])),
            .getInfoResponse(info(buttons: [hall, attic])),
            .noSpaceForNewConnection(maximum: 255), .gotSpaceForNewConnection(maximum: 1),
            .pingResponse(id: .max),
            .getButtonInfoResponse(FlicdButtonInfo(address: hall)),
            .getButtonInfoResponse(
                FlicdButtonInfo(
                    address: hall, uuid: "000102030405060708090a0b0c0d0e0f", color: "turquoise",
                    serial: "0123456789abcdef", flicVersion: 2, firmwareVersion: .max)),
            .scanWizardFoundPrivateButton(id: 1),
            .scanWizardFoundPublicButton(id: 1, hall, name: ""),
            .scanWizardButtonConnected(id: 1),
            .buttonDeleted(hall, byThisClient: true), .buttonDeleted(attic, byThisClient: false),
            .batteryStatus(id: 0, percentage: nil, timestamp: .min),
            .batteryStatus(id: 0, percentage: 100, timestamp: .max),
            .other(opcode: 21), .other(opcode: 255),
        ]
        + FlicdChannelError.allCases.map { .createConnectionChannelResponse(id: 7, error: $0, .connected) }
        + FlicdConnectionStatus.allCases.map { .connectionStatusChanged(id: 7, $0, reason: .unspecified) }
        + FlicdDisconnectReason.allCases.map { .connectionStatusChanged(id: 7, .disconnected, reason: $0) }
        + FlicdRemovedReason.allCases.map { .connectionChannelRemoved(id: 7, $0) }
        + FlicdControllerState.allCases.map { .bluetoothControllerStateChange($0) }
        + FlicdScanWizardResult.allCases.map { .scanWizardCompleted(id: 7, $0) }
        + FlicdFamily.allCases.flatMap { family in
            FlicdClickType.allCases.map {
                .button(id: .max, family, $0, wasQueued: family == .upOrDown, timeDifference: 4196)
            }
        }

    /// The packets that flicd sends for each step of a press.
    static let steps: [(step: PressStep, words: [(FlicdFamily, FlicdClickType)])] = [
        (.down, [(.upOrDown, .buttonDown)]),
        (.up(.open), [(.upOrDown, .buttonUp), (.clickOrHold, .buttonClick)]),
        (
            .up(.click),
            [
                (.upOrDown, .buttonUp), (.clickOrHold, .buttonClick), (.singleOrDoubleClick, .buttonSingleClick),
                (.singleOrDoubleClickOrHold, .buttonSingleClick),
            ]
        ),
        (
            .up(.doubleClick),
            [
                (.upOrDown, .buttonUp), (.clickOrHold, .buttonClick), (.singleOrDoubleClick, .buttonDoubleClick),
                (.singleOrDoubleClickOrHold, .buttonDoubleClick),
            ]
        ),
        (.up(.afterHold), [(.upOrDown, .buttonUp)]),
        (.up(.afterHoldClick), [(.upOrDown, .buttonUp), (.singleOrDoubleClick, .buttonSingleClick)]),
        (
            .up(.afterHoldDoubleClick),
            [
                (.upOrDown, .buttonUp), (.singleOrDoubleClick, .buttonDoubleClick),
                (.singleOrDoubleClickOrHold, .buttonDoubleClick),
            ]
        ),
        (
            .clickTimeout,
            [(.singleOrDoubleClick, .buttonSingleClick), (.singleOrDoubleClickOrHold, .buttonSingleClick)]
        ),
        (.hold(ofSecondPress: false), [(.clickOrHold, .buttonHold), (.singleOrDoubleClickOrHold, .buttonHold)]),
        (.hold(ofSecondPress: true), [(.clickOrHold, .buttonHold)]),
    ]

    static func info(buttons: [BluetoothAddress]) -> FlicdInfo {
        FlicdInfo(
            controllerState: .attached, address: BluetoothAddress(rawValue: 0x001A_7DDA_7113, kind: .random),
            maxPendingConnections: 255, maxConcurrentlyConnectedButtons: buttons.isEmpty ? nil : 14,
            currentPendingConnections: 2, hasNoSpace: true, verifiedButtons: buttons)
    }
}

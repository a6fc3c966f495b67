import ButtonModel
import Bytes

extension FlicdEvent {
    /// Decodes a packet. An unknown enumeration value becomes the most general one, but an unknown click type throws.
    ///
    /// - Parameter packet: the packet from its opcode on. Octets after the known fields are ignored, because newer
    ///   versions append fields.
    package init(decoding packet: [UInt8]) throws(FlicdPacketFailure) {
        var reader = ByteReader(packet)
        guard let opcode = try? reader.uint8() else { throw .empty }
        let press: Press
        do throws(Truncated) {
            guard let family = FlicdFamily(rawValue: opcode) else {
                self = try Self.event(opcode, &reader)
                return
            }
            press = try Press(family, &reader)
        } catch {
            throw .tooShort(opcode: opcode)
        }
        guard let clickType = FlicdClickType(rawValue: press.clickType) else {
            throw .unknownClickType(press.clickType)
        }
        self = .button(
            id: press.id, press.family, clickType, wasQueued: press.wasQueued, timeDifference: press.timeDifference)
    }

    private static func event(_ opcode: UInt8, _ reader: inout ByteReader) throws(Truncated) -> FlicdEvent {
        switch opcode {
        case 0: .advertisementPacket(scanID: try reader.uint32(), try FlicdAdvertisement(&reader))
        case 1:
            .createConnectionChannelResponse(
                id: try reader.uint32(),
                error: FlicdChannelError(rawValue: try reader.uint8()) ?? .maxPendingConnectionsReached,
                FlicdConnectionStatus(rawValue: try reader.uint8()) ?? .disconnected)
        case 2:
            .connectionStatusChanged(
                id: try reader.uint32(), FlicdConnectionStatus(rawValue: try reader.uint8()) ?? .disconnected,
                reason: FlicdDisconnectReason(rawValue: try reader.uint8()) ?? .unspecified)
        case 3:
            // An unknown reason becomes the one that implies least about the button.
            .connectionChannelRemoved(
                id: try reader.uint32(),
                FlicdRemovedReason(rawValue: try reader.uint8()) ?? .forceDisconnectedByOtherClient)
        case 8: .newVerifiedButton(try reader.address())
        case 9: .getInfoResponse(try FlicdInfo(&reader))
        case 10: .noSpaceForNewConnection(maximum: try reader.uint8())
        case 11: .gotSpaceForNewConnection(maximum: try reader.uint8())
        case 12:
            .bluetoothControllerStateChange(FlicdControllerState(rawValue: try reader.uint8()) ?? .detached)
        case 13: .pingResponse(id: try reader.uint32())
        case 14: .getButtonInfoResponse(try FlicdButtonInfo(&reader))
        case 15: .scanWizardFoundPrivateButton(id: try reader.uint32())
        case 16:
            .scanWizardFoundPublicButton(
                id: try reader.uint32(), try reader.address(), name: try reader.str16())
        case 17: .scanWizardButtonConnected(id: try reader.uint32())
        case 18:
            .scanWizardCompleted(
                id: try reader.uint32(), FlicdScanWizardResult(rawValue: try reader.uint8()) ?? .failedTimeout)
        case 19: .buttonDeleted(try reader.address(), byThisClient: try reader.bool())
        case 20:
            .batteryStatus(
                id: try reader.uint32(), percentage: knownPercentage(try reader.int8()),
                timestamp: Int64(bitPattern: try reader.uint64()))
        default: .other(opcode: opcode)
        }
    }

    private static func knownPercentage(_ value: Int8) -> Int8? { (0...100).contains(value) ? value : nil }

    /// The complete frame: the length, then the packet.
    package func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: 64)
        writer.uint8(opcode)
        switch self {
        case .advertisementPacket(let scanID, let advertisement):
            writer.uint32(scanID)
            advertisement.write(to: &writer)
        case .createConnectionChannelResponse(let id, let error, let status):
            writer.uint32(id)
            writer.uint8(error.rawValue)
            writer.uint8(status.rawValue)
        case .connectionStatusChanged(let id, let status, let reason):
            writer.uint32(id)
            writer.uint8(status.rawValue)
            writer.uint8(reason.rawValue)
        case .connectionChannelRemoved(let id, let reason):
            writer.uint32(id)
            writer.uint8(reason.rawValue)
        case .button(let id, _, let clickType, let wasQueued, let timeDifference):
            writer.uint32(id)
            writer.uint8(clickType.rawValue)
            writer.bool(wasQueued)
            writer.uint32(timeDifference)
        case .newVerifiedButton(let address): writer.address(address)
        case .getInfoResponse(let info): info.write(to: &writer)
        case .noSpaceForNewConnection(let maximum), .gotSpaceForNewConnection(let maximum): writer.uint8(maximum)
        case .bluetoothControllerStateChange(let state): writer.uint8(state.rawValue)
        case .pingResponse(let id), .scanWizardFoundPrivateButton(let id), .scanWizardButtonConnected(let id):
            writer.uint32(id)
        case .getButtonInfoResponse(let info): info.write(to: &writer)
        case .scanWizardFoundPublicButton(let id, let address, let name):
            writer.uint32(id)
            writer.address(address)
            writer.str16(name)
        case .scanWizardCompleted(let id, let result):
            writer.uint32(id)
            writer.uint8(result.rawValue)
        case .buttonDeleted(let address, let byThisClient):
            writer.address(address)
            writer.bool(byThisClient)
        case .batteryStatus(let id, let percentage, let timestamp):
            writer.uint32(id)
            writer.int8(percentage ?? -1)
            writer.uint64(UInt64(bitPattern: timestamp))
        case .other: break
        }
        return framed(writer)
    }

    package var opcode: UInt8 {
        switch self {
        case .advertisementPacket: 0
        case .createConnectionChannelResponse: 1
        case .connectionStatusChanged: 2
        case .connectionChannelRemoved: 3
        case .button(_, let family, _, _, _): family.rawValue
        case .newVerifiedButton: 8
        case .getInfoResponse: 9
        case .noSpaceForNewConnection: 10
        case .gotSpaceForNewConnection: 11
        case .bluetoothControllerStateChange: 12
        case .pingResponse: 13
        case .getButtonInfoResponse: 14
        case .scanWizardFoundPrivateButton: 15
        case .scanWizardFoundPublicButton: 16
        case .scanWizardButtonConnected: 17
        case .scanWizardCompleted: 18
        case .buttonDeleted: 19
        case .batteryStatus: 20
        case .other(let opcode): opcode
        }
    }
}

/// The fields of a button event, which the four families share.
private struct Press {
    var family: FlicdFamily
    var id: UInt32
    var clickType: UInt8
    var wasQueued: Bool
    var timeDifference: UInt32

    init(_ family: FlicdFamily, _ reader: inout ByteReader) throws(Truncated) {
        self.family = family
        id = try reader.uint32()
        clickType = try reader.uint8()
        wasQueued = try reader.bool()
        timeDifference = try reader.uint32()
    }
}

extension FlicdAdvertisement {
    fileprivate init(_ reader: inout ByteReader) throws(Truncated) {
        self.init(
            address: try reader.address(), name: try reader.str16(), rssi: try reader.int8(),
            isPrivate: try reader.bool(), isAlreadyVerified: try reader.bool(),
            isConnectedToThisDevice: try reader.bool(), isConnectedToOtherDevice: try reader.bool())
    }

    fileprivate func write(to writer: inout ByteWriter) {
        writer.address(address)
        writer.str16(name)
        writer.int8(rssi)
        writer.bool(isPrivate)
        writer.bool(isAlreadyVerified)
        writer.bool(isConnectedToThisDevice)
        writer.bool(isConnectedToOtherDevice)
    }
}

extension FlicdInfo {
    /// The largest number of addresses that fits into a frame with a length of 16 bits.
    package static let maximumVerifiedButtonCount = (0xFFFF - 16) / 6

    fileprivate init(_ reader: inout ByteReader) throws(Truncated) {
        let state = FlicdControllerState(rawValue: try reader.uint8()) ?? .detached
        let address = try reader.uint48()
        let kind = BluetoothAddress.Kind(rawValue: try reader.uint8()) ?? .public
        let maxPendingConnections = try reader.uint8()
        let maximum = Int16(bitPattern: try reader.uint16())
        let currentPendingConnections = try reader.uint8()
        let hasNoSpace = try reader.bool()
        let count = Int(try reader.uint16())
        guard reader.remainingCount >= 6 * count else {
            throw Truncated(needed: 6 * count, available: reader.remainingCount)
        }
        var buttons: [BluetoothAddress] = []
        buttons.reserveCapacity(count)
        for _ in 0..<count { buttons.append(try reader.address()) }
        self.init(
            controllerState: state, address: BluetoothAddress(rawValue: address, kind: kind),
            maxPendingConnections: maxPendingConnections,
            maxConcurrentlyConnectedButtons: maximum < 0 ? nil : maximum,
            currentPendingConnections: currentPendingConnections, hasNoSpace: hasNoSpace, verifiedButtons: buttons)
    }

    fileprivate func write(to writer: inout ByteWriter) {
        writer.uint8(controllerState.rawValue)
        writer.address(address)
        writer.uint8(address.kind.rawValue)
        writer.uint8(maxPendingConnections)
        writer.uint16(UInt16(bitPattern: maxConcurrentlyConnectedButtons ?? -1))
        writer.uint8(currentPendingConnections)
        writer.bool(hasNoSpace)
        let buttons = verifiedButtons.prefix(Self.maximumVerifiedButtonCount)
        writer.uint16(UInt16(clamping: buttons.count))
        for button in buttons { writer.address(button) }
    }
}

extension FlicdButtonInfo {
    private static let unknownUUID = [UInt8](repeating: 0, count: 16)

    fileprivate init(_ reader: inout ByteReader) throws(Truncated) {
        let address = try reader.address()
        let uuid = try reader.bytes(16)
        self.init(
            address: address, uuid: uuid == Self.unknownUUID ? "" : uuid.hex, color: try reader.str16(),
            serial: try reader.str16(), flicVersion: try reader.uint8(), firmwareVersion: try reader.uint32())
    }

    /// A `uuid` that is not 32 hexadecimal digits is encoded as unknown, all zeros.
    fileprivate func write(to writer: inout ByteWriter) {
        writer.address(address)
        let octets = [UInt8](hex: uuid) ?? []
        writer.bytes(octets.count == Self.unknownUUID.count ? octets : Self.unknownUUID)
        writer.str16(color)
        writer.str16(serial)
        writer.uint8(flicVersion)
        writer.uint32(firmwareVersion)
    }
}

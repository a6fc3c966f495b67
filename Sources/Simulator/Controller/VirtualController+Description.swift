import BluetoothHost
import ButtonModel
import Bytes

/// The controller's version, features, buffers and supported commands.
extension VirtualController {
    /// Writes the return parameters after the status. Commands that are not listed have none.
    func describe(_ command: ControllerCommand, _ fields: inout ByteWriter) {
        switch command {
        case .readLocalVersionInformation:
            // HCI and LL version 5.3, and a company identifier that is not assigned (0xFFFF).
            fields.uint8(0x0C)
            fields.uint16(0)
            fields.uint8(0x0C)
            fields.uint16(0xFFFF)
            fields.uint16(0)

        case .readLocalSupportedCommands:
            fields.bytes(supportedCommands)

        case .readLocalSupportedFeatures:
            // Octet 4: bit 5 BR/EDR not supported, bit 6 LE supported.
            fields.bytes([0, 0, 0, 0, configuration.isLowEnergy ? 0x60 : 0, 0, 0, 0])

        case .readBufferSize:
            fields.uint16(configuration.aclDataLength)
            fields.uint8(0)
            fields.uint16(UInt16(configuration.aclBufferCount))
            fields.uint16(0)

        case .readBDADDR:
            fields.uint48(configuration.address.rawValue)

        case .leReadBufferSize:
            fields.uint16(configuration.sharesBuffers ? 0 : configuration.aclDataLength)
            fields.uint8(configuration.sharesBuffers ? 0 : configuration.aclBufferCount)

        case .leReadLocalSupportedFeatures:
            // Bit 1: Connection Parameters Request procedure.
            fields.uint64(configuration.supportsParameterRequests ? 0x02 : 0)

        case .leReadFilterAcceptListSize:
            fields.uint8(configuration.acceptListSize)

        case .leReadSupportedStates:
            // All combinations of states; bits 22 and 23 are scanning while initiating.
            fields.uint64(configuration.scansWhileInitiating ? 0x0000_03FF_FFFF_FFFF : 0x0000_03FF_FF3F_FFFF)

        case .disconnect, .setEventMask, .reset, .readRSSI, .leSetEventMask, .leSetRandomAddress,
            .leSetAdvertisingParameters, .leSetAdvertisingData, .leSetScanResponseData, .leSetAdvertisingEnable,
            .leSetScanParameters, .leSetScanEnable, .leCreateConnection, .leCreateConnectionCancel,
            .leClearFilterAcceptList, .leAddDeviceToFilterAcceptList, .leRemoveDeviceFromFilterAcceptList,
            .leConnectionUpdate, .leRemoteConnectionParameterRequestReply,
            .leRemoteConnectionParameterRequestNegativeReply:
            break
        }
    }

    /// The supported commands, 64 octets with a bit for each command.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 4, Part E, 6.27.
    private var supportedCommands: [UInt8] {
        var octets = [UInt8](repeating: 0, count: 64)
        octets[0] = 0x20  // Disconnect
        octets[5] = 0xC0  // Set Event Mask, Reset
        octets[14] = 0xA8  // Read Local Version Information, Read Local Supported Features, Read Buffer Size
        octets[15] = 0x22  // Read BD_ADDR, Read RSSI
        octets[25] = 0xB7  // the LE commands from LE Set Event Mask to LE Set Advertising Data
        octets[26] = 0xFF  // to LE Clear Filter Accept List
        octets[27] = 0x07  // Add and Remove, LE Connection Update
        octets[28] = 0x08  // LE Read Supported States
        octets[33] = 0x30  // the two replies to a Remote Connection Parameter Request
        return octets
    }
}

// MARK: - Activities on the air

extension VirtualController {
    /// The current advertising parameters and data.
    struct Advertiser: Hashable, Sendable {
        var address: BluetoothAddress
        var kind: AdvertisingParameters.Kind
        var since: Instant
        var interval: Duration
        var data, scanResponse: [UInt8]
    }

    var advertiser: Advertiser? {
        let parameters = resettable.advertisingParameters
        guard let since = resettable.advertisingSince, let address = address(parameters.ownAddressKind) else {
            return nil
        }
        return Advertiser(
            address: address, kind: parameters.kind, since: since,
            interval: .microseconds(625 * Int64(parameters.interval)), data: resettable.advertisingData,
            scanResponse: resettable.scanResponse)
    }

    /// The reports about an advertiser that this scanner would give: none if it does not scan or filters them as
    /// duplicates.
    func reports(of advertiser: Advertiser, rssi: Int8) -> [AdvertisingReport] {
        guard let scan = resettable.scan else { return [] }
        let parameters = resettable.scanParameters
        guard !parameters.usesFilterAcceptList || resettable.acceptList.contains(.device(advertiser.address)) else {
            return []
        }
        let kind: AdvertisingReport.Kind =
            switch advertiser.kind {
            case .connectable: .connectable
            case .directed: .connectableDirected
            case .scannable: .scannable
            case .nonConnectable: .nonConnectable
            }
        var reports = [
            AdvertisingReport(kind: kind, address: advertiser.address, data: advertiser.data, rssi: rssi)
        ]
        if parameters.isActive, advertiser.kind == .connectable || advertiser.kind == .scannable {
            reports.append(
                AdvertisingReport(
                    kind: .scanResponse, address: advertiser.address, data: advertiser.scanResponse, rssi: rssi))
        }
        return reports.filter(scan.wants)
    }

    /// True if the pending connection matches this advertiser.
    func initiates(to advertiser: Advertiser) -> Bool {
        guard let initiating = resettable.initiating, advertiser.kind == .connectable,
            !isLinked(to: advertiser.address)
        else { return false }
        return initiating.parameters.peer.map { $0 == advertiser.address }
            ?? resettable.acceptList.contains(.device(advertiser.address))
    }

    /// The address and the parameters for the pending connection.
    var initiator: (address: BluetoothAddress, ConnectionParameters)? {
        guard let initiating = resettable.initiating, let address = address(initiating.parameters.ownAddressKind) else {
            return nil
        }
        return (address, initiating.parameters.connection)
    }

    /// True if the advertiser's filter policy accepts a connection request from this central.
    func accepts(_ central: BluetoothAddress) -> Bool {
        resettable.advertisingParameters.filterPolicy < 2 || resettable.acceptList.contains(.device(central))
    }

    var isListening: Bool { !activeFaults.isWedged && (resettable.scan != nil || resettable.initiating != nil) }

    /// The lowest handle that is not in use.
    var freeHandle: ConnectionHandle {
        var handle = ConnectionHandle(rawValue: 0x0040)
        while resettable.links[handle] != nil { handle.rawValue += 1 }
        return handle
    }

    func isLinked(to peer: BluetoothAddress) -> Bool {
        resettable.links.values.contains { $0.peer == peer }
    }

    /// The controller's own address of this kind; `nil` if the host has not set a random address.
    func address(_ kind: BluetoothAddress.Kind) -> BluetoothAddress? {
        switch kind {
        case .public: configuration.address
        case .random: resettable.randomAddress
        }
    }

    /// True if an activity uses the filter accept list, which must then not be changed.
    var usesFilterAcceptList: Bool {
        (resettable.initiating.map { $0.parameters.peer == nil } ?? false)
            || (resettable.scan != nil && resettable.scanParameters.usesFilterAcceptList)
            || (resettable.advertisingSince != nil && resettable.advertisingParameters.filterPolicy != 0)
    }
}

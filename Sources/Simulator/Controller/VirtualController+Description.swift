import BluetoothHost
import ButtonModel
import Bytes

/// What the controller says of itself.
extension VirtualController {
    /// Return parameters after the status. Other commands have none.
    func describe(_ command: ControllerCommand, _ fields: inout ByteWriter) {
        switch command {
        case .readLocalVersionInformation:
            // Bluetooth 5.3 twice, and a company that is none.
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
            // Every combination, of which bits 22 and 23 are scanning while initiating.
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

    /// 64 octets, one bit a command.
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

// MARK: - What it wants of the air

extension VirtualController {
    /// How it advertises now.
    struct Advertiser: Hashable, Sendable {
        var address: BluetoothAddress
        var kind: AdvertisingParameters.Kind
        var since: Instant
        var interval: Duration
        var data, scanResponse: [UInt8]
    }

    var advertiser: Advertiser? {
        let parameters = volatile.advertisingParameters
        guard let since = volatile.advertisingSince, let address = address(parameters.ownAddressKind) else {
            return nil
        }
        return Advertiser(
            address: address, kind: parameters.kind, since: since,
            interval: .microseconds(625 * Int64(parameters.interval)), data: volatile.advertisingData,
            scanResponse: volatile.scanResponse)
    }

    /// The reports an advertiser gives this scanner: none when it does not scan, or has made them already.
    func reports(of advertiser: Advertiser, rssi: Int8) -> [AdvertisingReport] {
        guard let scan = volatile.scan else { return [] }
        let parameters = volatile.scanParameters
        guard !parameters.usesFilterAcceptList || volatile.acceptList.contains(.device(advertiser.address)) else {
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

    /// Whether a pending connection is for this advertiser.
    func initiates(to advertiser: Advertiser) -> Bool {
        guard let initiating = volatile.initiating, advertiser.kind == .connectable,
            !isLinked(to: advertiser.address)
        else { return false }
        return initiating.parameters.peer.map { $0 == advertiser.address }
            ?? volatile.acceptList.contains(.device(advertiser.address))
    }

    /// The address a pending connection would be made from, and the parameters it would have.
    var initiator: (address: BluetoothAddress, ConnectionParameters)? {
        guard let initiating = volatile.initiating, let address = address(initiating.parameters.ownAddressKind) else {
            return nil
        }
        return (address, initiating.parameters.connection)
    }

    /// An advertiser with a filter policy lets only its own list in.
    func accepts(_ central: BluetoothAddress) -> Bool {
        volatile.advertisingParameters.filterPolicy < 2 || volatile.acceptList.contains(.device(central))
    }

    var isListening: Bool { !ailments.isWedged && (volatile.scan != nil || volatile.initiating != nil) }

    /// The lowest handle without a link.
    var freeHandle: ConnectionHandle {
        var handle = ConnectionHandle(rawValue: 0x0040)
        while volatile.links[handle] != nil { handle.rawValue += 1 }
        return handle
    }

    func isLinked(to peer: BluetoothAddress) -> Bool {
        volatile.links.values.contains { $0.peer == peer }
    }

    /// `nil`: the host has set no random address.
    func address(_ kind: BluetoothAddress.Kind) -> BluetoothAddress? {
        switch kind {
        case .public: configuration.address
        case .random: volatile.randomAddress
        }
    }

    /// Activities that look at the filter accept list, which must not change under them.
    var usesFilterAcceptList: Bool {
        (volatile.initiating.map { $0.parameters.peer == nil } ?? false)
            || (volatile.scan != nil && volatile.scanParameters.usesFilterAcceptList)
            || (volatile.advertisingSince != nil && volatile.advertisingParameters.filterPolicy != 0)
    }
}

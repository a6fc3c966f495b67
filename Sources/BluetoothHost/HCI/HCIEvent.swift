import ButtonModel
public import Bytes

/// An HCI event.
///
///     octet  0      1                   2…
///            code   parameter length    parameters; LE events (code 0x3E) begin with their subevent code
///
/// Multi-octet fields are little endian. A code that this host does not use becomes `unknown` and not an error.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 5.4.4 and 7.7.
public enum HCIEvent: Hashable, Sendable {
    case disconnectionComplete(HCIStatus, ConnectionHandle, reason: HCIStatus)
    /// `allowance`: the number of commands that the controller accepts now. `returnParameters` begin with the status.
    case commandComplete(HCIOpcode, allowance: UInt8, returnParameters: [UInt8])
    case commandStatus(HCIOpcode, allowance: UInt8, HCIStatus)
    case hardwareError(UInt8)
    case numberOfCompletedPackets([CompletedPackets])
    case dataBufferOverflow(linkType: UInt8)
    case leConnectionComplete(LEConnectionComplete)
    /// Like `leConnectionComplete`, with resolvable private addresses, which this host ignores because it does not use
    /// privacy.
    case leEnhancedConnectionComplete(LEConnectionComplete)
    case leAdvertisingReport([AdvertisingReport])
    case leConnectionUpdateComplete(
        HCIStatus, ConnectionHandle, interval: UInt16, peripheralLatency: UInt16, supervisionTimeout: UInt16)
    case leRemoteConnectionParameterRequest(ConnectionHandle, ConnectionParameters)
    case unknown(code: UInt8, parameters: [UInt8])
    case unknownLE(subevent: UInt8, parameters: [UInt8])
}

/// The number of a link's packets that the controller has completed, whose buffers are free again.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.7.19.
public struct CompletedPackets: Hashable, Sendable {
    public var handle: ConnectionHandle
    public var count: UInt16

    public init(handle: ConnectionHandle, count: UInt16) {
        self.handle = handle
        self.count = count
    }
}

/// The result of creating a connection: a link, or the error in `status`.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.7.65.1.
public struct LEConnectionComplete: Hashable, Sendable {
    public var status: HCIStatus
    public var connection: LEConnection
    /// In units of 1.25 ms.
    public var interval: UInt16
    public var peripheralLatency: UInt16
    /// In units of 10 ms.
    public var supervisionTimeout: UInt16

    public init(
        status: HCIStatus, connection: LEConnection, interval: UInt16, peripheralLatency: UInt16,
        supervisionTimeout: UInt16
    ) {
        self.status = status
        self.connection = connection
        self.interval = interval
        self.peripheralLatency = peripheralLatency
        self.supervisionTimeout = supervisionTimeout
    }
}

extension HCIEvent {
    /// Decodes an event without its H4 indicator; octets after the parameters are ignored.
    ///
    /// - Throws: `Truncated` when the octets end before the code, the announced parameters or their fields.
    public init(decoding octets: [UInt8]) throws(Truncated) {
        var reader = ByteReader(octets)
        try self.init(decoding: &reader)
    }

    init(decoding reader: inout ByteReader) throws(Truncated) {
        let code = try reader.uint8()
        let octets = try reader.bytes(Int(try reader.uint8()))
        var fields = ByteReader(octets)
        switch HCIEventCode(rawValue: code) {
        case .disconnectionComplete:
            let status = HCIStatus(rawValue: try fields.uint8())
            self = .disconnectionComplete(
                status, try fields.connectionHandle(), reason: HCIStatus(rawValue: try fields.uint8()))
        case .commandComplete:
            let allowance = try fields.uint8()
            let opcode = HCIOpcode(rawValue: try fields.uint16())
            self = .commandComplete(opcode, allowance: allowance, returnParameters: fields.remainder())
        case .commandStatus:
            let status = HCIStatus(rawValue: try fields.uint8())
            let allowance = try fields.uint8()
            self = .commandStatus(HCIOpcode(rawValue: try fields.uint16()), allowance: allowance, status)
        case .hardwareError:
            self = .hardwareError(try fields.uint8())
        case .numberOfCompletedPackets:
            var completed: [CompletedPackets] = []
            for _ in 0..<(try fields.uint8()) {
                completed.append(CompletedPackets(handle: try fields.connectionHandle(), count: try fields.uint16()))
            }
            self = .numberOfCompletedPackets(completed)
        case .dataBufferOverflow:
            self = .dataBufferOverflow(linkType: try fields.uint8())
        case .leMeta:
            try self.init(decodingLE: &fields)
        case nil:
            self = .unknown(code: code, parameters: octets)
        }
    }

    private init(decodingLE fields: inout ByteReader) throws(Truncated) {
        let code = try fields.uint8()
        switch LESubeventCode(rawValue: code) {
        case .connectionComplete:
            self = .leConnectionComplete(try LEConnectionComplete(decoding: &fields, isEnhanced: false))
        case .enhancedConnectionComplete:
            self = .leEnhancedConnectionComplete(try LEConnectionComplete(decoding: &fields, isEnhanced: true))
        case .advertisingReport:
            var reports: [AdvertisingReport] = []
            for _ in 0..<(try fields.uint8()) {
                // A report of an unknown type is skipped, and the reports after it are used.
                guard let report = try AdvertisingReport(decoding: &fields) else { continue }
                reports.append(report)
            }
            self = .leAdvertisingReport(reports)
        case .connectionUpdateComplete:
            let status = HCIStatus(rawValue: try fields.uint8())
            self = .leConnectionUpdateComplete(
                status, try fields.connectionHandle(), interval: try fields.uint16(),
                peripheralLatency: try fields.uint16(), supervisionTimeout: try fields.uint16())
        case .remoteConnectionParameterRequest:
            let handle = try fields.connectionHandle()
            self = .leRemoteConnectionParameterRequest(handle, try ConnectionParameters(decoding: &fields))
        case nil:
            self = .unknownLE(subevent: code, parameters: fields.remainder())
        }
    }
}

extension LEConnectionComplete {
    fileprivate init(decoding fields: inout ByteReader, isEnhanced: Bool) throws(Truncated) {
        status = HCIStatus(rawValue: try fields.uint8())
        let handle = try fields.connectionHandle()
        let role = LinkRole(rawValue: try fields.uint8() & 1) ?? .central
        connection = LEConnection(handle: handle, peer: try fields.typedAddress(), role: role)
        if isEnhanced { try fields.skip(12) }
        interval = try fields.uint16()
        peripheralLatency = try fields.uint16()
        supervisionTimeout = try fields.uint16()
    }
}

extension AdvertisingReport {
    /// The value 127 means that the signal strength is not available.
    static let unknownRSSI: Int8 = 127

    fileprivate init?(decoding fields: inout ByteReader) throws(Truncated) {
        let kind = Kind(rawValue: try fields.uint8())
        let address = try fields.typedAddress()
        let data = try fields.counted()
        let rssi = try fields.int8()
        guard let kind else { return nil }
        self.init(kind: kind, address: address, data: data, rssi: rssi == Self.unknownRSSI ? nil : rssi)
    }
}

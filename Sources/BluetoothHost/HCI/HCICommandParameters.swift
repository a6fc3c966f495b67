public import ButtonModel
import Bytes

/// Advertising parameters: undirected, on all three channels, without filter.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.5.
public struct LEAdvertisingParameters: Hashable, Sendable {
    /// In units of 0.625 ms, 32…16384.
    public var intervalMinimum, intervalMaximum: UInt16
    /// The advertising type; 0 is connectable and scannable (ADV_IND).
    public var kind: UInt8
    public var ownAddressKind: BluetoothAddress.Kind

    public init(
        intervalMinimum: UInt16, intervalMaximum: UInt16, kind: UInt8 = 0, ownAddressKind: BluetoothAddress.Kind
    ) {
        self.intervalMinimum = intervalMinimum
        self.intervalMaximum = intervalMaximum
        self.kind = kind
        self.ownAddressKind = ownAddressKind
    }

    init(decoding reader: inout ByteReader) throws(Truncated) {
        intervalMinimum = try reader.uint16()
        intervalMaximum = try reader.uint16()
        kind = try reader.uint8()
        ownAddressKind = .init(wire: try reader.uint8())
        // Peer address, channel map and filter policy.
        try reader.skip(1 + 6 + 1 + 1)
    }

    func encode(into writer: inout ByteWriter) {
        writer.uint16(intervalMinimum)
        writer.uint16(intervalMaximum)
        writer.uint8(kind)
        writer.uint8(ownAddressKind.rawValue)
        writer.uint8(0)
        writer.uint48(0)
        writer.uint8(0b111)
        writer.uint8(0)
    }
}

/// Scan parameters: with the public address, without filter.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.10.
public struct LEScanParameters: Hashable, Sendable {
    /// True to request scan responses.
    public var isActive: Bool
    /// In units of 0.625 ms, 4…16384; the window must not exceed the interval.
    public var interval, window: UInt16

    public init(isActive: Bool, interval: UInt16, window: UInt16) {
        self.isActive = isActive
        self.interval = interval
        self.window = window
    }

    init(decoding reader: inout ByteReader) throws(Truncated) {
        isActive = try reader.uint8() != 0
        interval = try reader.uint16()
        window = try reader.uint16()
        // Own address type and filter policy.
        try reader.skip(2)
    }

    func encode(into writer: inout ByteWriter) {
        writer.uint8(isActive ? 1 : 0)
        writer.uint16(interval)
        writer.uint16(window)
        writer.uint16(0)
    }
}

/// The parameters of LE Create Connection, with the public address.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.12.
public struct LECreateConnectionParameters: Hashable, Sendable {
    /// In units of 0.625 ms, 4…16384.
    public var scanInterval, scanWindow: UInt16
    /// `nil`: the peer of the filter accept list that advertises first.
    public var peer: BluetoothAddress?
    public var connection: ConnectionParameters

    public init(
        scanInterval: UInt16, scanWindow: UInt16, peer: BluetoothAddress?, connection: ConnectionParameters
    ) {
        self.scanInterval = scanInterval
        self.scanWindow = scanWindow
        self.peer = peer
        self.connection = connection
    }

    init(decoding reader: inout ByteReader) throws(Truncated) {
        scanInterval = try reader.uint16()
        scanWindow = try reader.uint16()
        let usesAcceptList = try reader.uint8() == 1
        let address = try reader.typedAddress()
        peer = usesAcceptList ? nil : address
        // Own address type.
        try reader.skip(1)
        connection = try ConnectionParameters(decoding: &reader)
    }

    func encode(into writer: inout ByteWriter) {
        writer.uint16(scanInterval)
        writer.uint16(scanWindow)
        writer.uint8(peer == nil ? 1 : 0)
        writer.uint8(peer?.kind.rawValue ?? 0)
        writer.uint48(peer?.rawValue ?? 0)
        writer.uint8(0)
        connection.encode(into: &writer)
        // Minimum and maximum connection event length: no preference.
        writer.uint32(0)
    }
}

extension ConnectionParameters {
    /// True if the parameters are within the permitted ranges; a peer may send any values.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.18.
    public var areValid: Bool {
        (6...3200).contains(intervalMinimum) && (6...3200).contains(intervalMaximum)
            && intervalMinimum <= intervalMaximum && peripheralLatency <= 499
            && (10...3200).contains(supervisionTimeout)
            // 10 ms × timeout > 2 × (1 + latency) × 1.25 ms × interval
            && Int(supervisionTimeout) * 4 > (1 + Int(peripheralLatency)) * Int(intervalMaximum)
    }

    init(decoding reader: inout ByteReader) throws(Truncated) {
        self.init(
            intervalMinimum: try reader.uint16(), intervalMaximum: try reader.uint16(),
            peripheralLatency: try reader.uint16(), supervisionTimeout: try reader.uint16())
    }

    func encode(into writer: inout ByteWriter) {
        writer.uint16(intervalMinimum)
        writer.uint16(intervalMaximum)
        writer.uint16(peripheralLatency)
        writer.uint16(supervisionTimeout)
    }
}

extension BluetoothAddress.Kind {
    /// Maps the identity address types 2 (public) and 3 (random static) to the corresponding basic types.
    init(wire octet: UInt8) { self = octet & 1 == 0 ? .public : .random }
}

extension ByteReader {
    mutating func connectionHandle() throws(Truncated) -> ConnectionHandle {
        ConnectionHandle(rawValue: try uint16() & 0x0FFF)
    }

    /// An address after its type.
    mutating func typedAddress() throws(Truncated) -> BluetoothAddress {
        let kind = BluetoothAddress.Kind(wire: try uint8())
        return BluetoothAddress(rawValue: try uint48(), kind: kind)
    }

    /// Octets after their count, one octet. A count above `maximum` is read as `maximum`.
    mutating func counted(atMost maximum: Int = 255) throws(Truncated) -> [UInt8] {
        try bytes(min(Int(try uint8()), maximum))
    }
}

public import ButtonModel
import Bytes

/// How the controller advertises: undirected, on all three channels, to everybody.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.5.
public struct LEAdvertisingParameters: Hashable, Sendable {
    /// Units of 0.625 ms, 32…16384.
    public var intervalMinimum, intervalMaximum: UInt16
    /// 0 is connectable and scannable (ADV_IND).
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

/// How the controller scans, from its public address and for everybody's advertisements.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.10.
public struct LEScanParameters: Hashable, Sendable {
    /// Asks for scan responses.
    public var isActive: Bool
    /// Units of 0.625 ms, 4…16384; the window is at most the interval.
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

/// Whom to connect to and how; from the public address.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.12.
public struct LECreateConnectionParameters: Hashable, Sendable {
    /// Units of 0.625 ms, 4…16384.
    public var scanInterval, scanWindow: UInt16
    /// `nil`: whoever of the filter accept list advertises first.
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
        // Minimum and maximum connection event length: no wish of ours.
        writer.uint32(0)
    }
}

extension ConnectionParameters {
    /// Whether the radio can do this at all; a peer may ask for anything.
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
    /// Resolved identity addresses (2 and 3) are public and random like 0 and 1.
    init(wire octet: UInt8) { self = octet & 1 == 0 ? .public : .random }
}

extension ByteReader {
    mutating func connectionHandle() throws(Truncated) -> ConnectionHandle {
        ConnectionHandle(rawValue: try uint16() & 0x0FFF)
    }

    /// An address with its type before it.
    mutating func typedAddress() throws(Truncated) -> BluetoothAddress {
        let kind = BluetoothAddress.Kind(wire: try uint8())
        return BluetoothAddress(rawValue: try uint48(), kind: kind)
    }

    /// Octets with their count, one octet, before them; no more than `maximum`, whatever the count says.
    mutating func counted(atMost maximum: Int = 255) throws(Truncated) -> [UInt8] {
        try bytes(min(Int(try uint8()), maximum))
    }
}

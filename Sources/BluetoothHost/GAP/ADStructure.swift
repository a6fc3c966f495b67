import Bytes

/// An AD structure: an element of an advertisement or a scan response.
///
///     octet  0                        1      2…
///            length of what follows   type   data
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part C, 11; Core Specification Supplement, Part A, 1.
public struct ADStructure: Hashable, Sendable {
    public var type: UInt8
    /// At most 254 octets.
    public var data: [UInt8]

    public init(type: UInt8, data: [UInt8]) {
        self.type = type
        self.data = data
    }

    /// Parses advertising data. A length of zero ends the significant part. A truncated element ends the list without
    /// an error, because anyone can send advertisements.
    public static func parse(_ octets: [UInt8]) -> [ADStructure] {
        var reader = ByteReader(octets)
        var structures: [ADStructure] = []
        while let length = try? reader.uint8(), length > 0,
            let type = try? reader.uint8(), let data = try? reader.bytes(Int(length) - 1)
        {
            structures.append(ADStructure(type: type, data: data))
        }
        return structures
    }
}

extension ADStructure {
    /// Manufacturer specific data: a company identifier and data in the company's own format.
    public struct ManufacturerData: Hashable, Sendable {
        /// The company identifier assigned by the Bluetooth SIG.
        public var company: UInt16
        public var data: [UInt8]

        public init(company: UInt16, data: [UInt8]) {
            self.company = company
            self.data = data
        }
    }

    /// - Parameter flags: 0x06 is "LE general discoverable, no BR/EDR".
    public static func flags(_ flags: UInt8) -> ADStructure { ADStructure(type: Kind.flags, data: [flags]) }

    /// A complete list of service UUIDs of the same length as the first; UUIDs of the other length are left out.
    public static func completeServiceUUIDs(_ uuids: [BluetoothUUID]) -> ADStructure {
        let length = uuids.first?.wireOctets.count ?? 2
        return ADStructure(
            type: length == 2 ? Kind.completeShortUUIDs : Kind.completeLongUUIDs,
            data: uuids.map(\.wireOctets).filter { $0.count == length }.flatMap { $0 })
    }

    public static func completeLocalName(_ name: String) -> ADStructure {
        ADStructure(type: Kind.completeLocalName, data: Array(name.utf8))
    }

    public static func manufacturerData(_ content: ManufacturerData) -> ADStructure {
        var writer = ByteWriter(capacity: 2 + content.data.count)
        writer.uint16(content.company)
        writer.bytes(content.data)
        return ADStructure(type: Kind.manufacturerData, data: writer.bytes)
    }

    /// The service UUIDs of a complete or incomplete list; empty for other types.
    public var serviceUUIDs: [BluetoothUUID] {
        let length: Int
        switch type {
        case Kind.incompleteShortUUIDs, Kind.completeShortUUIDs: length = 2
        case Kind.incompleteLongUUIDs, Kind.completeLongUUIDs: length = 16
        default: return []
        }
        var reader = ByteReader(data)
        var uuids: [BluetoothUUID] = []
        while let octets = try? reader.bytes(length), let uuid = BluetoothUUID(wireOctets: octets) {
            uuids.append(uuid)
        }
        return uuids
    }

    /// The complete or shortened local name, with ill-formed UTF-8 replaced; `nil` for other types.
    public var localName: String? {
        guard type == Kind.completeLocalName || type == Kind.shortenedLocalName else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// The manufacturer specific data; `nil` for other types, and for data without a complete company identifier.
    public var manufacturerData: ManufacturerData? {
        guard type == Kind.manufacturerData else { return nil }
        var reader = ByteReader(data)
        guard let company = try? reader.uint16() else { return nil }
        return ManufacturerData(company: company, data: reader.remainder())
    }

    /// The structure as transmitted; data beyond 254 octets is cut.
    public var encoded: [UInt8] {
        let data = data.prefix(254)
        return [UInt8(1 + data.count), type] + data
    }

    /// - Source: Bluetooth Assigned Numbers, 2.3.
    private enum Kind {
        static let flags: UInt8 = 0x01
        static let incompleteShortUUIDs: UInt8 = 0x02
        static let completeShortUUIDs: UInt8 = 0x03
        static let incompleteLongUUIDs: UInt8 = 0x06
        static let completeLongUUIDs: UInt8 = 0x07
        static let shortenedLocalName: UInt8 = 0x08
        static let completeLocalName: UInt8 = 0x09
        static let manufacturerData: UInt8 = 0xFF
    }
}

extension Sequence<ADStructure> {
    public var serviceUUIDs: [BluetoothUUID] { flatMap(\.serviceUUIDs) }
    /// The name in the first structure that has a name.
    public var localName: String? { lazy.compactMap(\.localName).first }
    /// The manufacturer specific data of the first structure that has any.
    public var manufacturerData: ADStructure.ManufacturerData? { lazy.compactMap(\.manufacturerData).first }
    public var encoded: [UInt8] { flatMap(\.encoded) }
}

/// The parts of values that a peer has sent by Prepare Write and not yet executed.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part F, 3.4.6.
struct PreparedWrites: Hashable, Sendable {
    struct Refused: Error, Hashable, Sendable {
        var attributeHandle: UInt16
        var code: ATTErrorCode
    }

    /// Enough for a value of 512 octets with an ATT_MTU of 23, which carries 18 octets in each part.
    static let maximumParts = 32
    static let maximumOctets = 2048

    private struct Part: Hashable, Sendable {
        var handle: UInt16
        var offset: Int
        var octets: [UInt8]
    }

    private var parts: [Part] = []

    /// - Returns: false if there is no room for the part.
    mutating func append(_ octets: [UInt8], at offset: UInt16, of handle: UInt16) -> Bool {
        let kept = parts.reduce(0) { $0 + $1.octets.count }
        guard parts.count < Self.maximumParts, kept + octets.count <= Self.maximumOctets else { return false }
        parts.append(Part(handle: handle, offset: Int(offset), octets: octets))
        return true
    }

    /// Assembles the values, in the order of their first parts.
    ///
    /// Octets before a value's first part are taken from the current value; octets after its last part are dropped.
    ///
    /// - Parameter current: the current value of an attribute.
    func values(
        replacing current: (UInt16) -> [UInt8]
    ) throws(Refused) -> [(handle: UInt16, value: [UInt8])] {
        var values: [(handle: UInt16, value: [UInt8])] = []
        for part in parts {
            let index = values.firstIndex { $0.handle == part.handle }
            var value = index.map { values[$0].value } ?? Array(current(part.handle).prefix(part.offset))
            guard part.offset <= value.count else {
                throw Refused(attributeHandle: part.handle, code: .invalidOffset)
            }
            let end = min(value.count, part.offset + part.octets.count)
            value.replaceSubrange(part.offset..<end, with: part.octets)
            guard value.count <= ATTPDU.maximumValueLength else {
                throw Refused(attributeHandle: part.handle, code: .invalidAttributeValueLength)
            }
            if let index { values[index].value = value } else { values.append((part.handle, value)) }
        }
        return values
    }
}

import Bytes

/// Octets read as a script: what to do next, and with which octets.
struct FuzzInput {
    private var reader: ByteReader

    init(_ octets: [UInt8]) { reader = ByteReader(octets) }

    /// `nil` at the end.
    mutating func step() -> UInt8? { try? reader.uint8() }

    /// Zero at the end.
    mutating func octet() -> UInt8 { (try? reader.uint8()) ?? 0 }

    /// As many octets as the next octet says, or all that remain.
    mutating func chunk() -> [UInt8] {
        let count = min(Int(octet()), reader.remainingCount)
        return (try? reader.bytes(count)) ?? []
    }

    mutating func remainder() -> [UInt8] { reader.remainder() }

    /// 0 ms to 65 s; small numbers are likelier.
    mutating func pause() -> Duration {
        let octet = Int64(octet())
        return .milliseconds(octet * octet)
    }
}

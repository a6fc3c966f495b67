import Bytes

/// Octets read as a script: each step, and the octets for it.
struct FuzzInput {
    private var reader: ByteReader

    init(_ octets: [UInt8]) { reader = ByteReader(octets) }

    /// `nil` at the end of the script.
    mutating func step() -> UInt8? { try? reader.uint8() }

    /// Zero at the end of the script.
    mutating func octet() -> UInt8 { (try? reader.uint8()) ?? 0 }

    /// The number of octets that the next octet gives, or all that remain.
    mutating func chunk() -> [UInt8] {
        let count = min(Int(octet()), reader.remainingCount)
        return (try? reader.bytes(count)) ?? []
    }

    mutating func remainder() -> [UInt8] { reader.remainder() }

    /// 0 ms to 65 s; short durations are more likely.
    mutating func pause() -> Duration {
        let octet = Int64(octet())
        return .milliseconds(octet * octet)
    }
}

import Diagnostics

/// The offsets at which the lines of a text begin. LF, CR and CRLF end a line.
///
/// Only every 64th offset is kept, so that a file of nothing but line ends needs little memory.
struct LineStarts: Sendable {
    private static let stride = 64

    private(set) var count = 1
    /// The offsets of the first octets of lines 1, 65, 129, …
    private var marks: [UInt32] = [0]

    /// Finds the lines of valid UTF-8. Stops at the first character that a file may not contain and returns it as the
    /// fault.
    ///
    /// U+2028 and U+2029 are forbidden, because only some programs end a line there, so that line numbers would depend
    /// on the program.
    static func scan(_ octets: ArraySlice<UInt8>) -> (LineStarts, fault: (offset: Int, message: String)?) {
        var lines = LineStarts()
        var fault: (offset: Int, message: String)?
        octets.withUnsafeBufferPointer { octets in
            var offset = 0
            while offset < octets.count {
                let octet = octets[offset]
                offset += 1
                if octet >= 0x20, octet < 0x7F { continue }
                switch octet {
                case 0x0A, 0x0D:
                    if octet == 0x0D, offset < octets.count, octets[offset] == 0x0A { offset += 1 }
                    if lines.count % LineStarts.stride == 0 { lines.marks.append(UInt32(truncatingIfNeeded: offset)) }
                    lines.count += 1
                case 0x09: continue
                // The UTF-8 of every forbidden character begins with one of these octets.
                case 0..<0x20, 0x7F, 0xC2, 0xE2, 0xEF:
                    let next = offset < octets.count ? octets[offset] : 0
                    if octet == 0xE2, next != 0x80 { continue }
                    if octet == 0xC2, next >= 0xA0 { continue }
                    guard let message = message(about: octets[(offset - 1)...].prefix(3)) else { continue }
                    fault = (offset - 1, message)
                    return
                default: continue
                }
            }
        }
        return (lines, fault)
    }

    /// Why the character at the start of `octets` is forbidden; `nil` if it is allowed.
    private static func message(about octets: Slice<UnsafeBufferPointer<UInt8>>) -> String? {
        var rest = octets.makeIterator()
        var decoder = Unicode.UTF8.ForwardParser()
        guard case .valid(let encoded) = decoder.parseScalar(from: &rest) else { return nil }
        let value = Unicode.UTF8.decode(encoded).value
        var name: String {
            let digits = String(value, radix: 16, uppercase: true)
            return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
        return switch value {
        case 0..<0x20, 0x7F...0x9F: "control character \(name)"
        case 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF: "character \(name) is not allowed; write it as an escape"
        default: nil
        }
    }

    /// The offset of the first octet of a line.
    ///
    /// - Parameter number: 1…`count`.
    func start(of number: Int, in octets: [UInt8]) -> Int {
        let (mark, rest) = (number - 1).quotientAndRemainder(dividingBy: LineStarts.stride)
        guard marks.indices.contains(mark) else { return octets.count }
        var offset = Int(marks[mark])
        for _ in 0..<rest { offset = LineStarts.next(after: offset, in: octets) }
        return offset
    }

    func position(of offset: Int, in octets: [UInt8]) -> SourcePosition {
        var mark = marks.startIndex
        var end = marks.endIndex
        while end - mark > 1 {
            let middle = (mark + end) / 2
            if Int(marks[middle]) <= offset { mark = middle } else { end = middle }
        }
        var number = mark * LineStarts.stride + 1
        var start = Int(marks[mark])
        while number < count {
            let next = LineStarts.next(after: start, in: octets)
            guard next <= offset else { break }
            start = next
            number += 1
        }
        return SourcePosition(line: number, column: octets[start..<max(start, offset)].scalarCount + 1)
    }

    private static func next(after start: Int, in octets: [UInt8]) -> Int {
        octets[start...].afterFirstLine?.startIndex ?? octets.count
    }
}

extension ArraySlice<UInt8> {
    /// The number of Unicode scalars in valid UTF-8.
    var scalarCount: Int {
        withUnsafeBufferPointer { octets in
            var count = 0
            for octet in octets { count &+= octet & 0xC0 == 0x80 ? 0 : 1 }
            return count
        }
    }

    /// Drops the first `count` Unicode scalars of valid UTF-8, but stops at the end of the first line.
    func dropScalars(_ count: Int) -> ArraySlice<UInt8> {
        withUnsafeBufferPointer { octets in
            var offset = 0
            var left = count
            while offset < octets.count, left > 0 || octets[offset] & 0xC0 == 0x80 {
                let octet = octets[offset]
                if octet == 0x0A || octet == 0x0D { break }
                if octet & 0xC0 != 0x80 { left -= 1 }
                offset += 1
            }
            return self.dropFirst(offset)
        }
    }
}

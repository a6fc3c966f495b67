/// Converts between `file:` URIs and absolute paths.
///
/// - Source: RFC 8089, RFC 3986.
package enum FileURI {
    /// The path of a document, or the URI itself if it does not name a file of this machine. A document that was never saved,
    /// `untitled:1`, is then a set of its own.
    static func documentPath(of uri: String) -> String { path(of: uri) ?? uri }

    /// Returns `nil` if the URI does not name a file of this machine.
    static func path(of uri: String) -> String? {
        let scheme = "file://"
        guard uri.utf8.count > scheme.utf8.count, uri.prefix(scheme.count).lowercased() == scheme else { return nil }
        var rest = uri.utf8.dropFirst(scheme.utf8.count)
        if let slash = rest.firstIndex(of: UInt8(ascii: "/")) {
            let host = String(Substring(rest[..<slash]))
            guard host.isEmpty || host == "localhost" else { return nil }
            rest = rest[slash...]
        } else {
            return nil
        }
        var octets: [UInt8] = []
        var index = rest.startIndex
        while index < rest.endIndex {
            let octet = rest[index]
            index = rest.index(after: index)
            guard octet == UInt8(ascii: "%") else {
                octets.append(octet)
                continue
            }
            guard let high = rest[index...].first.flatMap(digit),
                let low = rest[index...].dropFirst().first.flatMap(digit)
            else { return nil }
            octets.append(high << 4 | low)
            index = rest.index(index, offsetBy: 2)
        }
        guard !octets.contains(0) else { return nil }
        return String(validating: octets, as: UTF8.self)
    }

    package static func uri(of path: String) -> String {
        var uri = "file://"
        for octet in path.utf8 {
            if isUnreserved(octet) {
                uri.unicodeScalars.append(UnicodeScalar(octet))
            } else {
                let digits = String(octet, radix: 16, uppercase: true)
                uri += digits.utf8.count == 1 ? "%0" + digits : "%" + digits
            }
        }
        return uri
    }

    private static func isUnreserved(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "/"):
            true
        default: false
        }
    }

    private static func digit(_ octet: UInt8) -> UInt8? {
        switch octet {
        case 0x30...0x39: octet - 0x30
        case 0x41...0x46: octet - 0x41 + 10
        case 0x61...0x66: octet - 0x61 + 10
        default: nil
        }
    }
}

/// A host and a TCP port, written `HOST:PORT`. An IPv6 address is in brackets: `[::1]:5551`.
package struct HostAndPort: Hashable, Sendable, CustomStringConvertible {
    package var host: String
    /// 1…65535.
    package var port: Int

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    package init?(_ text: some StringProtocol, defaultPort: Int? = nil) {
        var host = Substring(text)
        var port = defaultPort
        let afterBracket = host.lastIndex(of: "]").map { host.index(after: $0) } ?? host.startIndex
        if let colon = host[afterBracket...].lastIndex(of: ":") {
            let digits = host[host.index(after: colon)...]
            guard digits.first != "0", digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits),
                (1...65_535).contains(number)
            else { return nil }
            port = number
            host = host[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        let isHost =
            !host.isEmpty && host.utf8.count <= 255
            && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "@") }
        guard isHost, let port else { return nil }
        self.host = String(host)
        self.port = port
    }
}

extension HostAndPort {
    /// True for `localhost` and literal loopback addresses. Other names are not looked up.
    var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}

extension HostAndPort {
    private static let scheme = "flicd://"

    /// Parses an entry of `sources:`: `flicd://HOST:PORT`, with port 5551 if none is written.
    package init?(source text: String) {
        guard text.hasPrefix(Self.scheme) else { return nil }
        self.init(text.dropFirst(Self.scheme.count), defaultPort: 5551)
    }

    /// The endpoint of a flicd as written in `sources:`: `flicd://host:5551`.
    package var sourceURL: String { Self.scheme + description }
}

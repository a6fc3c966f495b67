import Glibc
import JSON

/// An ESPHome device that has announced itself in the local network. The texts are not trusted, because any device in
/// the network can announce anything.
struct FoundProxy: Hashable, Sendable {
    /// The name of the announced service, which is made for people.
    var name: String
    /// The host name, such as `hall-proxy.local`.
    var host: String
    var address: String
    var port: Int
    /// The records `friendly_name`, `version` and `mac`; empty if there are none.
    var friendlyName = "", version = "", mac = ""
    /// True if the device announces that its connection needs a key.
    var isEncrypted = false
}

extension FoundProxy {
    static let service = "_esphomelib._tcp"
    static let defaultPort = 6053

    /// Reads a line of `avahi-browse --parsable --resolve`; `nil` unless the line is about a resolved ESPHome service.
    ///
    ///     =;eth0;IPv4;Hall\032proxy;_esphomelib._tcp;local;hall-proxy.local;192.0.2.7;6053;"mac=0635695e0001" "version=2026.6.5"
    ///
    /// In names and texts, a backslash precedes a character, or the three decimal digits of an octet.
    init?(avahi line: some Collection<UInt8>) {
        let fields = line.split(separator: UInt8(ascii: ";"), maxSplits: 9, omittingEmptySubsequences: false)
        guard fields.count >= 9, Self.text(fields[0]) == "=", Self.text(fields[4]) == Self.service,
            let port = Int(Self.text(fields[8])), (1...65_535).contains(port)
        else { return nil }
        self.init(
            name: Self.text(fields[3]), host: Self.text(fields[6]), address: Self.text(fields[7]), port: port)
        var seen: Set<String> = []
        for entry in fields.count > 9 ? Self.quoted(fields[9]) : [] {
            let parts = entry.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            // The first of several records with one key counts (RFC 6763, 6.4).
            guard parts.count == 2, seen.insert(Self.decoded(parts[0])).inserted else { continue }
            let value = Self.decoded(parts[1])
            switch Self.decoded(parts[0]) {
            case "friendly_name": friendlyName = value
            case "version": version = value
            case "mac": mac = value
            case "api_encryption": isEncrypted = true
            default: break
            }
        }
    }

    private static func decoded(_ octets: some Collection<UInt8>) -> String { String(decoding: octets, as: UTF8.self) }

    private static func text(_ field: some Collection<UInt8>) -> String { decoded(unescaped(field)) }

    private static func unescaped(_ field: some Collection<UInt8>) -> [UInt8] {
        var octets: [UInt8] = []
        var rest = Array(field)[...]
        while let octet = rest.popFirst() {
            guard octet == UInt8(ascii: "\\") else {
                octets.append(octet)
                continue
            }
            if rest.count >= 3, let value = UInt8(decoded(rest.prefix(3))) {
                octets.append(value)
                rest = rest.dropFirst(3)
            } else if let next = rest.popFirst() {
                octets.append(next)
            }
        }
        return octets
    }

    /// The texts between double quotes in the field, with their escapes decoded.
    private static func quoted(_ field: some Collection<UInt8>) -> [[UInt8]] {
        var texts: [[UInt8]] = []
        var current: [UInt8]?
        var isEscaped = false
        for octet in field {
            if isEscaped {
                isEscaped = false
                current?.append(octet)
            } else if octet == UInt8(ascii: "\"") {
                if let text = current { texts.append(unescaped(text)) }
                current = current == nil ? [] : nil
            } else {
                isEscaped = octet == UInt8(ascii: "\\")
                current?.append(octet)
            }
        }
        return texts
    }
}

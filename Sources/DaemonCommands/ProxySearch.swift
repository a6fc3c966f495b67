import CommandSupport
import CommandText
import Glibc
import JSON
import Platform

/// What `tryck radios --find` prints: the ESPHome devices of the local network, as lines for `tryck.yaml`.
///
///     # 1 ESPHome device answered. It does not tell whether it has a Bluetooth proxy.
///     radios:
///       - {esphome: hall-proxy.local, key: !secret hall_proxy}    # Hall proxy, ESPHome 2026.6.5, 192.0.2.7
struct ProxySearch {
    struct Entry: Hashable, Sendable {
        var proxy: FoundProxy
        /// One entry of `radios:`, such as `{esphome: hall-proxy.local, key: !secret hall_proxy}`.
        var entry: String
    }

    static let maximumCount = 64
    private static let timeLimit = Duration.seconds(12)
    private static let advice =
        "avahi-browse, which looks for ESPHome devices, is not installed: install it with `sudo apt install avahi-utils`."

    let entries: [Entry]
    /// True if there were more than `maximumCount`.
    let isCut: Bool

    /// - Parameter output: the output of `avahi-browse --parsable --resolve`.
    init(_ output: [UInt8]) {
        var proxies: [FoundProxy] = []
        // Each network interface has a line, and each version of IP.
        for line in output.split(separator: UInt8(ascii: "\n")) {
            guard let proxy = FoundProxy(avahi: line), proxy.usableHost != nil else { continue }
            if let place = proxies.firstIndex(where: { $0.host == proxy.host && $0.port == proxy.port }) {
                if !proxies[place].hasReachableAddress { proxies[place].address = proxy.address }
            } else {
                proxies.append(proxy)
            }
        }
        isCut = proxies.count > Self.maximumCount
        var names: Set<String> = []
        entries = proxies.sorted { ($0.usableHost ?? "", $0.port) < ($1.usableHost ?? "", $1.port) }.prefix(
            Self.maximumCount
        ).map {
            Entry(proxy: $0, entry: $0.entry(avoiding: &names))
        }
    }

    /// Asks avahi.
    static func run(path: String) throws(Failure) -> ProxySearch {
        guard let program = BoundedProgram.find("avahi-browse", path: path) else {
            throw Failure(.unavailable, advice)
        }
        let arguments = ["--parsable", "--resolve", "--terminate", "--no-db-lookup", FoundProxy.service]
        guard let result = BoundedProgram.run(program, arguments, within: timeLimit) else {
            throw Failure(.unavailable, "\(program) cannot be started.")
        }
        let search = ProxySearch(result.output)
        guard search.entries.isEmpty, !result.hasSucceeded else { return search }
        let reason = String(decoding: result.errors.prefix(200), as: UTF8.self).split(whereSeparator: \.isNewline)
            .first.map(String.init)?.visible
        throw Failure(
            .unavailable,
            reason?.contains("Daemon not running") == true
                ? "avahi does not run, which looks for ESPHome devices: start it with `sudo systemctl start avahi-daemon`."
                : "avahi-browse found nothing and failed\(reason.map { ": \($0)" } ?? "").")
    }

    var lines: [String] {
        guard !entries.isEmpty else {
            return [
                "# No ESPHome device answered. Those in other networks do not: write {esphome: ADDRESS} for them."
            ]
        }
        var lines = [
            entries.count == 1
                ? "# 1 ESPHome device answered. It does not tell whether it has a Bluetooth proxy."
                : "# \(entries.count) ESPHome devices answered. They do not tell which of them have a Bluetooth proxy.",
            "# Paste the lines of proxies into tryck.yaml, in place of transport:, beside the radio that you have.",
        ]
        if isCut { lines.append("# There are more devices than these.") }
        if let secret = entries.first(where: \.proxy.isEncrypted)?.proxy.secretName {
            lines.append(
                "# Keys are api: encryption: key: of their ESPHome configurations. Into secrets.yaml, a line \(secret): KEY"
            )
        }
        lines.append("radios:")
        let width = entries.map(\.entry.count).max() ?? 0
        return lines + entries.map { "  - \($0.entry.padded(to: width))  # \($0.proxy.remark)" }
    }

    var json: JSONValue {
        .array(
            entries.map { entry in
                [
                    "name": .string(entry.proxy.name), "host": .string(entry.proxy.host),
                    "address": .string(entry.proxy.address), "port": .integer(Int64(entry.proxy.port)),
                    "friendly_name": .string(entry.proxy.friendlyName), "version": .string(entry.proxy.version),
                    "mac": .string(entry.proxy.mac), "encrypted": .bool(entry.proxy.isEncrypted),
                    "entry": .string(entry.entry),
                ]
            })
    }
}

extension FoundProxy {
    /// The host if it is a host name, else the address if that is one; `nil` if neither can be used.
    fileprivate var usableHost: String? {
        let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isHostName =
            (1...253).contains(host.utf8.count) && labels.count > 1
            && labels.last?.contains { !Self.isDigit($0) } == true
            && labels.allSatisfy { label in
                (1...63).contains(label.count) && label.first != UInt8(ascii: "-")
                    && label.allSatisfy { Self.isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
            }
        return isHostName ? host : isIPv4Address ? address : nil
    }

    private var isIPv4Address: Bool {
        var octets = in_addr()
        return inet_pton(AF_INET, address, &octets) == 1
    }

    /// True if the address is one of IPv4 that others have, too.
    fileprivate var hasReachableAddress: Bool { isIPv4Address && !address.hasPrefix("127.") }

    private static func isDigit(_ octet: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet) }

    private static func isLetterOrDigit(_ octet: UInt8) -> Bool {
        isDigit(octet) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(octet | 0x20)
    }

    /// The first label of the host in lower case; for an address, what the name of the service has of letters and digits.
    private var word: String {
        let label = usableHost == host ? String(host.prefix { $0 != "." }) : name
        let word = label.utf8.prefix(60).map { Self.isLetterOrDigit($0) ? $0 | 0x20 : UInt8(ascii: "-") }
        return word.contains { $0 != UInt8(ascii: "-") } ? String(decoding: word, as: UTF8.self) : "proxy"
    }

    /// The name of the secret for its key.
    fileprivate var secretName: String { String(word.map { $0 == "-" ? "_" : $0 }) }

    /// An entry of `radios:`. It contains only letters, digits and the punctuation of hosts.
    fileprivate func entry(avoiding names: inout Set<String>) -> String {
        let host = usableHost ?? ""
        var name = word
        var number = 2
        while !names.insert(name).inserted {
            name = "\(word)-\(number)"
            number += 1
        }
        let secret = String(name.map { $0 == "-" ? "_" : $0 })
        return "{esphome: \(host)" + (port == Self.defaultPort ? "" : ":\(port)")
            + (isEncrypted ? ", key: !secret \(secret)" : "")
            + (host.prefix { $0 != "." } == name ? "" : ", name: \"\(name)\"") + "}"
    }

    /// What the device says of itself, for people: on one line, and without what controls a terminal.
    fileprivate var remark: String {
        [friendlyName.isEmpty ? name : friendlyName, version.isEmpty ? "" : "ESPHome \(version)", address]
            .filter { !$0.isEmpty }.map { $0.visible.prefix(columns: 48) }.joined(separator: ", ")
    }
}

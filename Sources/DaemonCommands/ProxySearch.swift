import CommandSupport
import CommandText
import Glibc
import JSON
import Platform

/// The output of `tryck radios --find`: the ESPHome devices of the local network, as lines for `tryck.yaml`.
///
///     # 1 ESPHome device answered. It does not tell whether it has a Bluetooth proxy.
///     radios:
///       - {esphome: hall-proxy.local, key: !secret hall_proxy}    # Hall proxy, ESPHome 2026.6.5, 192.0.2.7
struct ProxySearch {
    struct Entry: Hashable, Sendable {
        var proxy: FoundProxy
        /// The entry of `radios:` for the device, such as `{esphome: hall-proxy.local, key: !secret hall_proxy}`.
        var entry: String
    }

    static let maximumCount = 64
    private static let timeLimit = Duration.seconds(12)
    private static let advice =
        "avahi-browse, which finds ESPHome devices, is not installed: install it with `sudo apt install avahi-utils`."

    let entries: [Entry]
    /// True if more devices than `maximumCount` answered, so that some are not in `entries`.
    let isCut: Bool

    /// - Parameter output: the output of `avahi-browse --parsable --resolve`.
    init(_ output: [UInt8]) {
        var proxies: [FoundProxy] = []
        // avahi-browse prints a line for each network interface and version of IP on which a device answered.
        for line in output.split(separator: UInt8(ascii: "\n")) {
            guard let proxy = FoundProxy(avahi: line), proxy.usableHost != nil else { continue }
            // The case of a name does not count in the DNS.
            let host = proxy.host.lowercased()
            if let place = proxies.firstIndex(where: { $0.host.lowercased() == host && $0.port == proxy.port }) {
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

    /// Runs `avahi-browse`.
    ///
    /// - Parameter path: the value of PATH, in which the program is looked for.
    /// - Throws: `Failure` with advice if avahi is not installed, does not run, or fails without a result.
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
                ? "avahi-daemon, which finds ESPHome devices, is not running: start it with "
                    + "`sudo systemctl start avahi-daemon`."
                : "avahi-browse found nothing and failed\(reason.map { ": \($0)" } ?? "").")
    }

    /// The text of the command without `--json`. All lines but those of entries and `radios:` are comments of YAML.
    var lines: [String] {
        guard !entries.isEmpty else {
            return [
                "# No ESPHome device answered. Devices in other networks cannot: write {esphome: ADDRESS} for them."
            ]
        }
        var lines = [
            entries.count == 1
                ? "# 1 ESPHome device answered. It does not tell whether it has a Bluetooth proxy."
                : "# \(entries.count) ESPHome devices answered. They do not tell which of them have a Bluetooth proxy.",
            "# Paste the lines of your proxies into tryck.yaml. An adapter in transport: becomes another entry of radios:.",
        ]
        if isCut { lines.append("# There are more devices than these.") }
        if entries.contains(where: \.proxy.isEncrypted) {
            lines.append(
                "# A proxy's key is api: encryption: key: in its ESPHome file. Write it into secrets.yaml, after the name behind !secret."
            )
        }
        lines.append("radios:")
        let width = entries.map(\.entry.count).max() ?? 0
        return lines + entries.map { "  - \($0.entry.padded(to: width))  # \($0.proxy.remark)" }
    }

    /// The output of the command with `--json`.
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
    /// The host if it is a valid host name, else the address if it is one of IPv4; `nil` if neither can be used.
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

    /// True for an address of IPv4 that is not one of this machine's loopback interface.
    fileprivate var hasReachableAddress: Bool { isIPv4Address && !address.hasPrefix("127.") }

    private static func isDigit(_ octet: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet) }

    private static func isLetterOrDigit(_ octet: UInt8) -> Bool {
        isDigit(octet) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(octet | 0x20)
    }

    /// The name of the proxy without a number that tells it apart: the first label of the host name; if the address is
    /// used instead, the name of the service. Letters are in lower case, and all but letters and digits become hyphens.
    private var baseName: String {
        let label = usableHost == host ? String(host.prefix { $0 != "." }) : name
        let octets = label.utf8.prefix(60).map { Self.isLetterOrDigit($0) ? $0 | 0x20 : UInt8(ascii: "-") }
        return octets.contains { $0 != UInt8(ascii: "-") } ? String(decoding: octets, as: UTF8.self) : "proxy"
    }

    /// An entry of `radios:`, with a name that no other entry has. What comes from the device in it is only letters,
    /// digits, dots and hyphens, so the device cannot add anything to the configuration.
    ///
    /// - Parameter names: the names of earlier entries, to which the name of this one is added.
    fileprivate func entry(avoiding names: inout Set<String>) -> String {
        let host = usableHost ?? ""
        var name = baseName
        var number = 2
        while !names.insert(name).inserted {
            name = "\(baseName)-\(number)"
            number += 1
        }
        let secret = String(name.map { $0 == "-" ? "_" : $0 })
        return "{esphome: \(host)" + (port == Self.defaultPort ? "" : ":\(port)")
            + (isEncrypted ? ", key: !secret \(secret)" : "")
            + (host.prefix { $0 != "." } == name ? "" : ", name: \"\(name)\"") + "}"
    }

    /// The device's description of itself, for people: in one line, and without control characters.
    fileprivate var remark: String {
        [friendlyName.isEmpty ? name : friendlyName, version.isEmpty ? "" : "ESPHome \(version)", address]
            .filter { !$0.isEmpty }.map { $0.visible.prefix(columns: 48) }.joined(separator: ", ")
    }
}

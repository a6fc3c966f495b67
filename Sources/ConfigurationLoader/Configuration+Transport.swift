import ButtonModel
import Settings
import YAMLFiles

// Parses the transports of tryck.yaml, and detects two transports that mean the same radio.
extension Configuration.Transport {
    /// Parses the value of `transport:`.
    init?(_ text: String) {
        func rest(after prefix: String) -> String? {
            text.hasPrefix(prefix) && text.utf8.count > prefix.utf8.count ? String(text.dropFirst(prefix.count)) : nil
        }
        if text == "auto" {
            self = .auto
        } else if text == "none" {
            self = .none
        } else if let path = rest(after: "simulated:") {
            self = .simulated(path: path)
        } else if let path = rest(after: "h4:unix:") {
            self = .h4Unix(path: path)
        } else if let address = rest(after: "h4:tcp:") {
            guard let endpoint = HostAndPort(address) else { return nil }
            self = .h4TCP(host: endpoint.host, port: endpoint.port)
        } else if text == "bluez" {
            self = .bluez
        } else if let adapter = rest(after: "hci:") ?? rest(after: "bluez:") {
            let isShared = text.hasPrefix("bluez:")
            if YAMLNumber.isInteger(adapter), let index = Int(adapter), (0...65_534).contains(index) {
                self = isShared ? .bluezIndex(index) : .hciIndex(index)
            } else if let address = BluetoothAddress(adapter) {
                self = isShared ? .bluezAddress(address) : .hciAddress(address)
            } else {
                return nil
            }
        } else {
            return nil
        }
    }

    /// True if any adapter will do.
    var takesAny: Bool { self == .auto || self == .bluez }

    var usesBlueZ: Bool {
        switch self {
        case .auto, .bluez, .bluezIndex, .bluezAddress: true
        case .hciIndex, .hciAddress, .h4TCP, .h4Unix, .command, .esphome, .simulated, .none: false
        }
    }

    /// True for the same proxy with another key, too, and for an adapter that BlueZ would share while it is Tryck's alone.
    func isSameRadio(as other: Self) -> Bool {
        if case .esphome(let host, let port, _) = self, case .esphome(let otherHost, port, _) = other {
            return Self.plainHost(host) == Self.plainHost(otherHost)
        }
        return withoutBlueZ == other.withoutBlueZ
    }

    /// The same adapter for Tryck alone.
    private var withoutBlueZ: Self {
        if case .bluezIndex(let index) = self { return .hciIndex(index) }
        if case .bluezAddress(let address) = self { return .hciAddress(address) }
        return self
    }

    /// The name of a host regardless of case and of a final dot, which do not count in the DNS.
    private static func plainHost(_ host: String) -> String {
        let name = host.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}

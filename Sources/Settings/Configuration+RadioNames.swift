import ButtonModel

extension Configuration.Transport {
    /// The name of a radio with this transport, if it has no other: `hci0`, `bluez`, the host's first label, the program.
    package var shortName: String {
        switch self {
        case .auto: "auto"
        case .hciIndex(let index): "hci\(index)"
        case .hciAddress(let address): "hci-" + address.description.filter { $0 != ":" }
        case .bluez: "bluez"
        case .bluezIndex(let index): "bluez\(index)"
        case .bluezAddress(let address): "bluez-" + address.description.filter { $0 != ":" }
        case .h4TCP(let host, let port):
            // An address has no first label that could be a name.
            host.utf8.allSatisfy({ (0x2E...0x3A).contains($0) })
                ? "\(host)-\(port)" : String(host.prefix { $0 != "." })
        case .esphome(let host, _, _):
            host.utf8.allSatisfy({ (0x2E...0x3A).contains($0) }) ? host : String(host.prefix { $0 != "." })
        case .h4Unix(let path): String(path.split(separator: "/").last ?? "socket")
        case .simulated: "simulated"
        case .command(let words): String(words.first?.split(separator: "/").last ?? "command")
        case .none: "none"
        }
    }
}

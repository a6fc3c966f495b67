import ButtonModel
import CommandSupport
import CommandText
import Edges
import JSON
import Radios

/// Derives the findings about the radios of this machine, and about the buttons that they receive.
struct RadioDiagnosis: Hashable, Sendable {
    private let seen: Observations
    private let status: JSONValue?

    init(_ observations: Observations) {
        seen = observations
        status = observations.status
    }

    var adapter: Finding? {
        if let status {
            if let radios = status["radios"]?.arrayValue, radios.count > 1 { return self.radios(radios) }
            let adapter = status["adapter"] ?? .null
            let isShared = adapter["shared"]?.boolValue == true
            let name = [
                adapter.text("transport"), adapter["address"]?.stringValue ?? "", isShared ? "shared with BlueZ" : "",
            ].filter { !$0.isEmpty }
            guard adapter.text("transport") != "none" else { return .ok(.adapter, "none, as configured") }
            if adapter.text("state") == "powered_on" { return .ok(.adapter, name.joined(separator: ", ")) }
            guard let fault = DaemonFaults(status).adapter else {
                return .warning(
                    .adapter, "\(name.joined(separator: ", ")) is being set up", mend: "tryck status")
            }
            return .problem(.adapter, fault.asFinding, mend: mend(adapter: fault))
        }
        return switch seen.adapter {
        case .notTried: nil
        case .notNeeded: .ok(.adapter, "none is needed, as configured")
        case .opened(let name): .ok(.adapter, "\(name) can be used")
        case .shared(let name): .ok(.adapter, "\(name) can be shared with BlueZ")
        case .notShared(let fault): .problem(.adapter, fault.asFinding, mend: mend(adapter: fault))
        case .left(let name, isChosen: true): .ok(.adapter, "\(name) exists, but was not tried: bluetoothd is running")
        case .left(let name, isChosen: false):
            .problem(
                .adapter, "\(name) is in use by BlueZ: bluetoothd is running",
                mend: "sudo systemctl disable --now bluetooth.service")
        // This user cannot see whether the service may open the adapter.
        case .failed(.notPermitted(let index)) where seen.hasService && seen.user != "root":
            .warning(.adapter, "\(seen.user) has no permission to open hci\(index)", mend: "sudo tryck doctor")
        case .failed(let failure): .problem(.adapter, "\(failure)", mend: mend(adapter: "\(failure)"))
        }
    }

    /// A finding about whether Tryck uses the adapter exclusively or shares it with BlueZ, and when the other way would
    /// be better.
    var sharing: Finding? {
        if let full { return full }
        guard seen.usesAdapter else { return nil }
        if let foreignLink { return foreignLink }
        if let crowded { return crowded }
        let others =
            seen.adapters.count > 1 ? " With \(seen.adapters.count) adapters, each can be used in either way" : ""
        let isShared: Bool =
            if let status {
                status["adapter"]?["shared"]?.boolValue == true
                    || status["radios"]?.arrayValue?.contains { $0.text("kind") == "bluez" } == true
            } else if case .shared = seen.adapter {
                true
            } else {
                false
            }
        let sentence =
            if isShared {
                """
                the adapter is shared with BlueZ, which is right if headphones, a desktop or Home Assistant use Bluetooth \
                here, too. If nothing else does, an adapter for Tryck alone (transport: hci:0) answers some milliseconds sooner.
                """
            } else if seen.isBlueZRunning {
                """
                the adapter is for Tryck alone, which is right if nothing else here uses Bluetooth. But bluetoothd runs: if \
                something needs it, share the adapter (transport: bluez), or plug in a second one.
                """
            } else {
                """
                the adapter is for Tryck alone, which is right as long as nothing else here uses Bluetooth. Other programs \
                would need bluetoothd, and transport: bluez in tryck.yaml.
                """
            }
        return .ok(.sharing, (sentence + others).asSentence)
    }

    /// A button of Tryck's that another program has through BlueZ, so that its presses do not arrive. D-Bus tells that the
    /// button is held, and not by which program.
    private var foreignLink: Finding? {
        for link in seen.blueZLinks {
            let address = link.address.description
            guard let button = seen.buttons?.first(where: { $0.text("address") == address }),
                button["source"]?.stringValue == nil, Self.isWithoutLink(button)
            else { continue }
            let name = "\(button.text("name").visible) (\(address))"
            return .warning(
                .sharing,
                link.isHeld
                    ? """
                    another program on this machine has \(name) on \(link.adapter), so its presses do not arrive here: end that \
                    program, or remove the button from it (Home Assistant's Flic integration?)
                    """
                    : """
                    BlueZ has connected \(name) on \(link.adapter) for another program, and not for Tryck: presses do not arrive \
                    here until that link ends
                    """, mend: "bluetoothctl disconnect \(address)")
        }
        return nil
    }

    /// True if the daemon has no link to the button, and is not about to end one.
    private static func isWithoutLink(_ button: JSONValue) -> Bool {
        ["disconnected", "connecting"].contains(button.text("state"))
    }

    /// A radio that BlueZ shares, and that has links to some of its buttons only. BlueZ does not tell how many links its adapter
    /// can have, so Tryck does not know whether the others have no link because there is no room. The smallest adapters have three.
    private var crowded: Finding? {
        for radio in status?["radios"]?.arrayValue ?? [] where radio.text("kind") == "bluez" {
            let (links, count) = (radio["links"]?.integerValue ?? 0, Int64(radio["buttons"]?.arrayValue?.count ?? 0))
            guard links >= 3, links < count, radio["limit"]?.integerValue == nil else { continue }
            return .warning(
                .sharing,
                """
                \(links) of \(count) buttons are connected, and BlueZ does not tell how many this adapter can connect. If presses \
                of the others come late, write the number in tryck.yaml, so that buttons take turns: \
                bluetooth: {max_connections: \(links)}
                """, mend: "tryck buttons")
        }
        return nil
    }

    /// A radio at which more than 1 % of the presses of the last day found all links in use.
    private var full: Finding? {
        let radios = status?["radios"]?.arrayValue ?? []
        for entry in status?["crowded"]?.arrayValue ?? [] {
            let (presses, late) = (entry["presses"]?.integerValue ?? 0, entry["late"]?.integerValue ?? 0)
            guard late > 0, late > presses / 100 else { continue }
            let (radio, button) = (entry.text("radio").visible, entry.text("button").visible)
            let advice =
                radios.count > 1
                ? "move \(button), which had most of them, or another radio, so that another radio hears it better"
                : "add a second adapter, or an ESPHome proxy near \(button), which had most of them"
            return .warning(
                .sharing,
                """
                \(late) of the \(Quantity.count(presses, "press", "presses")) of the last day found all links of \(radio) in use, and \
                came late: \(advice)
                """, mend: "tryck radios")
        }
        return nil
    }

    /// The signal strength in dBm below which a link does not last. Several radios do not connect to a button that they
    /// hear less well (`RadioChoice`).
    static let weakestSignal: Int64 = -92

    /// A finding about whether each button is received well enough by one of the radios.
    var signal: Finding? {
        guard let buttons = seen.buttons else { return nil }
        let weak = buttons.compactMap { button -> (name: String, rssi: Int64)? in
            let heard = button["radios"]?.arrayValue?.compactMap { $0["rssi"]?.integerValue } ?? []
            guard let rssi = heard.max() ?? button["rssi"]?.integerValue, rssi < Self.weakestSignal else { return nil }
            return (button.text("name").visible, rssi)
        }
        guard let first = weak.first else { return .ok(.signal, "no button is weaker than \(Self.weakestSignal) dBm") }
        let more = weak.count > 1 ? ", and \(Quantity.count(Int64(weak.count - 1), "other button")) as weakly" : ""
        return .warning(
            .signal,
            """
            \(first.name) is heard with \(first.rssi) dBm\(more): below \(Self.weakestSignal) dBm no link lasts, so move an \
            adapter or an ESPHome proxy closer
            """, mend: weak.count > 1 ? "tryck buttons" : "tryck button \(first.name.shellWord)")
    }

    /// Several radios. One that fails is a warning as long as another one works.
    private func radios(_ radios: [JSONValue]) -> Finding {
        let ready = radios.filter { $0.text("state") == "ready" }
        guard let fault = DaemonFaults.faults(ofRadios: radios).first else {
            return ready.count == radios.count
                ? .ok(.adapter, "\(radios.count) radios: " + radios.map { $0.text("name") }.joined(separator: ", "))
                : .warning(.adapter, "\(radios.count - ready.count) radios are being set up", mend: "tryck radios")
        }
        let mend = mend(adapter: fault)
        return ready.isEmpty
            ? .problem(.adapter, fault.asFinding, mend: mend) : .warning(.adapter, fault.asFinding, mend: mend)
    }

    /// The command that mends a fault of the adapter. The sentences of a transport contain commands between backquotes.
    private func mend(adapter sentence: String) -> String {
        let quoted = sentence.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
        return quoted.first { ["sudo ", "ls", "bluetoothctl "].contains(where: $0.hasPrefix) } ?? seen.edit
    }
}

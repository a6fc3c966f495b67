import ButtonModel
import CommandSupport
import CommandText
import ControlClient
import Edges
import JSON
import Platform
import Radios
import Setup

/// Derives findings from observations: what is wrong, and which command corrects it.
///
/// The answer of a running daemon counts more than other observations, because the daemon holds the adapter and the
/// broker's session, and writes the state directory as its own user.
struct Diagnosis: Hashable, Sendable {
    /// The space in octets without which there is a finding. With less, the daemon's next events and the checkpoint of its write-ahead log may not fit.
    static let leastFreeSpace: UInt64 = 16 * 1024 * 1024

    private let seen: Observations
    private let status: JSONValue?

    init(_ observations: Observations) {
        seen = observations
        status = if case .status(let status) = observations.daemon { status } else { nil }
    }

    /// A finding for each check that could be made, in the order in which problems are best mended.
    var findings: [Finding] {
        [
            clock, configuration, rules, state, space, database, daemon, adapter, sharing, signal, batteries, sources,
            broker,
            uplink, engine, flicd,
        ].compactMap(\.self)
    }

    private var clock: Finding {
        guard seen.now < Version.builtAt else { return .ok(.clock, seen.now.description) }
        return .problem(
            .clock, "it shows \(seen.now), before this version was released: certificates and times of rules fail",
            mend: "sudo timedatectl set-ntp true")
    }

    // MARK: Files

    private var configuration: Finding? {
        file(.configuration, seen.configuration, mend: edit)
            ?? .ok(.configuration, "there is none: the defaults are used")
    }

    private var rules: Finding? {
        if case .unknown = seen.rules { return nil }
        let found = file(.rules, seen.rules, mend: "tryck check") ?? absentRules
        guard found.state == .ok else { return found }
        if seen.failingTests > 0 {
            return .warning(
                .rules, "tests fail: \(Quantity.count(Int64(seen.failingTests), "failure"))",
                mend: "tryck test")
        }
        guard status?["rules"]?.text("state") != "error" else {
            return .warning(.rules, "they have no errors, but the daemon has not loaded them yet", mend: "tryck reload")
        }
        if let sentence = status?["rules"]?["contradictions"]?.arrayValue?.first?.stringValue,
            case .good(let path, _, _) = seen.rules
        {
            return .warning(.rules, sentence, mend: Self.edit(path, then: "tryck reload"))
        }
        if let sentence = status?["rules"]?["notices"]?.arrayValue?.first?.stringValue {
            let hasRules = status?["rules"]?["loaded"]?.integerValue ?? 0 > 0
            return .warning(
                .rules, sentence, mend: hasRules ? "tryck pair" : Self.edit(seen.rulesPath, then: "tryck reload"))
        }
        return found
    }

    /// A site may leave all rules to its engines.
    private var absentRules: Finding {
        guard status?["uplink"]?["topic"]?.stringValue == nil else {
            return .ok(.rules, "none: its engines have the rules")
        }
        return .warning(
            .rules, "none: \(seen.rulesPath) does not exist: create it, or put tryck.yaml beside your rules",
            mend: Self.edit(seen.rulesPath, then: "tryck reload"))
    }

    private func file(_ check: Finding.Check, _ file: Observations.File, mend: String) -> Finding? {
        switch file {
        case .absent, .unknown: nil
        case .good(let name, let content, warnings: 0): .ok(check, "\(name): \(content)")
        case .good(let name, _, let warnings):
            .warning(
                check, "\(name) has \(Quantity.count(Int64(warnings), "warning"))",
                mend: "tryck check \(name.shellWord)")
        case .bad(let name, let errors, let position, let code):
            .problem(
                check, "\(name) has \(Quantity.count(Int64(errors), "error")), the first at \(position) (\(code))",
                mend: "tryck check \(name.shellWord)")
        case .unusable(let sentence): .problem(check, sentence.asFinding, mend: mend)
        }
    }

    // MARK: The daemon and what it holds

    private var daemon: Finding {
        switch seen.daemon {
        case .status(let status) where status.text("version") != Version.string:
            .warning(
                .daemon, "the daemon has version \(status.text("version")), this command \(Version.string)",
                mend: "sudo systemctl restart tryck")
        case .status(let status):
            .ok(
                .daemon,
                "\(status.text("version")), up \(Quantity.span(seconds: status["uptime_s"]?.integerValue ?? 0))")
        case .silent(.notPermitted(let path)):
            .problem(
                .daemon, "\(seen.user) has no permission to use \(path)", mend: "sudo usermod -aG tryck \(seen.user)")
        case .silent(.notRunning(let path)):
            .problem(
                .daemon, "no daemon listens on \(path)",
                mend: path == ControlSocket.systemPath
                    ? "sudo systemctl start tryck"
                    : seen.configuration == .absent
                        ? "sudo tryck run" : "tryck run --config \(seen.configurationPath.shellWord)")
        case .silent(let failure): .problem(.daemon, "\(failure)", mend: "journalctl -u tryck -n 50")
        }
    }

    private var adapter: Finding? {
        if let status {
            if let radios = status["radios"]?.arrayValue, radios.count > 1 { return self.radios(radios) }
            let adapter = status["adapter"] ?? .null
            let isShared = adapter["shared"]?.boolValue == true
            let name = [
                adapter.text("transport"), adapter["address"]?.stringValue ?? "", isShared ? "shared with BlueZ" : "",
            ].filter { !$0.isEmpty }
            guard adapter.text("transport") != "none" else { return .ok(.adapter, "none, as configured") }
            if adapter.text("state") == "powered_on" { return .ok(.adapter, name.joined(separator: ", ")) }
            guard let fault = Self.faults(of: status).adapter else {
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
    private var sharing: Finding? {
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
    private var signal: Finding? {
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
        guard let fault = Self.radioFaults(radios).first else {
            return ready.count == radios.count
                ? .ok(.adapter, "\(radios.count) radios: " + radios.map { $0.text("name") }.joined(separator: ", "))
                : .warning(.adapter, "\(radios.count - ready.count) radios are being set up", mend: "tryck radios")
        }
        let mend = mend(adapter: fault)
        return ready.isEmpty
            ? .problem(.adapter, fault.asFinding, mend: mend) : .warning(.adapter, fault.asFinding, mend: mend)
    }

    /// The faults of several radios, as the daemon lists them.
    private static func radioFaults(_ radios: [JSONValue]) -> [String] {
        guard radios.count > 1 else { return [] }
        return radios.compactMap { radio in radio["advice"]?.stringValue.map { "\(radio.text("name")): \($0)" } }
    }

    /// Only the daemon's answer counts, because a connection of this command to a flicd would be another client of it.
    private var batteries: Finding? {
        guard let buttons = seen.buttons else { return nil }
        let low = buttons.filter { $0["battery_low"]?.boolValue == true }.map { $0.text("name").visible }
        guard !low.isEmpty else { return .ok(.batteries, "none is low") }
        return .warning(
            .batteries, "low: \(low.joined(separator: ", ")): change it, a CR2032", mend: "tryck buttons")
    }

    private var sources: Finding? {
        guard let sources = status?["sources"]?.arrayValue, !sources.isEmpty else { return nil }
        if let lost = sources.first(where: { $0["connected"]?.boolValue != true }) {
            let fault = lost["fault"]?.stringValue ?? "\(lost.text("url")) is not connected yet"
            let address = lost.text("url").split(separator: "/").last.map(String.init) ?? ""
            return .problem(.sources, fault.asFinding, mend: "curl -v telnet://\(address)")
        }
        if let idle = sources.first(where: { $0.text("adapter") != "powered_on" }) {
            return .warning(
                .sources, "\(idle.text("url")) has no working adapter: \(idle.text("adapter").wordsSpaced)",
                mend: "tryck status")
        }
        return .ok(.sources, sources.map { "\($0.text("url")), connected" }.joined(separator: "; "))
    }

    private var broker: Finding? {
        if let status {
            let broker = status["broker"] ?? .null
            switch broker.text("state") {
            case "none": return .ok(.broker, "none, as configured")
            case "connected": return .ok(.broker, "\(broker.text("url")), connected")
            default: break
            }
            // The attempt of this command has the kind of the fault, and the daemon's answer only its sentence.
            if case .failed(let failure) = seen.broker { return problem(of: failure) }
            let fault = Self.faults(of: status).broker ?? "\(broker.text("url")) is not connected yet"
            return .problem(.broker, fault.asFinding, mend: "sudo systemctl restart tryck")
        }
        return switch seen.broker {
        case .notTried: nil
        case .notNeeded: .ok(.broker, "none, as configured")
        case .embedded(isInstalled: true): .ok(.broker, "the daemon starts its own")
        case .embedded(isInstalled: false):
            .problem(.broker, "there is no mosquitto for mqtt.broker: embedded", mend: "sudo apt install mosquitto")
        case .connected(let endpoint): .ok(.broker, "\(endpoint) accepts the connection")
        case .failed(let failure): problem(of: failure)
        }
    }

    /// Only the daemon's answer counts, because another connection with the site's will would tell engines that the site is
    /// gone. `nil` if this machine is no site.
    private var uplink: Finding? {
        guard let uplink = status?["uplink"], uplink["topic"]?.stringValue != nil else { return nil }
        let broker = uplink.text("broker")
        if let fault = uplink["fault"]?.stringValue {
            return .problem(.uplink, fault.asFinding, mend: Self.mend(refused: uplink) ?? edit)
        }
        guard uplink["connected"]?.boolValue == true else {
            return .problem(.uplink, "\(broker) is not connected yet", mend: "tryck status")
        }
        let waiting = uplink["unclaimed"]?.integerValue ?? 0
        guard uplink["engine_online"]?.boolValue == true else {
            return .warning(
                .uplink,
                "\(broker) is connected, and no engine of \(uplink.text("topic")) is online there: "
                    + "\(Quantity.count(waiting, "event")) in the journal",
                mend: "tryck status")
        }
        guard uplink["expiry"]?.boolValue == true else {
            return .warning(
                .uplink, "\(broker) has no MQTT 5, so an engine cannot know how long it kept a press",
                mend: edit)
        }
        if let warning = uplink["warnings"]?.arrayValue?.first?.stringValue {
            return .warning(.uplink, warning.asFinding, mend: "tryck status")
        }
        let dropped = uplink["dropped"]?.integerValue ?? 0
        guard dropped == 0 else {
            return .warning(
                .uplink, "the journal has dropped \(Quantity.count(dropped, "message")) since the start",
                mend: "tryck status")
        }
        return .ok(.uplink, "\(broker), connected, and an engine is online")
    }

    /// `nil` if this machine is no engine.
    private var engine: Finding? {
        guard let engine = status?["engine"], engine["name"]?.stringValue != nil else { return nil }
        let name = "\(engine.text("name")), share \(engine.text("share"))"
        if let fault = engine["fault"]?.stringValue {
            return .problem(.engine, fault.asFinding, mend: Self.mend(refused: engine) ?? edit)
        }
        let sites = engine["sites"]?.arrayValue?.count ?? 0
        switch engine.text("state") {
        case "leading": break
        case "standing_by": return .ok(.engine, "\(name), stands by for another engine")
        default: return .warning(.engine, "\(name), waits for the broker", mend: "tryck status")
        }
        guard sites > 0 else {
            return .warning(
                .engine, "\(name), leads, and no site is connected", mend: "tryck status")
        }
        return .ok(.engine, "\(name), leads, with \(Quantity.count(Int64(sites), "site"))")
    }

    /// The line that the access rules of the broker need, as a comment of the command that edits them at the broker; `nil` if the
    /// broker refuses nothing.
    ///
    /// - Parameter part: `uplink` or `engine` of the status.
    private static func mend(refused part: JSONValue) -> String? {
        part["refused"]?.arrayValue?.first?.stringValue.map { "sudoedit /etc/mosquitto/acl  # topic \($0)" }
    }

    /// `nil` when no clients of flicd are served.
    private var flicd: Finding? {
        guard let flicd = status?["flicd"], flicd["address"]?.stringValue != nil else { return nil }
        guard let fault = flicd["fault"]?.stringValue else {
            let clients = Quantity.count(flicd["clients"]?.integerValue ?? 0, "client")
            return .ok(.flicd, "\(flicd.text("address")), \(clients)")
        }
        let port = flicd.text("address").split(separator: ":").last ?? ""
        return .problem(.flicd, fault.asFinding, mend: "sudo ss -ltnp 'sport = :\(port)'")
    }

    private func problem(of failure: MQTTFailure) -> Finding {
        let mend =
            switch failure {
            case .connectionRefused, .unreachable, .noAnswer, .connectionLost:
                seen.brokerHost.map(Self.isHere) ?? true ? "sudo systemctl restart mosquitto" : edit
            case .security(_, .unusableFile(_, let path)): "ls -l \(path.shellWord)"
            case .notAuthorized where seen.hasSecretPassword:
                Self.edit(
                    "\(SystemEnvironment.directory(of: seen.configurationPath))/secrets.yaml",
                    then: "sudo systemctl restart tryck")
            case .hostNotFound, .notAuthorized, .clientIdentifierRejected, .protocolVersionRefused, .refused,
                .security, .disconnectedByBroker, .packetTooLong, .tooMuchHeld, .malformedPacket, .unusableOption:
                edit
            }
        return .problem(.broker, "\(failure)", mend: mend)
    }

    private static func isHere(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }

    /// The command that mends a fault of the adapter. The sentences of a transport contain commands between backquotes.
    private func mend(adapter sentence: String) -> String {
        let quoted = sentence.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
        return quoted.first { ["sudo ", "ls", "bluetoothctl "].contains(where: $0.hasPrefix) } ?? edit
    }

    /// The sentences of a status about the adapter, the broker and the store. The daemon lists the faults of the
    /// adapter, the broker, the rules and the store in this order. It lists a fault of the adapter only if the adapter is
    /// down, and a fault of the broker only if it is not connected.
    private static func faults(of status: JSONValue) -> (adapter: String?, broker: String?, store: String?) {
        let elsewhere =
            (status["sources"]?.arrayValue ?? []).compactMap { $0["fault"]?.stringValue }
            + ["flicd", "uplink", "engine"].compactMap { status[$0]?["fault"]?.stringValue }
            + radioFaults(status["radios"]?.arrayValue ?? [])
        let all = (status["faults"]?.arrayValue ?? []).compactMap(\.stringValue)
        var faults = all.filter { !elsewhere.contains($0) }[...]
        let isDown = !["powered_on", "unknown"].contains(status["adapter"]?.text("state") ?? "unknown")
        let hasAdapter = status["adapter"]?.text("transport") != "none"
        let isAway = status["broker"]?.text("state") == "disconnected"
        let hasRuleFault = status["rules"]?.text("state") == "error"
        // An adapter that is being reset has a sentence only after a fault.
        let others = (isAway ? 1 : 0) + (hasRuleFault ? 1 : 0)
        let hasOneRadio = status["radios"]?.arrayValue?.count ?? 1 == 1
        let adapter = hasOneRadio && isDown && hasAdapter && faults.count > others ? faults.popFirst() : nil
        let broker = isAway ? faults.popFirst() : nil
        if hasRuleFault { _ = faults.popFirst() }
        return (adapter, broker, faults.first)
    }

    // MARK: The state directory

    private var state: Finding {
        let directory = seen.stateDirectory
        let path = directory.path.shellWord
        if let fault = status.flatMap({ Self.faults(of: $0).store }) {
            let mend =
                fault.hasPrefix("no space left")
                ? Self.makeRoom
                : fault.contains("it was set aside") ? "tryck pair" : "ls -ld \(path)"
            return .problem(.state, fault.asFinding, mend: mend)
        }
        switch directory.condition {
        case .absent: return .ok(.state, "\(directory.path) will be created at the first start")
        case .cannotBeMade(let obstacle, let cause):
            return .problem(
                .state, "\(directory.path) cannot be created: \(obstacle): \(cause)",
                mend: "sudo install -d -m 700 -o \(owner) \(path)")
        case .notADirectory(let path):
            return .problem(
                .state, "\(path) is not a directory", mend: "mv \(path.shellWord) \("\(path).old".shellWord)")
        case .readOnlyFileSystem:
            return .problem(
                .state, "\(directory.path) is on a file system that is mounted read-only",
                mend: "sudo mount -o remount,rw \"$(stat -c %m \(path))\"")
        case .notWritable where status != nil && seen.user != "root":
            return .ok(.state, "\(directory.path) belongs to \(directory.owner ?? "the daemon"), which can write to it")
        case .notWritable where directory.owner == "tryck" && seen.user != "root":
            return .problem(
                .state, "\(directory.path) belongs to the service, and \(seen.user) cannot read it",
                mend: "sudo tryck doctor")
        case .notWritable(let cause):
            return .problem(
                .state, "\(directory.path) is not writable for \(seen.user): \(cause)",
                mend: "sudo chown -R \(owner) \(path)")
        case .full(let cause):
            return .problem(.state, "nothing can be written to \(directory.path): \(cause)", mend: Self.makeRoom)
        case .writable: break
        }
        if let foreignFile = directory.foreignFile {
            let owner = isServices && seen.hasService ? "tryck" : directory.owner ?? seen.user
            return .problem(
                .state, "\(foreignFile.path) belongs to \(foreignFile.owner), but the daemon runs as \(owner)",
                mend: "sudo chown -R \(owner) \(path)")
        }
        // A daemon that answers can write the directory, whichever user it runs as.
        if isServices, seen.hasService, status == nil, let owner = directory.owner, owner != "tryck" {
            return .problem(
                .state, "\(directory.path) belongs to \(owner), but the service runs as tryck",
                mend: "sudo chown -R tryck \(path)")
        }
        guard let mode = directory.mode, mode & 0o077 != 0 else { return .ok(.state, directory.path) }
        return .warning(
            .state, "\(directory.path) has mode 0\(String(mode, radix: 8)), but contains pairing keys",
            mend: "chmod 700 \(path)")
    }

    /// True if the state directory is where systemd puts that of the service.
    private var isServices: Bool { seen.stateDirectory.path.hasPrefix("/var/lib/") }

    /// The user who should own the state directory.
    private var owner: String { isServices ? "tryck" : seen.user }

    private var space: Finding? {
        let directory = seen.stateDirectory
        guard let free = directory.freeSpace else { return nil }
        if case .full = directory.condition { return nil }
        let mebibytes = "\(free / 1_048_576) MiB"
        guard free < Self.leastFreeSpace else { return .ok(.space, "\(mebibytes) are free") }
        return .problem(
            .space, "\(mebibytes) are free for \(directory.path), but Tryck needs 16 MiB: free some space",
            mend: Self.makeRoom)
    }

    private static let makeRoom = "sudo journalctl --vacuum-size=50M"

    private var database: Finding? {
        switch seen.stateDirectory.database {
        case .absent, .hidden: nil
        case .inUse: status == nil ? nil : .ok(.database, "in use by the daemon")
        case .sound: .ok(.database, "sound")
        case .failed(.damaged(let path, let cause)):
            .problem(
                .database,
                "\(path) is damaged (\(cause)): at its next start the daemon renames it and creates a new one",
                mend: "cp -a \(path.shellWord) \("\(path).copy".shellWord)")
        case .failed(let failure):
            .problem(.database, "\(failure)", mend: "ls -l \(seen.stateDirectory.path.shellWord)")
        }
    }

    private var edit: String { Self.edit(seen.configurationPath, then: "sudo systemctl restart tryck") }

    private static func edit(_ path: String, then next: String) -> String {
        path.hasPrefix("/etc/") ? "sudoedit \(path.shellWord) && \(next)" : "${EDITOR:-nano} \(path.shellWord)"
    }
}

extension String {
    /// The text as one word of a shell command.
    var shellWord: String {
        let isPlain =
            !isEmpty
            && utf8.allSatisfy { octet in
                switch UInt8(octet) {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "-"), UInt8(ascii: "~"):
                    true
                default: false
                }
            }
        return isPlain ? self : "'" + replacing("'", with: #"'\''"#) + "'"
    }

    /// The text of a finding with several sentences, without the last full stop, which findings do not have.
    fileprivate var asSentence: String { hasSuffix(".") ? String(dropLast()) : self }

    /// The first line of a sentence, without the full stop that some sentences have.
    fileprivate var asFinding: String {
        let line = prefix { !$0.isNewline }
        return String(line.hasSuffix(".") ? line.dropLast() : line)
    }
}

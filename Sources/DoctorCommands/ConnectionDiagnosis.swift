import CommandText
import Edges
import JSON
import Platform

/// Derives the findings about the connections of the daemon: to flicds, to brokers, and from clients of flicd.
struct ConnectionDiagnosis: Hashable, Sendable {
    private let seen: Observations
    private let status: JSONValue?

    init(_ observations: Observations) {
        seen = observations
        status = observations.status
    }

    /// Only the daemon's answer counts, because a connection of this command to a flicd would be another client of it.
    var sources: Finding? {
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

    var broker: Finding? {
        if let status {
            let broker = status["broker"] ?? .null
            switch broker.text("state") {
            case "none": return .ok(.broker, "none, as configured")
            case "connected": return .ok(.broker, "\(broker.text("url")), connected")
            default: break
            }
            // The attempt of this command has the kind of the fault, and the daemon's answer only its sentence.
            if case .failed(let failure) = seen.broker { return problem(of: failure) }
            let fault = DaemonFaults(status).broker ?? "\(broker.text("url")) is not connected yet"
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
    var uplink: Finding? {
        guard let uplink = status?["uplink"], uplink["topic"]?.stringValue != nil else { return nil }
        let broker = uplink.text("broker")
        if let fault = uplink["fault"]?.stringValue {
            return .problem(.uplink, fault.asFinding, mend: Self.mend(refused: uplink) ?? seen.edit)
        }
        guard uplink["connected"]?.boolValue == true else {
            return .problem(.uplink, "\(broker) is not connected yet", mend: "tryck status")
        }
        let waiting = uplink["unclaimed"]?.integerValue ?? 0
        guard uplink["engine_online"]?.boolValue == true else {
            return .warning(
                .uplink,
                "\(broker) is connected, and no engine of \(uplink.text("topic")) is heard there, so none is online, or this "
                    + "site may not read engines/+/state: "
                    + "\(Quantity.count(waiting, "event")) in the journal",
                mend: "tryck status")
        }
        guard uplink["expiry"]?.boolValue == true else {
            return .warning(
                .uplink, "\(broker) has no MQTT 5, so an engine cannot know how long it kept a press",
                mend: seen.edit)
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
    var engine: Finding? {
        guard let engine = status?["engine"], engine["name"]?.stringValue != nil else { return nil }
        let name = "\(engine.text("name")), share \(engine.text("share"))"
        if let fault = engine["fault"]?.stringValue {
            return .problem(.engine, fault.asFinding, mend: Self.mend(refused: engine) ?? seen.edit)
        }
        if let warning = engine["warnings"]?.arrayValue?.first?.stringValue {
            return .warning(
                .engine, warning.asFinding, mend: Observations.edit(seen.rulesPath, then: "tryck reload"))
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
    var flicd: Finding? {
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
                seen.brokerHost.map(Self.isHere) ?? true ? "sudo systemctl restart mosquitto" : seen.edit
            case .security(_, .unusableFile(_, let path)): "ls -l \(path.shellWord)"
            case .notAuthorized where seen.hasSecretPassword:
                Observations.edit(
                    "\(SystemEnvironment.directory(of: seen.configurationPath))/secrets.yaml",
                    then: "sudo systemctl restart tryck")
            case .hostNotFound, .notAuthorized, .clientIdentifierRejected, .protocolVersionRefused, .refused,
                .security, .disconnectedByBroker, .packetTooLong, .tooMuchHeld, .malformedPacket, .unusableOption:
                seen.edit
            }
        return .problem(.broker, "\(failure)", mend: mend)
    }

    private static func isHere(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
}

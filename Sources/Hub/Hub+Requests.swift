import ButtonModel
import Buttons
import JSON
import Rules

/// What a request leads to.
enum RequestAnswer: Hashable, Sendable {
    case ok(JSONValue)
    case error(String)

    func line(transaction: JSONValue?) -> JSONValue {
        var members: [JSONValue.Member]
        switch self {
        case .ok(let data): members = [.init("status", "ok"), .init("data", data)]
        case .error(let sentence):
            members = [.init("status", "error"), .init("error", .string(sentence)), .init("data", .object([]))]
        }
        if let transaction { members.append(.init("transaction", transaction)) }
        return .object(members)
    }
}

// What can be asked, over MQTT and over the control socket.
extension Hub {
    /// The longest search for new buttons.
    static let maximumJoinTime: Int64 = 3600

    mutating func controlLine(_ line: [UInt8], from client: ClientID, at now: Instant) {
        let answer: RequestAnswer
        var transaction: JSONValue?
        do {
            let request = try JSONValue(parsing: line)
            transaction = request["transaction"]
            if let name = request["request"]?.stringValue {
                answer = controlAnswer(name, request["data"] ?? .object([]), from: client, at: now)
            } else {
                answer = .error(#"a request looks like {"request":"status"}"#)
            }
        } catch {
            answer = .error("not JSON: \(error)")
        }
        effects.append(.respond(client, answer.line(transaction: transaction)))
    }

    /// Requests that only the control socket knows.
    private mutating func controlAnswer(
        _ name: String, _ data: JSONValue, from client: ClientID, at now: Instant
    ) -> RequestAnswer {
        switch name {
        case "watch":
            watchers.insert(client)
            return .ok(.object([]))
        case "status": return .ok(status(at: now))
        case "buttons": return .ok(.array(buttons.values.sorted { $0.identity.id < $1.identity.id }.map(describe)))
        case "simulator/press":
            guard let button = data["button"]?.stringValue, let press = data["press"]?.stringValue else {
                return .error(#"data needs "button" and "press""#)
            }
            guard configuration.simulatedButtons.contains(button) else {
                return .error("there is no simulated button \"\(button)\"")
            }
            effects.append(.pressSimulated(button: button, press: press))
            return .ok(.object([]))
        default: return answer(name, data, at: now)
        }
    }

    /// Requests that anybody may make.
    mutating func answer(_ name: String, _ data: JSONValue, at now: Instant) -> RequestAnswer {
        switch name {
        case "permit_join":
            guard let seconds = data.integerValue ?? data["time"]?.integerValue,
                (0...Hub.maximumJoinTime).contains(seconds)
            else { return .error(#"permit_join takes {"time": seconds}, 0 to \#(Hub.maximumJoinTime)"#) }
            guard seconds > 0 else {
                advanceButtons(.stopJoin, at: now)
                return .ok(["time": 0])
            }
            guard case .ready = adapter else {
                return .error(adapterProblem ?? "the Bluetooth adapter is not ready yet; try again in a moment")
            }
            advanceButtons(.permitJoin(.seconds(seconds)), at: now)
            return .ok(["time": .integer(seconds)])
        case "button/remove":
            return remove(data, at: now)
        case "health_check":
            return .ok(["healthy": .bool(faults.isEmpty)])
        default:
            return .error("unknown request \"\(name)\"")
        }
    }

    /// `force` is there for programs that know the request from elsewhere: a button has no say in this anyway.
    private mutating func remove(_ data: JSONValue, at now: Instant) -> RequestAnswer {
        guard let text = data["id"]?.stringValue, !text.isEmpty, data["force"].map({ $0.boolValue != nil }) ?? true
        else {
            return .error(#"button/remove takes {"id": name, id, serial number or address, "force": true or false}"#)
        }
        let found = buttons(called: text)
        guard let button = found.first else {
            return .error("there is no button \"\(text)\"; \"tryck buttons\" lists those that are paired")
        }
        guard found.count == 1 else {
            return .error("\(found.count) buttons are called \"\(text)\"; name the one you mean by its serial number")
        }
        let name = label(of: button)
        advanceButtons(.forget(button), at: now)
        return .ok(["id": .string(button.description), "button": .string(name)])
    }

    /// The buttons with this name; when there are none, the one with this id, address or serial number.
    private func buttons(called text: String) -> [ButtonID] {
        let named = buttons.keys.filter { label(of: $0) == text }
        guard named.isEmpty else { return named.sorted() }
        let text = text.lowercased()
        return buttons.values.map(\.identity).filter {
            [$0.id.description, $0.address.description.lowercased(), $0.serial.lowercased()].contains(text)
        }.map(\.id)
    }

    private var adapterProblem: String? {
        guard configuration.hasTransport else { return "there is no Bluetooth (bluetooth.transport: none)" }
        if case .failed(let reason) = adapter { return reason }
        return nil
    }

    /// What is wrong now, a sentence each.
    private var faults: [String] {
        var faults: [String] = []
        if let adapterProblem, configuration.hasTransport { faults.append(adapterProblem) }
        if configuration.hasBroker, case .disconnected(let reason) = broker { faults.append(reason) }
        if let fault = configuration.ruleFault { faults.append(fault) }
        if let storeFault { faults.append(storeFault) }
        return faults
    }

    private func status(at now: Instant) -> JSONValue {
        let brokerState: JSONValue
        switch broker {
        case _ where !configuration.hasBroker: brokerState = "none"
        case .connected: brokerState = "connected"
        case .disconnected: brokerState = "disconnected"
        }
        let address: JSONValue = if case .ready(let address) = adapter { .string(address.description) } else { .null }
        return [
            "version": .string(configuration.version),
            "uptime_s": .integer((startedAt.map { (now - $0).milliseconds } ?? 0) / 1000),
            "ok": .bool(faults.isEmpty),
            "faults": .array(faults.map(JSONValue.string)),
            "adapter": [
                "transport": .string(configuration.transport), "state": .string(adapter.word), "address": address,
            ],
            "broker": ["url": .string(brokerAddress), "state": brokerState],
            "buttons": [
                "paired": .integer(Int64(buttons.count)),
                "ready": .integer(Int64(buttons.values.count { $0.state == .ready })),
            ],
            "permit_join": .bool(buttonSource.isSearching),
            "rules": [
                "loaded": .integer(Int64(configuration.ruleCount)),
                "state": .string(configuration.ruleFault == nil ? "ok" : "error"),
            ],
            "simulated_buttons": .array(configuration.simulatedButtons.map(JSONValue.string)),
        ]
    }

    private func describe(_ record: ButtonRecord) -> JSONValue {
        let identity = record.identity
        return [
            "name": .string(label(of: identity.id)),
            "id": .string(identity.id.description),
            "address": .string(identity.address.description),
            "uuid": .string(identity.uuid),
            "serial": .string(identity.serial),
            "nickname": .string(identity.nickname),
            "firmware": .integer(Int64(identity.firmwareVersion)),
            "state": .string(record.state.rawValue),
            "trigger_mode": .string(record.mode.rawValue),
            "battery_mv": record.batteryMillivolts.map { .integer(Int64($0)) } ?? .null,
            "press_count": .integer(record.pressCount),
            "last_seen": record.lastSeen.map { .string($0.description) } ?? .null,
        ]
    }
}

import ButtonModel
import Buttons
import Flic
import JSON
import Radios
import Rules

// The JSON of button reports in a recording. A new effect of `ButtonManager` needs a case in `described`, and its new
// `ButtonReport.Kind` a case in `recorded`; the compiler demands both.
extension ButtonReport {
    /// `nil` for effects that are not recorded, because they concern the radio and the timer only.
    func json(hiding redaction: Redaction) -> JSONValue? {
        guard let (kind, members) = described(hiding: redaction) else { return nil }
        return .object([.init("report", .string(kind.rawValue))] + members.map { JSONValue.Member($0, $1) })
    }

    /// False for effects that concern the radio and the timer only.
    var isRecorded: Bool {
        switch self {
        case .effect(.send), .effect(.bus), .effect(.setTimer), .effect(.cancelTimer), .effect(.needsEntropy): false
        case .effect, .known: true
        }
    }

    /// Appends `json`. No `JSONValue` is made of the reports that buttons cause most often.
    func write(into line: inout [UInt8], hiding redaction: Redaction) {
        if case .effect(.moved(let button, let movements)) = self {
            line.begin(.moved, of: button)
            line.append(member: "movements", objects: movements) { $0.forEachMember($1) }
            line.append(UInt8(ascii: "}"))
        } else if case .effect(.events(let button, let events, let cursor, let needsAcknowledgement)) = self {
            line.begin(.events, of: button)
            line.append(member: "events", objects: events) { $0.forEachMember($1) }
            line.append(member: "cursor", cursor.json)
            line.append(member: "needs_acknowledgement", .bool(needsAcknowledgement))
            line.append(UInt8(ascii: "}"))
        } else {
            json(hiding: redaction)?.write(into: &line)
        }
    }

    /// `nil` for a report that only earlier versions recorded.
    init?(recorded report: JSONValue) throws(RecordingFailure) {
        if let name = report["report"]?.stringValue, Self.formerNames.contains(name) { return nil }
        switch try report.member("report", { $0.stringValue.flatMap(Kind.init(rawValue:)) }) {
        case .known: self = .known(try KnownButton(recorded: report))
        case let kind: self = .effect(try .recorded(kind, report))
        }
    }

    private func described(hiding redaction: Redaction) -> (Kind, KeyValuePairs<String, JSONValue>)? {
        switch self {
        case .effect(let effect): effect.described(hiding: redaction)
        case .known(let known): (.known, known.members(hiding: redaction))
        }
    }

    /// Reports of earlier versions. Nothing acted on them, so a replay leaves them out.
    private static let formerNames: Set<String> = ["queue_drained"]

    /// The value of the member `report`.
    enum Kind: String, CaseIterable {
        case known
        case controllerReady = "controller_ready"
        case controllerFailed = "controller_failed"
        case controllerUnusable = "controller_unusable"
        case pairing
        case paired
        case unpaired
        case forgotten
        case state
        case signal
        case rebooted
        case events
        case moved
        case advertisingConfigured = "advertising_configured"
        case battery
        case firmware
        case model
        case nickname
        case sessionFailed = "session_failed"
        case anomaly
        case disconnected
        case firmwareUpdate = "firmware_update"
        case waitingForSpace = "waiting_for_space"
        case abandoned
        case capacity
        case assigned
        case home
        case linkLimit = "link_limit"
        case connectionMade = "connection_made"
        case connectFailed = "connect_failed"
        case notificationLost = "notification_lost"
        case advertised
        case allDisconnected = "all_disconnected"
    }
}

extension ButtonManager.Effect {
    fileprivate func described(
        hiding redaction: Redaction
    ) -> (ButtonReport.Kind, KeyValuePairs<String, JSONValue>)? {
        switch self {
        case .send, .bus, .setTimer, .cancelTimer, .needsEntropy: nil
        case .controllerReady(let address, let description, let radio):
            (
                .controllerReady,
                [
                    "address": JSONValue(address), "description": .string(redaction(description)),
                    "radio": JSONValue(radio.rawValue),
                ]
            )
        case .controllerFailed(let reason, let fault, let radio):
            (
                .controllerFailed,
                [
                    "reason": .string(redaction(reason)), "fault": .string(fault.rawValue),
                    "radio": JSONValue(radio.rawValue),
                ]
            )
        case .controllerUnusable(let reason, let fault, let radio):
            (
                .controllerUnusable,
                [
                    "reason": .string(redaction(reason)), "fault": .string(fault.rawValue),
                    "radio": JSONValue(radio.rawValue),
                ]
            )
        case .pairing(let progress): (.pairing, ["progress": progress.json(hiding: redaction)])
        case .paired(let known, let batteryMillivolts):
            (
                .paired,
                [
                    "known": .object(known.members(hiding: redaction).map { JSONValue.Member($0, $1) }),
                    "battery_mv": JSONValue(batteryMillivolts),
                ]
            )
        case .unpaired(let button): (.unpaired, ["button": JSONValue(button)])
        case .forgotten(let button): (.forgotten, ["button": JSONValue(button)])
        case .state(let button, let state): (.state, ["button": JSONValue(button), "state": .string(state.rawValue)])
        case .signal(let button, let rssi): (.signal, ["button": JSONValue(button), "rssi": JSONValue(rssi)])
        case .rebooted(let button, let cursor): (.rebooted, ["button": JSONValue(button), "cursor": cursor.json])
        case .events(let button, let events, let cursor, let needsAcknowledgement):
            (
                .events,
                [
                    "button": JSONValue(button), "events": .array(events.map(\.json)), "cursor": cursor.json,
                    "needs_acknowledgement": .bool(needsAcknowledgement),
                ]
            )
        case .moved(let button, let movements):
            (.moved, ["button": JSONValue(button), "movements": .array(movements.map(\.json))])
        case .advertisingConfigured(let button): (.advertisingConfigured, ["button": JSONValue(button)])
        case .battery(let button, let millivolts):
            (.battery, ["button": JSONValue(button), "battery_mv": JSONValue(millivolts)])
        case .firmware(let button, let version):
            (.firmware, ["button": JSONValue(button), "version": JSONValue(version)])
        case .model(let button, let model):
            (.model, ["button": JSONValue(button), "model": .string(model.rawValue)])
        case .nickname(let button, let nickname):
            (.nickname, ["button": JSONValue(button), "nickname": .string(redaction(nickname))])
        case .firmwareUpdate(let button, let progress):
            (.firmwareUpdate, ["button": JSONValue(button), "progress": progress.json])
        case .buttonsWithoutLink(let buttons):
            (.waitingForSpace, ["buttons": .array(buttons.sorted().map { JSONValue($0) })])
        case .disconnected(let button, let reason):
            (.disconnected, ["button": JSONValue(button), "reason": .string(reason.name)])
        case .sessionFailed(let button, let failure):
            (.sessionFailed, ["button": JSONValue(button), "word": .string(failure.notation)])
        case .allDisconnected: (.allDisconnected, [:])
        case .abandoned(let address): (.abandoned, ["address": JSONValue(address)])
        case .capacity(let acceptListSize, let linkLimit):
            (
                .capacity,
                [
                    "accept_list_size": JSONValue(acceptListSize),
                    "link_limit": linkLimit.map { JSONValue($0) } ?? .null,
                ]
            )
        case .assigned(let button, let radio):
            (.assigned, ["button": JSONValue(button), "radio": radio.map { JSONValue($0.rawValue) } ?? .null])
        case .homeChanged(let button, let radio):
            (.home, ["button": JSONValue(button), "radio": JSONValue(radio.rawValue)])
        case .linkLimit(let radio, let limit):
            (.linkLimit, ["radio": JSONValue(radio.rawValue), "limit": JSONValue(limit)])
        case .connectionMade(let button, let radio, let duration):
            (
                .connectionMade,
                [
                    "button": JSONValue(button), "radio": JSONValue(radio.rawValue),
                    "after": JSONValue(exactly: duration),
                ]
            )
        case .connectFailed(let radio, let failure):
            (.connectFailed, ["radio": JSONValue(radio.rawValue), "reason": .string(failure.rawValue)])
        case .notificationLost(let radio): (.notificationLost, ["radio": JSONValue(radio.rawValue)])
        case .advertised(let advertisement):
            (
                .advertised,
                [
                    "address": JSONValue(advertisement.address), "name": .string(redaction(advertisement.name)),
                    "rssi": advertisement.rssi.map { JSONValue($0) } ?? .null,
                    "is_public": .bool(advertisement.isPublic),
                    "is_taken": .bool(advertisement.isConnectedElsewhere),
                ]
            )
        case .anomaly(let text): (.anomaly, ["text": .string(redaction(text))])
        }
    }

    fileprivate static func recorded(
        _ kind: ButtonReport.Kind, _ report: JSONValue
    ) throws(RecordingFailure) -> Self {
        switch kind {
        case .known: throw .badMember("report")
        case .controllerReady:
            .controllerReady(
                try report.member("address", \.addressValue),
                try report.optional("description", \.stringValue) ?? "", try RadioID(recorded: report))
        case .controllerFailed:
            // Recordings of 0.1 have only `is_unsupported`.
            .controllerFailed(
                try report.string("reason"),
                report["fault"] == nil
                    ? try report.bool("is_unsupported") ? .unsupported : .failed
                    : try report.member("fault") { $0.stringValue.flatMap(AdapterFault.init(rawValue:)) },
                try RadioID(recorded: report))
        case .controllerUnusable:
            .controllerUnusable(
                try report.string("reason"),
                try report.member("fault") { $0.stringValue.flatMap(AdapterFault.init(rawValue:)) },
                try RadioID(recorded: report))
        case .pairing: .pairing(try PairingProgress(recorded: try report.member("progress") { $0 }))
        case .paired:
            .paired(
                try KnownButton(recorded: try report.member("known") { $0 }),
                batteryMillivolts: try report.integer("battery_mv"))
        case .unpaired: .unpaired(try report.button("button"))
        case .forgotten: .forgotten(try report.button("button"))
        case .state:
            .state(
                try report.button("button"),
                try report.member("state") { $0.stringValue.flatMap(ButtonState.init(rawValue:)) })
        case .signal: .signal(try report.button("button"), rssi: try report.integer("rssi"))
        case .rebooted:
            .rebooted(
                try report.button("button"), try EventCursor(recorded: try report.member("cursor") { $0 }))
        case .events:
            .events(
                try report.button("button"), try events(report),
                try EventCursor(recorded: try report.member("cursor") { $0 }),
                needsAcknowledgement: try report.bool("needs_acknowledgement"))
        case .moved: .moved(try report.button("button"), try movements(report))
        case .advertisingConfigured: .advertisingConfigured(try report.button("button"))
        case .battery: .battery(try report.button("button"), millivolts: try report.integer("battery_mv"))
        case .firmware: .firmware(try report.button("button"), version: try report.integer("version"))
        case .model:
            .model(
                try report.button("button"),
                try report.member("model") { $0.stringValue.flatMap(FlicModel.init(rawValue:)) })
        case .nickname: .nickname(try report.button("button"), try report.string("nickname"))
        case .firmwareUpdate:
            .firmwareUpdate(
                try report.button("button"), try FirmwareProgress(recorded: try report.member("progress") { $0 }))
        case .waitingForSpace:
            .buttonsWithoutLink(
                try report.member("buttons") { value in
                    value.arrayValue.map { Set($0.compactMap { $0.stringValue.flatMap { ButtonID($0) } }) }
                })
        case .disconnected:
            .disconnected(
                try report.button("button"),
                try report.member("reason") { $0.stringValue.flatMap { DisconnectReason(name: $0) } })
        case .sessionFailed:
            .sessionFailed(
                try report.button("button"),
                try report.member("word") { $0.stringValue.flatMap { SessionFailure(notation: $0) } })
        case .allDisconnected: .allDisconnected
        case .abandoned: .abandoned(try report.member("address", \.addressValue))
        case .assigned:
            .assigned(
                try report.button("button"), report["radio"] == .null ? nil : try RadioID(recorded: report))
        case .home: .homeChanged(try report.button("button"), try RadioID(recorded: report))
        case .linkLimit: .linkLimit(try RadioID(recorded: report), try report.integer("limit"))
        case .capacity:
            .capacity(
                acceptListSize: try report.integer("accept_list_size"),
                linkLimit: try report.optional("link_limit") { $0.integerValue.flatMap(Int.init(exactly:)) })
        case .connectionMade:
            .connectionMade(
                try report.button("button"), try RadioID(recorded: report), after: try report.duration("after"))
        case .connectFailed:
            .connectFailed(
                try RadioID(recorded: report),
                try report.member("reason") { $0.stringValue.flatMap(ConnectFailure.init(rawValue:)) })
        case .notificationLost: .notificationLost(try RadioID(recorded: report))
        case .advertised:
            .advertised(
                ButtonAdvertisement(
                    address: try report.member("address", \.addressValue), name: try report.string("name"),
                    rssi: try report.optional("rssi") { $0.integerValue.flatMap(Int8.init(exactly:)) },
                    isPublic: try report.bool("is_public"), isConnectedElsewhere: try report.bool("is_taken")))
        case .anomaly: .anomaly(try report.string("text"))
        }
    }

    private static func events(_ report: JSONValue) throws(RecordingFailure) -> [ButtonEvent] {
        let button = try report.button("button")
        var events: [ButtonEvent] = []
        for event in try report.member("events", \.arrayValue) {
            events.append(try ButtonEvent(recorded: event, of: button))
        }
        return events
    }

    private static func movements(_ report: JSONValue) throws(RecordingFailure) -> [ButtonMovement] {
        let button = try report.button("button")
        var movements: [ButtonMovement] = []
        for movement in try report.member("movements", \.arrayValue) {
            movements.append(try ButtonMovement(recorded: movement, of: button))
        }
        return movements
    }
}

/// The recorded members of a known button. The pairing is left out, because it is secret.
extension KnownButton {
    fileprivate func members(hiding redaction: Redaction) -> KeyValuePairs<String, JSONValue> {
        [
            "identity": identity.json(hiding: redaction), "cursor": cursor.json,
            "advertising_configured": .bool(advertisingConfigured), "settings": settings.json, "dials": dials.json,
        ]
    }

    fileprivate init(recorded known: JSONValue) throws(RecordingFailure) {
        self.init(
            identity: try ButtonIdentity(recorded: try known.member("identity") { $0 }), pairing: .notRecorded,
            cursor: try EventCursor(recorded: try known.member("cursor") { $0 }),
            advertisingConfigured: try known.bool("advertising_configured"),
            settings: try ButtonSettings(recorded: try known.member("settings") { $0 }),
            dials: try known.optional("dials", \.dialsValue) ?? [:])
    }
}

extension FirmwareProgress {
    fileprivate var json: JSONValue {
        switch self {
        case .waiting: ["state": "waiting"]
        case .transferring(let percentage): ["state": "transferring", "percentage": JSONValue(percentage)]
        case .finished: ["state": "finished"]
        case .failed(let name, let advice):
            ["state": "failed", "word": .string(name), "advice": .string(advice)]
        }
    }

    fileprivate init(recorded progress: JSONValue) throws(RecordingFailure) {
        switch try progress.string("state") {
        case "waiting": self = .waiting
        case "transferring": self = .transferring(percentage: try progress.integer("percentage"))
        case "finished": self = .finished
        case "failed": self = .failed(name: try progress.string("word"), advice: try progress.string("advice"))
        default: throw .badMember("state")
        }
    }
}

extension PairingProgress {
    fileprivate func json(hiding redaction: Redaction) -> JSONValue {
        switch self {
        case .searching, .ended: ["step": .string(name)]
        case .foundPrivate(let address), .foundPublic(let address), .alreadyPaired(let address),
            .connecting(let address), .connected(let address), .verifying(let address):
            ["step": .string(name), "address": JSONValue(address)]
        case .paired(let identity): ["step": .string(name), "identity": identity.json(hiding: redaction)]
        case .failed(let failure, let address):
            [
                "step": .string(name), "failure": .string(failure.notation),
                "address": address.map { JSONValue($0) } ?? .null,
            ]
        }
    }

    fileprivate init(recorded progress: JSONValue) throws(RecordingFailure) {
        func address() throws(RecordingFailure) -> BluetoothAddress {
            try progress.member("address", \.addressValue)
        }
        switch try progress.string("step") {
        case "searching": self = .searching
        case "found_private": self = .foundPrivate(try address())
        case "found_public": self = .foundPublic(try address())
        case "already_paired": self = .alreadyPaired(try address())
        case "connecting": self = .connecting(try address())
        case "connected": self = .connected(try address())
        case "verifying": self = .verifying(try address())
        case "paired": self = .paired(try ButtonIdentity(recorded: try progress.member("identity") { $0 }))
        case "failed":
            self = .failed(
                try progress.member("failure") { $0.stringValue.flatMap(PairingFailure.init(notation:)) },
                try progress.optional("address", \.addressValue))
        case "ended": self = .ended
        default: throw .badMember("step")
        }
    }
}

extension [UInt8] {
    /// Appends the beginning of a report.
    fileprivate mutating func begin(_ kind: ButtonReport.Kind, of button: ButtonID) {
        append(UInt8(ascii: "{"))
        append(member: "report", .string(kind.rawValue))
        append(member: "button", JSONValue(button))
    }

    /// Appends a member with an array of objects.
    ///
    /// - Parameter forEachMember: calls a function with the members of an element.
    fileprivate mutating func append<Object>(
        member name: String, objects: [Object], _ forEachMember: (Object, (String, JSONValue) -> Void) -> Void
    ) {
        append(member: name, .array([]))
        removeLast()
        for (index, object) in objects.enumerated() {
            append(contentsOf: (index == 0 ? "{" : ",{").utf8)
            forEachMember(object) { append(member: $0, $1) }
            append(UInt8(ascii: "}"))
        }
        append(UInt8(ascii: "]"))
    }
}

extension JSONValue {
    /// - Parameter forEachMember: calls a function with the members of the object.
    fileprivate init(object forEachMember: ((String, JSONValue) -> Void) -> Void) {
        var members: [Member] = []
        forEachMember { members.append(Member($0, $1)) }
        self = .object(members)
    }
}

extension ButtonEvent {
    fileprivate var json: JSONValue { JSONValue(object: forEachMember) }

    /// The button is left out, because the report has it.
    fileprivate func forEachMember(_ body: (String, JSONValue) -> Void) {
        body("step", .string(step.name))
        body("boot_id", JSONValue(bootID))
        body("counter", JSONValue(counter))
        body("ticks", JSONValue(ticks))
        body("queued", .bool(wasQueued))
        body("queued_last", .bool(wasQueuedLast))
        body("part", part.map { .string($0.rawValue) } ?? .null)
        body("swipe", swipe.map { .string($0.rawValue) } ?? .null)
        body("age_ns", JSONValue(exactly: age))
    }

    fileprivate init(recorded event: JSONValue, of button: ButtonID) throws(RecordingFailure) {
        self.init(
            button: button, bootID: try event.integer("boot_id"), counter: try event.integer("counter"),
            step: try event.member("step") { $0.stringValue.flatMap(PressStep.init(name:)) },
            ticks: try event.integer("ticks"), wasQueued: try event.bool("queued"),
            wasQueuedLast: try event.bool("queued_last"), age: try event.duration("age_ns"),
            part: try event.optional("part") { $0.stringValue.flatMap(ButtonPart.init(rawValue:)) },
            swipe: try event.optional("swipe") { $0.stringValue.flatMap(SwipeDirection.init(rawValue:)) })
    }
}

extension ButtonMovement {
    /// The only kind of movement in a recording.
    private static let rotation = "rotation"

    fileprivate var json: JSONValue { JSONValue(object: forEachMember) }

    fileprivate func forEachMember(_ body: (String, JSONValue) -> Void) {
        body("kind", .string(Self.rotation))
        body("steps", JSONValue(steps))
        body("part", .string(part.rawValue))
        body("position", JSONValue(position))
        body("slot", JSONValue(slot))
        body("dial", dial.map { .string($0.name) } ?? .null)
        body("units", JSONValue(units))
        body("queued", .bool(wasQueued))
        body("queued_last", .bool(wasQueuedLast))
        body("age_ns", JSONValue(exactly: age))
    }

    fileprivate init(recorded movement: JSONValue, of button: ButtonID) throws(RecordingFailure) {
        guard try movement.string("kind") == Self.rotation else { throw .badMember("kind") }
        self.init(
            button: button, part: try movement.member("part") { $0.stringValue.flatMap(ButtonPart.init(rawValue:)) },
            steps: try movement.integer("steps"), position: try movement.integer("position"),
            slot: try movement.integer("slot"),
            dial: try movement.optional("dial") { $0.stringValue.flatMap(Dial.init(name:)) },
            units: try movement.integer("units"), wasQueued: try movement.bool("queued"),
            wasQueuedLast: try movement.bool("queued_last"), age: try movement.duration("age_ns"))
    }
}

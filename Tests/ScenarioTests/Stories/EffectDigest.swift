import ButtonModel
import FlicdProtocol
import Glibc
import Hub
import JSON
import MQTTTopics
import Rules

/// A digest (FNV-1a, 64 bits) of all effects of a hub, in order.
///
/// It is computed from a text that contains no names of Swift types and writes every id as its number, so that two
/// versions of the hub with different types and equal behaviour have equal digests.
struct EffectDigest: Sendable {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325
    /// The text itself, if requested.
    private(set) var lines: [String] = []
    private let keepsLines: Bool

    init(keepsLines: Bool) { self.keepsLines = keepsLines }

    mutating func add(_ effect: Hub.Effect) {
        let line = Self.text(of: effect)
        for octet in line.utf8 { add(octet) }
        add(0x0A)
        if keepsLines { lines.append(line) }
    }

    private mutating func add(_ octet: UInt8) { value = (value ^ UInt64(octet)) &* 0x100_0000_01B3 }

    private static func text(of effect: Hub.Effect) -> String {
        switch effect {
        case .setTimer(let deadline): line("timer", deadline.nanoseconds)
        case .cancelTimer: "no-timer"
        case .needsEntropy: "entropy"
        case .goOn: "go on"
        case .openTransport: "open"
        case .closeTransport: "close"
        case .send(let packet, _): line("send", hex(packet))
        case .bus(let effect, _): line("bus", effect)
        case .source(let index, .connect): line("source", index, "connect")
        case .source(let index, .send(let octets)): line("source", index, "send", hex(octets))
        case .source(let index, .close): line("source", index, "close")
        case .record(let token, let changes):
            line("record", token?.rawValue ?? 0, changes.map(text).joined(separator: "; "))
        case .sync(let token): line("sync", token.rawValue)
        case .subscribe(let subscriptions):
            line("subscribe", subscriptions.map { "\($0.topicFilter) \($0.qos) \($0.isWithoutOurs)" })
        case .unsubscribe(let filters): line("unsubscribe", filters)
        case .uplink(let effect): line("uplink", effect)
        case .publish(let id, let message, let expiry):
            line(
                "publish", id.number, message.topicName, hex(message.payload), message.qos, message.retain,
                optional(expiry?.nanoseconds))
        case .startJob(let id, .process(let request)):
            line(
                "process", id.rawValue, request.arguments, request.environment, optional(request.directory),
                hex(request.standardInput))
        case .cancelJob(let id, .process): line("cancel-process", id.rawValue)
        case .startJob(let id, .http(let request)):
            line("web", id.rawValue, request.method, request.url, request.headers, hex(request.body))
        case .cancelJob(let id, .http): line("cancel-web", id.rawValue)
        case .loadRules(let id, let withTests): line("load", id.rawValue, withTests)
        case .discard(let rules): line("discard", rules.set.fingerprint)
        case .readFirmware(let id, let file): line("firmware", id.rawValue, file.name)
        case .respond(let client, let answer): line("respond", client.rawValue, json(answer))
        case .broadcast(let clients, let told): line("tell", clients.map(\.rawValue), json(told))
        case .flicd(let order): line("flicd", text(of: order))
        case .pressSimulated(let button, let press): line("press", button, press)
        case .log(let level, let message): line("log", level.rawValue, message)
        case .setLogLevel(let level): line("log-level", level.rawValue)
        case .status(let sentence): line("status", sentence)
        case .writeMetrics(let octets): line("metrics", hex(octets))
        case .finish(let isRestart): line("finish", isRestart)
        }
    }

    private static func text(of order: FlicdOrder) -> String {
        switch order {
        case .listen: "listen"
        case .send(let client, let octets): line("send", client.rawValue, hex(octets))
        case .pause(let client): line("pause", client.rawValue)
        case .resume(let client): line("resume", client.rawValue)
        case .close(let client, let isWritten): line("close", client.rawValue, isWritten)
        }
    }

    private static func text(of change: StoreChange) -> String {
        switch change {
        case .putButton(let button): line("button", text(of: button))
        case .removeButton(let button): line("no-button", button)
        case .progress(
            let button, let cursor, let recogniser, let pressCount, let sequence, let publishWatermark, let seen):
            line(
                "progress", button, text(of: cursor), recogniser, pressCount.value, sequence.value, publishWatermark,
                optional(seen?.milliseconds))
        case .publishWatermark(let button, let number): line("heard", button, number)
        case .runStarted(let run):
            line(
                "run", run.id, run.rule, optional(run.button), text(of: run.event), run.startedAt.milliseconds)
        case .runEnded(let run): line("no-run", run)
        case .rules(let change): line("rules", text(of: change))
        case .battery(let button, let millivolts, let measuredAt, let isLow):
            line("battery", button, millivolts, measuredAt.milliseconds, isLow)
        case .batteryPercentage(let button, let percentage, let measuredAt, let isLow):
            line("battery-percentage", button, percentage, measuredAt.milliseconds, isLow)
        case .settings(let button, let settings): line("settings", button, text(of: settings))
        case .fact(let button, let fact):
            line(
                words[fact.column.name] ?? fact.column.name, button,
                fact == .isAdvertisingConfigured(true) ? "true" : text(of: fact.value))
        case .feed(let change): line("feed", change.key, optional(change.value?.description))
        }
    }

    /// The words of facts that differ from the names of their columns.
    private static let words = [
        "advertising_configured": "advertising", "last_seen": "seen", "trigger_mode": "trigger-mode",
    ]

    private static func text(of value: JSONValue) -> String {
        switch value {
        case .null: "-"
        case .string(let text): text
        default: json(value)
        }
    }

    private static func text(of button: StoredButton) -> String {
        let identity = button.identity
        return line(
            identity.address, identity.uuid, identity.serial, identity.nickname, identity.firmwareVersion,
            identity.model.rawValue, optional(button.name), optional(button.pairing?.identifier),
            hex(button.pairing?.key.octets ?? []), optional(button.source), button.pairedAt.milliseconds,
            text(of: button.cursor), optional(button.syncedCursor.map(text)), button.isAdvertisingConfigured,
            optional(button.batteryMillivolts), optional(button.batteryPercentage),
            optional(button.batteryMeasuredAt?.milliseconds), button.pressCount.value, button.sequence.value,
            button.publishWatermark, optional(button.triggerMode?.rawValue), text(of: button.settings),
            json(button.dials.json),
            button.isBatteryLow, optional(button.lastSeen?.milliseconds), button.recogniser)
    }

    private static func text(of settings: ButtonSettings) -> String {
        line(
            settings.latencyMode.rawValue, optional(settings.autoDisconnectTime), optional(settings.nicknameChosenAt),
            settings.isConnectionWanted, settings.ledMode.rawValue)
    }

    private static func text(of cursor: EventCursor) -> String { "\(cursor.bootID):\(cursor.eventCount)" }

    /// The state that consists of this change alone, and what the change is about.
    private static func text(of change: RuleStateChange) -> String {
        var state = RuleState()
        state.apply(change)
        let key: String =
            switch change {
            case .variable(let name, _): line("variable", name)
            case .cycle(let key, _): line("cycle", key)
            case .enabled(let rule, _): line("enabled", rule)
            case .cooldown(let cooldown): line("cooldown", cooldown.rule)
            case .waiting(let run, _): line("waiting", run.rawValue)
            case .kept(let rule, let button, _): line("kept", rule, button)
            case .daily(let key, _): line("reset", key)
            }
        return line(key, json(state.stored))
    }

    private static func line(_ parts: Any...) -> String { parts.map { "\($0)" }.joined(separator: " ") }

    private static func optional<Value>(_ value: Value?) -> String { value.map { "\($0)" } ?? "-" }

    private static func json(_ value: JSONValue) -> String { String(decoding: value.encoded(), as: UTF8.self) }

    private static func hex(_ octets: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: octets.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

/// The file to which stories append the digests of their hubs' effects, one line for each seed.
///
/// `TRYCK_STORY_DIGESTS=FILE` appends the seed and the digest. `TRYCK_STORY_EFFECTS=FILE` appends all effects of each story
/// as text, which shows what differs; it is large.
enum EffectDigestFile {
    static let isWanted = getenv("TRYCK_STORY_DIGESTS") != nil || getenv("TRYCK_STORY_EFFECTS") != nil
    static let keepsLines = getenv("TRYCK_STORY_EFFECTS") != nil

    static func append(_ digest: EffectDigest, seed: UInt64) {
        let digits = String(digest.value, radix: 16)
        let padding = String(repeating: "0", count: 16 - digits.utf8.count)
        append("\(seed) \(padding)\(digits)\n", to: "TRYCK_STORY_DIGESTS")
        if keepsLines { append(digest.lines.map { "\(seed) \($0)\n" }.joined(), to: "TRYCK_STORY_EFFECTS") }
    }

    /// A single write for each story, so that concurrent stories do not mix their lines.
    private static func append(_ text: String, to variable: String) {
        guard let path = getenv(variable) else { return }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let octets = Array(text.utf8)
        _ = octets.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }
}

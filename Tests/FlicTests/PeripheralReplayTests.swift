import ButtonModel
import Bytes
import JSON
import Testing

@testable import Flic

/// Recorded conversations with `FlicPeripheral` in the button's place: with the same keys and random numbers, the
/// writes of the recorded hosts must get the recorded answers, octet by octet.
@Suite("Replayed recordings: the button")
struct PeripheralReplayTests {
    /// pyflic-ble sets the supports_duo bits in both verifications and adds three octets to its init request; neither
    /// changes what a Flic 2 answers.
    ///
    /// The recorded button sent the four steps of its last double click in one notification; `FlicPeripheral` sends
    /// each at once, so they are compared as events. That host asks for an auto-disconnect time of 0, after which a
    /// button may drop the link at once; the test lets no time pass, so the link stays.
    @Test("pyflic-ble pairs, reconnects and gets stored and live presses with the recorded answers")
    func secondHost() throws {
        let vector = try Vectors.load("transcript-second-host")
        let sessions = try vector.values("sessions").map { try #require($0.arrayValue) }
        let uuid = try #require(vector["host_read"]).octets("uuid")
        var replay = try ButtonReplay(
            privateKey: vector.octets("button_static_private"), uuid: uuid, bootID: 305_441_741)
        replay.tell(.setPublicMode(true))
        replay.tell(.linkUp(attMTU: 130))
        try replay.run(sessions[0])
        replay.tell(.linkDown)
        let pairing = try #require(replay.button.pairings.first)
        try #expect(pairing.identifier == vector.integer("pairing_identifier"))
        try #expect(pairing.key.octets == vector.octets("pairing_key"))

        replay.wait(untilTicks: 1_100_000)
        replay.tell(.pressed)
        replay.wait(untilTicks: 1_104_000)
        replay.tell(.released)
        replay.wait(untilTicks: 1_116_384)
        replay.tell(.timerFired)
        replay.wait(untilTicks: 1_200_000)
        replay.tell(.linkUp(attMTU: 130))
        try replay.run(Array(sessions[1].dropLast()))

        replay.notifications = []
        for ticks: UInt64 in [1_300_000, 1_303_000, 1_306_000, 1_309_000] {
            replay.wait(untilTicks: ticks)
            replay.tell(replay.notifications.count.isMultiple(of: 2) ? .pressed : .released)
        }
        let live = try replay.notifications.map { try Self.events($0) }
        let recorded = try Self.events(#require(sessions[1].last).octets("notify"))
        #expect(live.flatMap(\.items) == recorded.items)
        #expect(live.last?.eventCount == recorded.eventCount)
    }

    /// Replays the first session of the reference host up to the first press. Later events differ: the recorded
    /// button's clock was a floating-point number, and its single click timeouts are a tick early.
    @Test("the reference host pairs and makes every request with the recorded answers")
    func pairing() throws {
        let vector = try Vectors.load("transcript-pair-events")
        let session = try #require(try vector.values("sessions").first)
        let log = try session.values("log")
        let response = try #require(log.first { $0["note"]?.stringValue?.hasSuffix("FullVerifyResponse2") == true })
        let uuid = Array(try response.octets("notify").dropFirst(3).prefix(16))
        var replay = try ButtonReplay(
            privateKey: #require(session["secrets"]).octets("button_static_private"), uuid: uuid, bootID: 305_441_741)
        replay.tell(.setPublicMode(true))
        replay.wait(untilTicks: 5_000_000)
        replay.tell(.linkUp(attMTU: 140))
        let press = try #require(
            log.firstIndex { $0["note"]?.stringValue?.hasSuffix("ButtonEventNotification") == true })
        try replay.run(Array(log[..<press]))
    }

    /// The recorded button accepted any image; `FlicPeripheral` finds no valid signature in this one and reports 0
    /// words at the end.
    @Test("a firmware image is received with the recorded answers, up to its signature")
    func firmware() throws {
        let log = try Vectors.load("transcript-firmware").values("log")
        let pairing = try #require(
            Pairing(octets: [UInt8](hex: "ec91547cc50523a3bbf7fa31d004a7652f965101") ?? []))
        var replay = try ButtonReplay(
            privateKey: [UInt8](repeating: 1, count: 32), uuid: [], bootID: 305_441_741, nickname: "",
            pairings: [pairing])
        replay.wait(untilTicks: 1_000_000)
        // The recorded button had a session before this one, so its connection ids go on from there.
        replay.tell(.linkUp(attMTU: 130))
        replay.tell(.received([0, 0, 1, 1, 1, 1], random: []))
        replay.tell(.linkUp(attMTU: 130))
        replay.notifications = []
        let end = try #require(log.lastIndex { $0["notify"] != nil })
        // The recording does not order the host's packets against the button's answers, so only the packets are
        // compared.
        try replay.run(Array(log[..<end]), inOrder: false)
        let last = try #require(replay.notifications.last)
        #expect(replay.notifications.count == 1 && Array(last.dropFirst(2).prefix(4)) == [0, 0, 0, 0])
    }

    @Test("a host that sets names, parameters and times gets the recorded answers")
    func maintenance() throws {
        let log = try Vectors.load("transcript-maintenance").values("log")
        let pairing = try #require(
            Pairing(octets: [UInt8](hex: "fe828a4ac04a00e0f4c0f9e7f3639fabbfbf2474") ?? []))
        var replay = try ButtonReplay(
            privateKey: [UInt8](repeating: 1, count: 32), uuid: [], bootID: 305_441_741, pairings: [pairing])
        replay.wait(untilTicks: 1_000_000)
        replay.tell(.linkUp(attMTU: 130))
        replay.tell(.received([0, 0, 1, 1, 1, 1], random: []))
        replay.tell(.linkUp(attMTU: 130))
        replay.notifications = []
        // The recording's ping was sent by hand and ours is sent by a clock; up to the ping every octet is the same.
        let ping = try #require(log.firstIndex { $0["note"]?.stringValue?.hasSuffix("PingRequest") == true })
        try replay.run(Array(log[..<ping]))
    }

    private static func events(_ value: [UInt8]) throws -> EventNotification {
        guard
            case .buttonEventNotification(let events) = try ButtonPacket(
                decoding: value.dropFirst().dropLast(5).map(\.self))
        else { throw NotEvents() }
        return events
    }

    private struct NotEvents: Error {}
}

/// Feeds a recorded host's writes to a button and compares its answers.
private struct ButtonReplay {
    private(set) var button: FlicPeripheral
    /// Notifications that were not yet compared with the recording.
    var notifications: [[UInt8]] = []
    private var now = Instant(sinceBoot: .zero)

    init(
        privateKey: [UInt8], uuid: [UInt8], bootID: UInt32, nickname: String = "Hall", pairings: [Pairing] = []
    ) throws {
        button = FlicPeripheral(
            .init(
                address: Replay.address, serial: "BA00-A00001", uuid: uuid, nickname: nickname, firmwareVersion: 11,
                batteryMillivolts: 3023, privateKey: privateKey,
                rootSeed: try Vectors.load("test-root").octets("ed25519_seed"), bootID: bootID, pairings: pairings),
            at: now)
    }

    mutating func tell(_ input: FlicPeripheral.Input) {
        for case .send(let value) in button.handle(input, at: now) { notifications.append(value) }
    }

    /// Moves the time to the first nanosecond at which the button's clock shows `ticks`.
    mutating func wait(untilTicks ticks: UInt64) {
        now = Instant(nanoseconds: Int64((ticks * 1_000_000_000 + 32_767) / 32_768))
    }

    mutating func run(_ log: [JSONValue], inOrder: Bool = true) throws {
        for (index, entry) in log.enumerated() {
            if entry["write"] != nil {
                let random = try Self.random(after: log[index...])
                tell(.received(try entry.octets("write"), random: random))
            } else if entry["notify"] != nil {
                let expected = try entry.octets("notify")
                guard !notifications.isEmpty else {
                    Issue.record("nothing where the recording has \(expected.hex)")
                    continue
                }
                let note = entry["note"]?.stringValue ?? ""
                #expect(Self.withoutVariant(notifications.removeFirst()) == Self.withoutVariant(expected), "\(note)")
            }
        }
        if inOrder { #expect(notifications.isEmpty) }
    }

    /// The two bits of the certificate that a button does not transmit may have any value; `FlicPeripheral` clears
    /// them.
    private static func withoutVariant(_ value: [UInt8]) -> [UInt8] {
        var value = value
        if value.dropFirst().first == 0, value.count > 38 { value[38] |= 3 }
        return value
    }

    /// The random number of the recorded button's next response, if that response begins a session.
    private static func random(after log: ArraySlice<JSONValue>) throws -> [UInt8] {
        guard let next = log.first(where: { $0["notify"] != nil }) else { return [] }
        let value = try next.octets("notify")
        return switch value.dropFirst().first {
        case 0: Array(value.dropFirst(1 + 108).prefix(8))
        case 8: Array(value.dropFirst(2).prefix(8))
        default: []
        }
    }
}

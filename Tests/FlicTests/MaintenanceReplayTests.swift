import ButtonModel
import Bytes
import JSON
import Testing

@testable import Flic

/// Recordings of the reference host with a button it had paired: names, parameters, an update. Our session takes its
/// place.
@Suite("Replayed maintenance")
struct MaintenanceReplayTests {
    /// Two differences are intended. The reference never forces a name on a button; our session does after a user chose
    /// the name (6.8). And the reference's connection parameters are none of our three latency modes (2).
    @Test("a replayed session sends names, parameters and battery requests as recorded, also after a reboot")
    func maintenance() throws {
        let log = try Vectors.load("transcript-maintenance").values("log")
        let pairing = try #require(Pairing(octets: Self.octets("fe828a4ac04a00e0f4c0f9e7f3639fabbfbf2474")))
        let cursor = EventCursor(bootID: 305_441_741)
        let differing: Set = ["SetNameRequest", "SetConnectionParametersInd"]
        var talk = try Replay(purpose: .reconnect(pairing, cursor, advertisingConfigured: true))

        let names = log.indices.filter { log[$0]["note"]?.stringValue?.hasSuffix("SetNameRequest") == true }
        let parameters = log.indices.filter {
            log[$0]["note"]?.stringValue?.hasSuffix("SetConnectionParametersInd") == true
        }
        let battery = try #require(log.lastIndex { (try? $0.seconds()) == 11831.5 && $0["write"] != nil })
        let second = try #require(log.lastIndex { $0["link"] != nil })
        let chosenAt: UInt64 = 1_760_000_030_500

        try talk.run(Array(log[..<names[0]]))
        talk.handle(.perform(.setNickname(Nickname("Köket 🛋", chosenAt: chosenAt))), at: 1030.5)
        try talk.run(Array(log[names[0]..<names[1]]), differing: differing)
        talk.handle(.perform(.setNickname(Nickname("Older name", chosenAt: chosenAt))), at: 1030.5)
        try talk.run(Array(log[names[1]..<parameters[1]]), differing: differing)
        talk.handle(.perform(.setLatencyMode(.low)), at: 1030.5)
        talk.handle(.perform(.setAutoDisconnectTime(60)), at: 1030.5)
        try talk.run(Array(log[parameters[1]..<battery]), differing: differing)
        talk.handle(.timerFired, at: 11831.5)
        try talk.run(Array(log[battery..<second]))

        let reported = talk.effects.compactMap { if case .nickname(let name) = $0 { name } else { nil } }
        #expect(reported == ["Hall", "Köket 🛋", "Newer name"])
        let forced = try talk.different.compactMap { value -> HostPacket.SetNameRequest? in
            let packet = try HostPacket(decoding: Array(value.dropFirst().dropLast(5)))
            if case .setNameRequest(let request) = packet { return request }
            return nil
        }
        #expect(forced.map(\.isForced) == [true, true] && forced.map(\.timestamp) == [chosenAt, chosenAt])

        talk = try Replay(
            purpose: .reconnect(pairing, cursor, advertisingConfigured: true), latencyMode: .low, firmwareVersion: 11,
            autoDisconnectTime: 60)
        try talk.run(Array(log[second...]), differing: differing)
        #expect(talk.effects.contains(.advertisingConfigured) && talk.effects.contains(.firmware(version: 12)))
        #expect(
            talk.effects.contains(
                .ready(
                    EventCursor(bootID: 280_500_613), rebooted: true, clock: 1_310_720, hasQueuedEvents: false)))
    }

    @Test("a firmware image is sent in the packets of the recording")
    func firmware() throws {
        let vector = try Vectors.load("transcript-firmware")
        let log = try vector.values("log")
        let image = try FirmwareImage(vector.octets("image"))
        let pairing = try #require(Pairing(octets: Self.octets("ec91547cc50523a3bbf7fa31d004a7652f965101")))
        var talk = try Replay(
            purpose: .reconnect(pairing, EventCursor(bootID: 305_441_741), advertisingConfigured: true))
        let start = try #require(
            log.firstIndex { $0["note"]?.stringValue?.hasSuffix("StartFirmwareUpdateRequest") == true })
        try talk.run(Array(log[..<start]))
        talk.handle(.perform(.updateFirmware(image)), at: 1061)
        try talk.run(Array(log[start...]))

        let progress = talk.effects.compactMap { effect -> FirmwareUpdateProgress? in
            if case .firmwareUpdate(let progress) = effect { progress } else { nil }
        }
        #expect(progress.first == .started(units: 0, of: 640) && progress.last == .finished)
        #expect(
            progress.dropFirst().dropLast()
                == [60, 120, 180, 240, 300, 360, 420, 480, 542, 602].map { .received(units: $0, of: 640) }[...])
    }

    @Test("a name is cut and sent as by the references")
    func names() throws {
        for vector in try Vectors.cases("name") {
            let nickname = Nickname(try vector.text("name"), chosenAt: 1_760_000_000_000)
            try #expect(Array(nickname.text.utf8) == vector.octets("stored_utf8"))
            var names = NameExchange(pending: nickname)
            try #expect(names.next().octets == vector.octets("set_name_request_without_mac"))
        }
    }

    private static func octets(_ hex: String) -> [UInt8] { [UInt8](hex: hex) ?? [] }
}

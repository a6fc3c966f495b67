import ButtonModel
import JSON
import TestSupport
import Testing

@testable import Hub

@Suite("Exports")
struct ExportTests {
    @Test("what is written is read again, in the clear and around a ciphertext", arguments: 0..<50 as Range<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let state = ExportedState.random(using: &generator)
        let clear = ExportFile.clear(state)
        #expect(try ExportFile(decoding: clear.encoded()) == clear)
        #expect(try ExportFile.state(fromPlaintext: ExportFile.plaintext(of: state)) == state)
        let seal = try #require(ExportSeal(entropy: generator.bytes(28)))
        let sealed = ExportFile.sealed(seal, ciphertext: generator.bytes(16 + Int(generator.next() % 100)))
        #expect(try ExportFile(decoding: sealed.encoded()) == sealed)
    }

    @Test(
        "an export that was cut off or changed anywhere is refused or read, and nothing traps",
        arguments: 0..<20 as Range<UInt64>)
    func hostile(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let state = ExportedState.random(using: &generator)
        let seal = try #require(ExportSeal(entropy: generator.bytes(28)))
        for file in [ExportFile.clear(state), .sealed(seal, ciphertext: generator.bytes(40))] {
            let octets = try file.encoded()
            // Its last two are the brace and the end of the line.
            for length in 0..<octets.count - 1 {
                #expect(throws: ExportFailure.notAnExport) { try ExportFile(decoding: Array(octets.prefix(length))) }
            }
            for _ in 0..<500 {
                var changed = octets
                for _ in 0...generator.next() % 3 {
                    changed[Int(generator.next() % UInt64(changed.count))] = UInt8(truncatingIfNeeded: generator.next())
                }
                if let read = try? ExportFile(decoding: changed) {
                    #expect(try ExportFile(decoding: read.encoded()) == read)
                }
            }
        }
        _ = try? ExportFile(decoding: generator.bytes(1000))
        _ = try? ExportFile.state(fromPlaintext: generator.bytes(1000))
    }

    @Test(
        "what is no export of ours says why",
        arguments: [
            (#"{}"#, .notAnExport), (#"[]"#, .notAnExport), ("", .notAnExport),
            (#"{"format":"tryck-recording","version":1}"#, .notAnExport),
            (#"{"format":"tryck-export","version":2,"contents":{}}"#, .newerVersion(2)),
            (#"{"format":"tryck-export","version":0,"contents":{}}"#, .badMember("version")),
            (#"{"format":"tryck-export","version":1}"#, .badMember("contents")),
            (#"{"format":"tryck-export","version":1,"contents":"00"}"#, .badMember("installation_id")),
            (contents(#"{"installation_id":"a/b+","buttons":[]}"#), .badMember("installation_id")),
            (contents(#"{"installation_id":"05A1","buttons":[]}"#), .badMember("installation_id")),
            (contents(#"{"installation_id":"05a1","buttons":{}}"#), .badMember("buttons")),
            (contents(#"{"installation_id":"05a1","buttons":[{}]}"#), .badMember("identity")),
        ] as [(String, ExportFailure)])
    func refused(text: String, failure: ExportFailure) {
        #expect(throws: failure) { try ExportFile(decoding: Array(text.utf8)) }
    }

    @Test(
        "a seal that asks for too much, or for what is not known, is refused before anything is computed",
        arguments: [
            (#""n":1"#, .unknownSeal), (#""n":32767"#, .unknownSeal), (#""n":262144"#, .unknownSeal),
            (#""n":-2"#, .badMember("n")), (#""n":1e9"#, .badMember("n")), (#""n":9223372036854775807"#, .unknownSeal),
        ] as [(String, ExportFailure)])
    func seals(member: String, failure: ExportFailure) throws {
        let seal = try #require(ExportSeal(entropy: [UInt8](repeating: 7, count: 28)))
        let octets = try ExportFile.sealed(seal, ciphertext: [UInt8](repeating: 0, count: 16)).encoded()
        let text = String(decoding: octets, as: UTF8.self)
        for (good, bad, failure) in [
            (#""n":32768"#, member, failure), (#""r":8"#, #""r":9"#, .unknownSeal),
            (#""p":1"#, #""p":5"#, .unknownSeal),
            (#""p":1"#, #""p":0"#, .unknownSeal), ("aes-256-gcm", "aes-128-ecb", .unknownSeal),
            ("scrypt", "none", .unknownSeal), (#""nonce":"07"#, #""nonce":""#, .badMember("nonce")),
            (#""salt":"07"#, #""salt":"0707"#, .badMember("salt")),
            (String(repeating: "00", count: 16), String(repeating: "00", count: 15), .badMember("contents")),
        ] {
            #expect(text.contains(good))
            #expect(throws: failure, "\(bad)") {
                try ExportFile(decoding: Array(text.replacing(good, with: bad).utf8))
            }
        }
    }

    @Test("at the bounds it is written and read, and not one beyond them")
    func bounds() throws {
        var state = ExportedState(StoredState(installationID: "05a1"))
        state.buttons = (0..<UInt64(ExportedState.maximumButtonCount)).map { .example($0) }
        #expect(try ExportFile(decoding: ExportFile.clear(state).encoded()) == .clear(state))
        // Hexadecimal digits are twice as long.
        #expect(ExportFile.plaintext(of: state).count * 2 < ExportFile.maximumLength)
        state.buttons.append(.example(UInt64(ExportedState.maximumButtonCount)))
        #expect(throws: ExportFailure.tooManyButtons) { try ExportFile(decoding: ExportFile.clear(state).encoded()) }

        let seal = try #require(ExportSeal(entropy: [UInt8](repeating: 0, count: 28)))
        let frame = try ExportFile.sealed(seal, ciphertext: []).encoded().count
        let room = (ExportFile.maximumLength - frame) / 2
        let longest = ExportFile.sealed(seal, ciphertext: [UInt8](repeating: 1, count: room))
        #expect(try ExportFile(decoding: longest.encoded()) == longest)
        #expect(throws: ExportFailure.tooLong) {
            try ExportFile.sealed(seal, ciphertext: [UInt8](repeating: 1, count: room + 1)).encoded()
        }
        #expect(throws: ExportFailure.tooLong) {
            try ExportFile(decoding: longest.encoded() + [UInt8](repeating: 0x20, count: 2))
        }
    }

    @Test("a count that no button can have reached is refused, and the last that can be is taken")
    func counts() throws {
        let state = ExportedState(StoredState(installationID: "05a1", buttons: [.example(1)]))
        let text = String(decoding: try ExportFile.clear(state).encoded(), as: UTF8.self)
        for (name, good) in [("press_count", "\"press_count\":2"), ("sequence", "\"sequence\":4")] {
            for bad in [Int64.max, Tally.range.upperBound + 1, -1, .min] {
                #expect(text.contains(good))
                #expect(throws: ExportFailure.badMember(name)) {
                    try ExportFile(decoding: Array(text.replacing(good, with: "\"\(name)\":\(bad)").utf8))
                }
            }
            let last = text.replacing(good, with: "\"\(name)\":\(Tally.range.upperBound)")
            #expect(throws: Never.self) { try ExportFile(decoding: Array(last.utf8)) }
        }
    }

    @Test("what only a Duo or a Twist has goes along")
    func models() throws {
        var state = ExportedState(StoredState(installationID: "05a1", buttons: [.example(1)]))
        state.buttons[0].identity.model = .twist
        state.buttons[0].settings.ledMode = .point
        state.buttons[0].dials = [.slot(3): 12_288, .free: 0]
        state.buttons[0].cursor.smallEventCount = 7
        #expect(try ExportFile(decoding: ExportFile.clear(state).encoded()) == .clear(state))
    }

    @Test("the first version of the format does not change, and is read")
    func firstVersion() throws {
        let text = #"""
            {"format":"tryck-export","version":1,"contents":{"installation_id":"05a1","buttons":[{"identity":\#
            {"address":"80:E4:DA:00:00:01","uuid":"000102030405060708090a0b0c0d0e0f","serial":"BA00-A00001",\#
            "nickname":"","firmware":10},"name":"Küche","paired_at_ms":1700000000000,"cursor":{"boot_id":1,\#
            "event_count":3},"advertising_configured":false,"battery_mv":null,"battery_at_ms":null,"press_count":2,\#
            "sequence":4,"trigger_mode":null,"settings":{"latency_mode":"normal","auto_disconnect_s":null,\#
            "nickname_chosen_at_ms":null,"connection_wanted":true},"battery_low":false,"recogniser":"",\#
            "pairing":{"identifier":1,"key":"a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5"}}]}}

            """#
        let state = ExportedState(StoredState(installationID: "05a1", buttons: [.example(1, name: "Küche")]))
        let written = String(decoding: try ExportFile.clear(state).encoded(), as: UTF8.self)
        #expect(written == text)
        #expect(try ExportFile(decoding: Array(text.utf8)) == .clear(state))
    }

    @Test("a button that stands in it twice makes it worthless")
    func twice() throws {
        var state = ExportedState(StoredState(installationID: "05a1"))
        state.buttons = [.example(1), .example(1)]
        #expect(throws: ExportFailure.badMember("buttons")) {
            try ExportFile(decoding: ExportFile.clear(state).encoded())
        }
    }

    @Test("the press that was under way stays where it was")
    func recogniser() {
        var button = StoredButton.example(1)
        button.recogniser = "d1"
        let state = ExportedState(StoredState(installationID: "05a1", buttons: [button]))
        button.recogniser = ""
        #expect(state.buttons == [button])
    }

    private static func contents(_ text: String) -> String {
        #"{"format":"tryck-export","version":1,"contents":\#(text)}"#
    }
}

@Suite("What an import does")
struct ImportPlanTests {
    private static let exported: ExportedState = {
        var state = ExportedState(StoredState(installationID: "05a1"))
        state.buttons = [.example(1, name: "exported"), .example(2)]
        return state
    }()

    @Test("where no button is known all are added, and the installation is the old one again")
    func empty() {
        let plan = ImportPlan(Self.exported, into: StoredState(installationID: "ffff"), isReplacing: false)
        #expect(plan.entries.map(\.outcome) == [.added, .added])
        #expect(plan.changes == [.putButton(.example(1, name: "exported")), .putButton(.example(2))])
        #expect(plan.installationID == "05a1")
    }

    @Test("a button that is known is kept, and so is the installation")
    func kept() {
        let here = StoredState(installationID: "ffff", buttons: [.example(1, name: "here")])
        let plan = ImportPlan(Self.exported, into: here, isReplacing: false)
        #expect(plan.entries.map(\.outcome) == [.kept, .added])
        #expect(plan.entries.map(\.button.displayName) == ["here", "BA00-A00002"])
        #expect(plan.changes == [.putButton(.example(2))])
        #expect(plan.installationID == nil)
    }

    @Test("replaced, a button has the settings of the export and goes on where it is in its events")
    func replaced() throws {
        var known = StoredButton.example(1, name: "here")
        known.cursor = EventCursor(bootID: 9, eventCount: 90)
        known.isAdvertisingConfigured = true
        known.recogniser = "d1"
        known.pressCount = 100
        known.sequence = 100
        known.publishWatermark = 90
        let plan = ImportPlan(
            Self.exported, into: StoredState(installationID: "ffff", buttons: [known]), isReplacing: true)
        var expected = known
        expected.name = "exported"
        #expect(plan.entries.map(\.outcome) == [.replaced, .added])
        #expect(plan.changes == [.putButton(expected), .putButton(.example(2))])

        // The numbers are the maximum of both sides, and the unacknowledged messages are those of this side.
        known.sequence = 1
        known.publishWatermark = 0
        let older = ImportPlan(
            Self.exported, into: StoredState(installationID: "ffff", buttons: [known]), isReplacing: true)
        #expect(older.entries[0].button.sequence == 4)
        #expect(older.entries[0].button.publishWatermark == 4)

        // After a new pairing, the event counts belong to the new host.
        known.pairing?.identifier ^= 1
        let other = ImportPlan(
            Self.exported, into: StoredState(installationID: "ffff", buttons: [known]), isReplacing: true)
        #expect(other.entries[0].button.cursor == Self.exported.buttons[0].cursor)
        #expect(other.entries[0].button.pressCount == 100)
    }
}

extension StoredButton {
    fileprivate static func example(_ number: UInt64, name: String? = nil) -> StoredButton {
        StoredButton(
            identity: ButtonIdentity(
                address: BluetoothAddress(rawValue: 0x80E4_DA00_0000 + number),
                uuid: "000102030405060708090a0b0c0d0e0f", serial: "BA00-A0000\(number)", nickname: "",
                firmwareVersion: 10),
            name: name, pairing: Pairing(identifier: 1, key: .example([UInt8](repeating: 0xA5, count: 16))),
            pairedAt: UTCTime(milliseconds: 1_700_000_000_000), cursor: EventCursor(bootID: 1, eventCount: 3),
            pressCount: 2, sequence: 4)
    }
}

extension PairingKey {
    fileprivate static func example(_ octets: [UInt8]) -> PairingKey {
        PairingKey(octets) ?? { preconditionFailure("16 octets") }()
    }
}

extension ExportedState {
    fileprivate static func random(using generator: inout SeededGenerator) -> ExportedState {
        func number<Number: FixedWidthInteger>() -> Number { Number(truncatingIfNeeded: generator.next()) }
        func perhaps<Value>(_ value: Value) -> Value? { generator.next() & 1 == 0 ? value : nil }
        func text() -> String { String(decoding: generator.bytes(Int(generator.next() % 12)), as: UTF8.self) }
        var state = ExportedState(StoredState(installationID: "05a1"))
        state.buttons = (0..<generator.next() % 4).map { index in
            let address: UInt64 = index << 40 | number() & 0xFF_FFFF_FFFF
            return StoredButton(
                identity: ButtonIdentity(
                    address: BluetoothAddress(rawValue: address, kind: perhaps(.random) ?? .public),
                    uuid: text(), serial: text(), nickname: text(), firmwareVersion: number()),
                name: perhaps(text()),
                pairing: Pairing(identifier: number(), key: .example(generator.bytes(16))),
                pairedAt: UTCTime(milliseconds: number()),
                cursor: EventCursor(bootID: number(), eventCount: number()),
                isAdvertisingConfigured: perhaps(true) ?? false, batteryMillivolts: perhaps(number()),
                batteryMeasuredAt: perhaps(UTCTime(milliseconds: number())),
                pressCount: Tally(clamping: number() as Int64),
                sequence: Tally(clamping: number() as Int64),
                triggerMode: TriggerMode.allCases.randomElement(using: &generator).flatMap(perhaps),
                settings: ButtonSettings(
                    latencyMode: LatencyMode.allCases.randomElement(using: &generator) ?? .normal,
                    autoDisconnectTime: perhaps(number()), nicknameChosenAt: perhaps(number() >> 1 as UInt64),
                    isConnectionWanted: perhaps(false) ?? true),
                isBatteryLow: perhaps(true) ?? false, lastSeen: perhaps(UTCTime(milliseconds: 7)))
        }
        return state
    }
}

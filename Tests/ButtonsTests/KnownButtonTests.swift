import ButtonModel
import Buttons
import Flic
import Simulator
import TestSupport
import Testing

@Suite("Known buttons")
struct KnownButtonTests {
    static let hall = PairingTests.hall
    static let id = ButtonID(PairingTests.hall.wantedAddress)

    static func paired() -> Room {
        var room = Room([hall])
        room.tell(.permitJoin(.seconds(5)))
        room.wait(.seconds(10))
        room.forget()
        return room
    }

    @Test("a press arrives step by step")
    func press() {
        var room = KnownButtonTests.paired()
        room.press("hall", .click)
        room.wait(.seconds(2))
        #expect(room.steps == [.down, .up(.open), .clickTimeout])
    }

    @Test("out of reach and back, it is ready again without pairing, and brings what was pressed meanwhile")
    func reconnect() {
        var room = KnownButtonTests.paired()
        room.reach("hall", false)
        room.wait(.seconds(30))
        #expect(room.manager.state(of: KnownButtonTests.id) == .connecting)
        room.press("hall", .click)
        room.wait(.seconds(5))
        room.reach("hall", true)
        room.wait(.seconds(30))
        #expect(room.states(of: KnownButtonTests.id) == [.connecting, .connected, .ready])
        #expect(room.steps == [.down, .up(.open), .clickTimeout])
        #expect(room.progress.isEmpty)
    }

    @Test("the service of a button that was ready before is not looked for again")
    func attributesAreKept() {
        var room = KnownButtonTests.paired()
        room.leaveAndReturn("hall")
        room.wait(.seconds(20))
        #expect(room.manager.state(of: KnownButtonTests.id) == .ready)
        // Exchange MTU, and the switch of the notifications; what follows are commands.
        #expect(room.requests.filter { $0 & 0x40 == 0 } == [0x02, 0x12])
    }

    @Test("attributes that are elsewhere now are looked for again, on the same link")
    func attributesHaveMoved() {
        var room = KnownButtonTests.paired()
        room.leaveAndReturn("hall") { $0.spoilsSubscription = true }
        room.wait(.seconds(20))
        #expect(room.states(of: KnownButtonTests.id) == [.connected, .ready])
        #expect(room.requests.filter { $0 & 0x40 == 0 }.prefix(3) == [0x02, 0x12, 0x06])
    }

    @Test("an event that was not acknowledged before the link was lost is reported once")
    func noDoubles() {
        var room = KnownButtonTests.paired()
        room.storesAtOnce = false
        room.press("hall", .click)
        room.wait(.seconds(2))
        room.reach("hall", false)
        room.wait(.seconds(30))
        room.reach("hall", true)
        room.wait(.seconds(30))
        #expect(room.manager.state(of: KnownButtonTests.id) == .ready)
        #expect(room.steps == [.down, .up(.open), .clickTimeout])
    }

    @Test("on a disk that is full since the pairing, a new link tells no reboot, loses no press and tells none twice")
    func linkWithoutStore() {
        var room = Room([KnownButtonTests.hall])
        room.storesAtOnce = false
        room.tell(.permitJoin(.seconds(5)))
        room.wait(.seconds(10))
        #expect(room.manager.state(of: KnownButtonTests.id) == .ready && room.steps.isEmpty)
        room.forget()
        room.reach("hall", false)
        room.wait(.seconds(30))
        room.press("hall", .click)
        room.wait(.seconds(5))
        for _ in 0..<2 {
            room.reach("hall", true)
            room.wait(.seconds(30))
            #expect(room.manager.state(of: KnownButtonTests.id) == .ready)
            #expect(room.steps == [.down, .up(.open), .clickTimeout])
            // The boot was known since the pairing.
            #expect(!room.said.contains { if case .rebooted = $0 { true } else { false } })
            #expect(room.world.eventSnapshot(of: "hall")?.stored.isEmpty == false)
            room.reach("hall", false)
            room.wait(.seconds(30))
        }
    }

    @Test("a button that proves that it does not know us any more is not known any more, and can be paired at once")
    func unpaired() {
        let known = KnownButtonTests.paired().manager.knownButtons
        var room = Room([KnownButtonTests.hall], known: known, seed: 7)
        room.wait(.seconds(10))
        #expect(room.said.count { $0 == .unpaired(KnownButtonTests.id) } == 1)
        #expect(room.manager.knownButtons.isEmpty)
        // Nothing more is said of it once it is gone.
        #expect(room.states(of: KnownButtonTests.id) == [.connecting, .connected])
        room.forget()
        room.tell(.permitJoin(.seconds(5)))
        room.wait(.seconds(10))
        #expect(room.progress.contains { $0.name == "paired" } && !room.progress.contains { $0.name == "failed" })
        #expect(room.manager.state(of: KnownButtonTests.id) == .ready)
    }

    @Test("a button that is found out in the middle of a search is paired in the same search")
    func unpairedInSearch() {
        let known = KnownButtonTests.paired().manager.knownButtons
        var room = Room([KnownButtonTests.hall], known: known, seed: 7)
        room.tell(.permitJoin(.seconds(20)))
        room.wait(.seconds(30))
        #expect(room.said.count { $0 == .unpaired(KnownButtonTests.id) } == 1)
        #expect(room.progress.contains { $0.name == "paired" })
        #expect(room.manager.knownButtons.count == 1 && room.manager.knownButtons != known)
    }

    @Test(
        "a false word that a button does not know us keeps its pairing here; after three it is left alone for 20 seconds"
    )
    func pairingExists() {
        var room = KnownButtonTests.paired()
        let known = room.manager.knownButtons
        room.spoilsQuickVerify = true
        room.reach("hall", false)
        room.wait(.seconds(30))
        room.reach("hall", true)
        let failure = ButtonManager.Effect.sessionFailed(KnownButtonTests.id, .pairingExists)
        for count in 1...3 {
            room.press("hall", .click)
            room.wait(.seconds(5))
            #expect(room.said.count { $0 == failure } == count)
        }
        #expect(room.manager.knownButtons == known)
        #expect(room.manager.state(of: KnownButtonTests.id) == .disconnected)
        room.spoilsQuickVerify = false
        room.wait(.seconds(20))
        room.press("hall", .click)
        room.wait(.seconds(10))
        #expect(room.manager.state(of: KnownButtonTests.id) == .ready)
        #expect(room.said.count { $0 == failure } == 3)
    }

    @Test(
        "one packet of a verification that is of no use costs a button that link, and its next press is heard at once")
    func unusableVerification() {
        var room = KnownButtonTests.paired()
        room.reach("hall", false)
        room.wait(.seconds(30))
        room.reach("hall", true)
        room.forget()
        room.spoiltQuickVerifyResponses = 1
        room.press("hall", .click)
        room.wait(.seconds(6))
        #expect(room.manager.state(of: KnownButtonTests.id) == .connecting)
        #expect(room.steps == [])
        room.press("hall", .click)
        room.wait(.seconds(1))
        #expect(room.manager.state(of: KnownButtonTests.id) == .ready)
        #expect(room.steps == [.down, .up(.open), .clickTimeout, .down, .up(.open), .clickTimeout])
    }

    @Test("a button is left alone for 20 seconds after every third verification in a row that fails, and not before")
    func failsThreeTimes() {
        var room = KnownButtonTests.paired()
        room.reach("hall", false)
        room.wait(.seconds(30))
        room.reach("hall", true)
        room.forget()
        room.spoiltQuickVerifyResponses = 2
        for _ in 0..<3 {
            room.press("hall", .click)
            room.wait(.seconds(6))
        }
        // The third was a good one: the count begins anew.
        #expect(room.manager.state(of: KnownButtonTests.id) == .ready)
        room.reach("hall", false)
        room.wait(.seconds(30))
        room.reach("hall", true)
        room.spoiltQuickVerifyResponses = 3
        for state in [.connecting, .connecting, .disconnected] as [ButtonState] {
            room.press("hall", .click)
            room.wait(.seconds(6))
            #expect(room.manager.state(of: KnownButtonTests.id) == state)
        }
        // The button has been ignored for one second of twenty.
        room.press("hall", .click)
        room.wait(.milliseconds(18_500))
        #expect(room.manager.state(of: KnownButtonTests.id) == .disconnected)
        room.wait(.seconds(4))
        #expect(room.manager.state(of: KnownButtonTests.id) == .ready)
    }

    @Test("a button we are asked to forget is gone with its link, and can be paired again at once")
    func forget() {
        var room = KnownButtonTests.paired()
        room.tell(.forget(KnownButtonTests.id))
        room.press("hall", .click)
        room.wait(.seconds(30))
        #expect(room.said == [.forgotten(KnownButtonTests.id)])
        #expect(room.manager.knownButtons.isEmpty)
        room.tell(.forget(KnownButtonTests.id))
        #expect(room.said == [.forgotten(KnownButtonTests.id)], "nothing for one that is not known")
        room.press("hall", .makePublic)
        room.tell(.permitJoin(.seconds(10)))
        room.wait(.seconds(15))
        #expect(room.progress.contains { $0.name == "paired" } && !room.progress.contains { $0.name == "failed" })
        #expect(room.manager.state(of: KnownButtonTests.id) == .ready)
    }

    @Test("a button that is out of reach, or left alone, can be forgotten as well")
    func forgetUnconnected() {
        var room = KnownButtonTests.paired()
        room.reach("hall", false)
        room.wait(.seconds(30))
        room.forget()
        room.tell(.forget(KnownButtonTests.id))
        room.reach("hall", true)
        room.press("hall", .click)
        room.wait(.seconds(60))
        #expect(room.said == [.forgotten(KnownButtonTests.id)])

        room = KnownButtonTests.paired()
        room.spoilsQuickVerify = true
        room.reach("hall", false)
        room.wait(.seconds(30))
        room.reach("hall", true)
        room.wait(.seconds(10))
        room.forget()
        room.tell(.forget(KnownButtonTests.id))
        room.wait(.seconds(60))
        #expect(room.said == [.forgotten(KnownButtonTests.id)])
    }

    @Test("a button that was left alone, was forgotten then and is paired again is connected to like any other")
    func pairedAgainWhileLeftAlone() {
        var room = KnownButtonTests.paired()
        room.reach("hall", false)
        room.wait(.seconds(30))
        room.reach("hall", true)
        room.spoiltQuickVerifyResponses = 3
        for _ in 0..<3 {
            room.press("hall", .click)
            room.wait(.seconds(6))
        }
        #expect(room.manager.state(of: KnownButtonTests.id) == .disconnected)
        room.tell(.forget(KnownButtonTests.id))
        room.press("hall", .makePublic)
        room.tell(.permitJoin(.seconds(10)))
        room.wait(.seconds(15))
        #expect(room.manager.state(of: KnownButtonTests.id) == .ready)
        room.reach("hall", false)
        room.wait(.seconds(60))
        #expect(room.manager.state(of: KnownButtonTests.id) == .connecting)
    }

    @Test("the adapter is lost and comes back: the button is connected to again")
    func adapterLost() {
        var room = KnownButtonTests.paired()
        room.tell(.transportClosed())
        #expect(room.manager.state(of: KnownButtonTests.id) == .disconnected)
        room.tell(.transportOpened())
        room.wait(.seconds(30))
        room.press("hall", .click)
        room.wait(.seconds(10))
        #expect(room.manager.state(of: KnownButtonTests.id) == .ready)
        #expect(room.steps.first == .down)
    }

    @Test("without randomness no session begins")
    func noEntropy() {
        var room = Room([KnownButtonTests.hall], entropy: SessionEntropy.octetCount - 1, givesEntropy: false)
        room.tell(.permitJoin(.seconds(30)))
        room.wait(.seconds(60))
        #expect(room.manager.knownButtons.isEmpty)
        #expect(room.said.contains(.anomaly("no random octets left for a session with 80:E4:DA:00:00:02")))
    }

    @Test("no packet traps it, whatever it is doing", arguments: 1...30 as ClosedRange<UInt64>)
    func noise(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var room = KnownButtonTests.paired()
        for _ in 0..<300 {
            var packet = random.bytes(Int.random(in: 0...60, using: &random))
            // Often enough something that begins like what a controller says.
            if !packet.isEmpty { packet[0] = [2, 4, packet[0]].randomElement(using: &random) ?? 4 }
            if packet.count > 1, packet[0] == 4 {
                packet[1] = [0x05, 0x0E, 0x0F, 0x13, 0x3E].randomElement(using: &random) ?? 0
            }
            room.tell(.received(packet))
            if Bool.random(using: &random) { room.wait(.milliseconds(Int.random(in: 0...200, using: &random))) }
        }
        #expect(room.manager.knownButtons.count == 1, "noise costs no pairing")
    }
}

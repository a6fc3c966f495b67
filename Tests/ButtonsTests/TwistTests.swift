import ButtonModel
import Flic
import Simulator
import TestSupport
import Testing

@testable import Buttons

@Suite("A Twist among other buttons")
struct TwistTests {
    static let lamp = SimulatedButtonDescription(
        name: "lamp", address: BluetoothAddress("90:88:A9:00:00:09"), model: .twist)
    static let id = ButtonID(lamp.wantedAddress)

    static func paired() -> Room {
        var room = Room([PairingTests.hall, lamp])
        room.tell(.permitJoin(.seconds(30)))
        room.wait(.seconds(31))
        room.forget()
        return room
    }

    static func movements(_ room: Room) -> [ButtonMovement] {
        room.said.flatMap { effect -> [ButtonMovement] in
            if case .moved(id, let movements) = effect { movements } else { [] }
        }
    }

    @Test("both are paired, each in its own dialect, and pressed; the Twist is turned, too")
    func beside() throws {
        var room = Self.paired()
        let lamp = try #require(room.manager.knownButton(Self.id))
        let hall = try #require(room.manager.knownButton(KnownButtonTests.id))
        #expect(lamp.identity.model == .twist && lamp.identity.serial.hasPrefix("TA00-"))
        #expect(hall.identity.model == .flic2 && hall.identity.serial.hasPrefix("BA00-"))
        for name in ["lamp", "hall"] { room.press(name, .click) }
        room.wait(.seconds(2))
        #expect(room.steps.filter { $0 == .clickTimeout }.count == 2 && room.steps.count == 6)

        room.turn("lamp", hundredths: 30)
        room.turn("lamp", hundredths: -1)
        room.turn("hall", hundredths: 30)
        room.wait(.seconds(1))
        #expect(Self.movements(room).map(\.steps) == [30, -1])
        #expect(Self.movements(room).map(\.position) == [30, 29] && Self.movements(room).map(\.slot) == [1, 1])
        room.pushTurn("lamp", hundredths: 50)
        room.wait(.seconds(2))
        let pushed = try #require(Self.movements(room).last)
        #expect(pushed.part == .push && pushed.dial == .free && pushed.position == 50 && pushed.slot == 7)
        #expect(room.steps.suffix(2) == [.down, .up(.click)])
        #expect(room.world.dialSnapshot(of: "lamp")?.slot == 7)
        let dials = room.manager.knownButton(Self.id)?.dials
        #expect(dials?[.slot(1)].map(Dial.percentage) == 29 && dials?[.free].map(Dial.percentage) == 50)
        #expect(room.world.violations.isEmpty)
        #expect(!room.said.contains { if case .anomaly = $0 { true } else { false } })
    }

    @Test("each hundredth of a turn is reported exactly once", arguments: UInt64(0)..<8)
    func hundredths(seed: UInt64) {
        var room = Self.paired()
        var generator = SeededGenerator(seed: seed)
        var turned = 0
        for _ in 0..<60 {
            let hundredths = Int.random(in: -9...9, using: &generator)
            turned += hundredths
            room.turn("lamp", hundredths: hundredths)
        }
        room.wait(.seconds(5))
        #expect(Self.movements(room).reduce(0) { $0 + $1.steps } == turned)
        #expect(room.world.dialSnapshot(of: "lamp")?.positions[.slot(1)] == Self.movements(room).last?.units)
    }

    @Test("away and back it brings its presses, and its dial stands where it was set meanwhile")
    func reconnect() {
        var room = Self.paired()
        room.tell(.request(Self.id, .setDial(.slot(1), units: 24_576)))
        room.tell(.request(Self.id, .setLEDMode(.point)))
        room.wait(.seconds(5))
        #expect(room.world.dialSnapshot(of: "lamp")?.positions[.slot(1)] == 24_576)
        #expect(room.world.dialSnapshot(of: "lamp")?.ledModes[.slot(1)] == .point)
        room.reach("lamp", false)
        room.wait(.seconds(30))
        room.press("lamp", .hold)
        room.wait(.seconds(5))
        room.turn("lamp", hundredths: 10)
        room.tell(.request(Self.id, .setDial(.slot(1), units: 12_288)))
        room.tell(.request(Self.id, .setDial(.part(.big), units: 1)))
        room.tell(.request(Self.id, .setLEDMode(.none)))
        room.reach("lamp", true)
        room.wait(.seconds(30))
        #expect(room.manager.state(of: Self.id) == .ready)
        #expect(room.steps == [.down, .hold(ofSecondPress: false), .up(.afterHoldClick)])
        #expect(room.world.dialSnapshot(of: "lamp")?.positions[.slot(1)] == 12_288)
        #expect(room.world.dialSnapshot(of: "lamp")?.ledModes[.slot(1)] == LEDMode.none)
        room.turn("lamp", hundredths: 1)
        room.wait(.seconds(1))
        #expect(Self.movements(room).map(\.position) == [26])
    }

    @Test("after a restart its service is looked for first; taken for another model, it is found all the same")
    func restart() throws {
        let known = try #require(Self.paired().manager.knownButton(Self.id))
        for model in [FlicModel.twist, .flic2] {
            var button = known
            button.identity.model = model
            button.dials = [.slot(2): 4096]
            var lamp = Self.lamp
            lamp.pairings = [known.pairing]
            var room = Room([lamp], known: [button])
            room.press("lamp", .click)
            room.wait(.seconds(10))
            #expect(room.manager.state(of: Self.id) == .ready)
            #expect(room.requests.filter { $0 == 0x06 }.count == (model == .twist ? 1 : 2))
            #expect(room.steps == [.down, .up(.open), .clickTimeout])
            #expect(room.manager.knownButton(Self.id)?.identity.model == .twist)
            #expect(room.world.dialSnapshot(of: "lamp")?.positions[.slot(2)] == 4096)
        }
    }

    @Test("a Flic's root does not make a Twist genuine, nor the other way round")
    func roots() {
        let manager = ButtonManager(extraTrustRoots: [[1]])
        #expect(manager.trustRoots(ofTwist: true) == [ButtonSession.twistRoot, [1]])
        #expect(manager.trustRoots(ofTwist: false) == [ButtonSession.flicRoot, [1]])
        #expect(
            ButtonSession.twistRoot.prefix(4) == [0xA8, 0xB7, 0xDF, 0x10] && ButtonSession.twistRoot.count == 32)
    }

    @Test("without the simulator's root it is not genuine")
    func notGenuine() {
        var room = Room([Self.lamp], trustRoots: [])
        room.tell(.permitJoin(.seconds(10)))
        room.wait(.seconds(20))
        #expect(room.progress.contains(.failed(.session(.invalidCertificate), Self.lamp.wantedAddress)))
    }
}

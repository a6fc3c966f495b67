import ButtonModel
import Bytes
import Flic
import Testing

@testable import Simulator

@Suite("Simulated button description")
struct SimulatedButtonDescriptionTests {
    @Test("omitted properties are derived from the name, and are the same in every run")
    func derived() {
        let kitchen = SimulatedButtonDescription(name: "kitchen")
        #expect(stableHash("") == 0xCBF2_9CE4_8422_2325)
        #expect(stableHash("foobar") == 0x8594_4171_F739_67E8)
        #expect(kitchen.wantedAddress.rawValue >> 24 == 0x80E4DA)
        #expect(kitchen.wantedAddress.kind == .public)
        #expect(kitchen.wantedAddress != SimulatedButtonDescription(name: "hall").wantedAddress)
        #expect(kitchen.derivedSerial.count == 11)
        #expect(kitchen.derivedSerial.hasPrefix("BA00-"))
        var first = SplitMix64(seed: 1)
        var second = SplitMix64(seed: 1)
        let configuration = kitchen.peripheral(at: kitchen.wantedAddress, drawing: &first)
        let again = kitchen.peripheral(at: kitchen.wantedAddress, drawing: &second)
        #expect(configuration == again)
        #expect(configuration.firmwareVersion == 11)
        #expect(configuration.batteryMillivolts == 3000)
        #expect(configuration.uuid.count == 16)
        #expect(configuration.privateKey.count == 32)
    }

    @Test("a name longer than 23 octets is cut between characters")
    func nickname() {
        var random = SplitMix64(seed: 1)
        let long = SimulatedButtonDescription(name: "Küchentür in der Küche unten")
        let nickname = long.peripheral(at: long.wantedAddress, drawing: &random).nickname
        #expect(nickname == "Küchentür in der Küc")
        let exact = SimulatedButtonDescription(name: String(repeating: "x", count: 22) + "ü")
        let cut = exact.peripheral(at: exact.wantedAddress, drawing: &random).nickname
        #expect(cut.utf8.count == 22)
    }

    @Test("behind a foreign controller a button takes a static random address")
    func foreignController() throws {
        let address = try #require(BluetoothAddress("80:E4:DA:00:11:22"))
        let button = SimulatedButtonDescription(name: "hall", address: address)
        #expect(button.address(behind: address) == address)
        let other = button.address(behind: BluetoothAddress(rawValue: 1))
        #expect(other == BluetoothAddress("C0:E4:DA:00:11:22", kind: .random))
    }

    @Test("the root's public key never changes, because configurations contain it")
    func root() {
        #expect(SimulatorRoot.publicKey.hex == "4f2bebe7a76f018325d122a8e02e5a1fb9f93376f375e4c643d63b462287f97f")
    }
}

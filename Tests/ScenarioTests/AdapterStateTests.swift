import ButtonModel
import Hub
import JSON
import Radios
import Simulator
import TestSupport
import Testing

@Suite("The published state of the adapter")
struct AdapterStateTests {
    private static func adapter(_ house: inout Household) -> JSONValue {
        house.ask(#"{"request":"status"}"#)
        return house.responses.last?["data"]?["adapter"] ?? .null
    }

    @Test(
        "each reason for having no adapter has a name",
        arguments: [
            (.absent, "powered_off"), (.failed, "resetting"), (.unsupported, "unsupported"),
            (.unauthorized, "unauthorized"), (.restarting, "resetting"),
        ] as [(AdapterFault, String)])
    func words(fault: AdapterFault, word: String) {
        var house = Household()
        #expect(Self.adapter(&house)["state"] == "powered_on")
        house.tell(.transportClosed("Nothing there.", fault))
        let adapter = Self.adapter(&house)
        #expect(adapter["state"] == .string(word))
        #expect(adapter["last_fault"]?["reason"] == "Nothing there.")
        // A proxy that restarts has 5 s for it.
        house.wait(.seconds(fault == .restarting ? 5 : 1))
        #expect(Self.adapter(&house)["state"] == "powered_on")
    }

    @Test("an adapter without Bluetooth LE is unsupported, and the reason says so")
    func classicOnly() {
        var house = Household(
            controller: .init(address: BluetoothAddress(rawValue: 0x0000_5E00_5301), isLowEnergy: false))
        house.wait(.seconds(10))
        let adapter = Self.adapter(&house)
        #expect(adapter["state"] == "unsupported")
        let reason = adapter["last_fault"]?["reason"]
        #expect(reason == "The adapter does not support Bluetooth LE, which Flic buttons need. Use another adapter.")
    }

    @Test("adapter resets are counted, and the last fault is kept with its time")
    func history() {
        var house = Household()
        #expect(Self.adapter(&house)["resets"] == 0)
        #expect(Self.adapter(&house)["last_fault"] == .null)
        house.breakAdapter(.hardwareError(code: 7))
        house.wait(.seconds(60))
        let adapter = Self.adapter(&house)
        #expect(adapter["resets"] == 1)
        #expect(adapter["last_fault"]?["reason"] == "The adapter reports a hardware error (7).")
        #expect(adapter["last_fault"]?["age_s"] == 60)
        #expect(adapter["last_fault"]?["time"]?.stringValue?.hasPrefix("2026-11-18T") == true)
    }

    @Test("the waits before an adapter is opened again grow, and begin again after a minute without faults")
    func waits() {
        var house = Household()
        house.forgetWhatHappened()
        for _ in 0..<4 {
            house.breakAdapter(.hardwareError(code: 7))
            house.wait(.seconds(31))
        }
        house.wait(.seconds(60))
        house.breakAdapter(.hardwareError(code: 7))
        let waits = house.logged.compactMap { line in
            line.split(separator: " ").dropLast().last.flatMap { Int($0) }
        }
        #expect(waits == [1, 2, 4, 8, 1])
    }

    @Test("failures to open an adapter are logged until the waits have reached their maximum")
    func staysAway() {
        var house = Household()
        house.forgetWhatHappened()
        for _ in 0..<20 {
            house.keepsAdapterAway = true
            house.wait(.seconds(30))
            if house.logged.isEmpty { house.unplugAdapter() }
        }
        #expect(house.logged.count { $0.contains("Trying again") } < 8)
        #expect(Self.adapter(&house)["state"] == "powered_off")
        #expect(Self.adapter(&house)["resets"] == 1)
        house.keepsAdapterAway = false
        house.wait(.seconds(31))
        #expect(Self.adapter(&house)["state"] == "powered_on")
    }
}

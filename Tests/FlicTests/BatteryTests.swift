import ButtonModel
import JSON
import Testing

@testable import Flic

@Suite("Battery of a Flic button")
struct BatteryTests {
    @Test("raw battery readings become the millivolts that the references report")
    func millivolts() throws {
        for vector in try Vectors.cases("battery") {
            try #expect(Battery.millivolts(raw: vector.integer("raw")) == vector.integer("millivolt"))
        }
    }

    @Test("every ten-bit reading becomes millivolts and back the same reading")
    func raw() {
        for raw in UInt16(0)...1024 { #expect(Battery.raw(millivolts: Battery.millivolts(raw: raw)) == raw) }
        #expect(Battery.raw(millivolts: -5) == 0)
        #expect(Battery.raw(millivolts: .max) == 18641)
    }

    @Test(
        "the estimated charge follows the discharge curve of a coin cell",
        arguments: [
            (3300, 100), (3000, 100), (2999, 99), (2900, 42), (2899, 41), (2740, 18), (2739, 17), (2440, 6),
            (2439, 5), (2100, 0), (2099, 0), (0, 0), (-1, 0),
        ])
    func percentage(millivolts: Int, percentage: Int) {
        #expect(Battery.percentage(millivolts: millivolts) == percentage)
    }

    @Test("the estimated charge never rises while the voltage falls")
    func monotonic() {
        for millivolts in 0..<3600 {
            #expect(Battery.percentage(millivolts: millivolts) <= Battery.percentage(millivolts: millivolts + 1))
        }
    }
}

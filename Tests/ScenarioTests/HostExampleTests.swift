import ButtonModel
import Foundation
import Testing

extension ThermometerReader: Station {}
extension Thermometer: Station {}

@Suite("The example of BluetoothHost's page")
struct HostExampleTests {
    @Test("the central reads what the peripheral says")
    func reads() {
        var room = TwoHosts(Thermometer([0x00, 0x16, 0x00, 0x00, 0x00]), ThermometerReader())
        #expect(room.run(atMost: .seconds(10)) { $0.second.temperature != nil })
        #expect(room.second.temperature == [0x00, 0x16, 0x00, 0x00, 0x00])
        #expect(room.violations == [])
    }

    @Test("the page shows this code and no other")
    func page() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
        let page = try String(
            contentsOf: tests.appending(path: "../../Sources/BluetoothHost/BluetoothHost.docc/BluetoothHost.md"),
            encoding: .utf8)
        let code = try String(contentsOf: tests.appending(path: "HostExample.swift"), encoding: .utf8)
        let shown = page.components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 1 }
            .map { $0.element.trimmingPrefix("swift\n") }
        #expect(shown.count == 2)
        for block in shown { #expect(code.contains(block), "\(block)") }
    }
}

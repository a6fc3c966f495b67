import BluetoothHost
import ButtonModel
import Simulator
import Testing

@Suite("Many buttons")
struct ScaleTests {
    @Test("one scan reports a thousand buttons, and each can be pressed")
    func thousand() {
        let buttons = (0..<1000).map { SimulatedButtonDescription(name: "button \($0)") }
        var bench = Bench(buttons, runsSessions: false)
        bench.tell(.transportOpened)
        bench.tell(.perform(.startScanning(active: false)))
        bench.run(atMost: .milliseconds(150))
        bench.tell(.perform(.stopScanning))
        let heard = Set(
            bench.hostEvents.compactMap { event -> BluetoothAddress? in
                if case .advertised(let report) = event { report.address } else { nil }
            })
        #expect(heard.count == 1000)
        for button in buttons.suffix(10) { bench.tell(world: .press(button: button.name, .click)) }
        bench.run(atMost: .seconds(1))
        #expect(bench.finished.count == 10)
    }
}

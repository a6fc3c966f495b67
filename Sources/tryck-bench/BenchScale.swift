import ButtonModel
import CommandSupport
import Glibc
import Hub
import Platform
import Rules
import Simulator

/// Measures many buttons: how long until all are ready, and how much memory each of them takes.
///
/// The memory of the simulated buttons and their radio must not count. Therefore the inputs of the hub are kept, and
/// given to further hubs without a simulation. The memory grows by that of these hubs.
enum BenchScale {
    /// The number of hubs that are measured together. The memory of one hub is too small to be measured in pages.
    private static let copies = 8

    static func run(connected: Int, known: Int) throws(Failure) -> String {
        let buttons = (0..<connected).map { number in
            SimulatedButtonDescription(name: "bench\(number)", address: address(number), isPublic: true)
        }
        let clock = ContinuousClock()
        let began = clock.now
        var house = BenchHouse(buttons, seed: 1, maximumLinks: connected, keepsInputs: true)
        _ = house.wait(.seconds(2))
        let searching = house.now
        house.ask(#"{"request":"permit_join","data":{"time":3600}}"#)
        guard house.wait(.seconds(3600), until: { $0.readyCount >= connected }) else {
            throw Failure(
                .unavailable, "\(house.readyCount) of \(connected) simulated buttons became ready in an hour.")
        }
        let onAir = house.now - searching
        let computing = clock.now - began
        let inputs = house.inputs
        guard let template = pairedButton(inputs) else {
            throw Failure(.internalError, "No simulated button was paired. Please report it.")
        }

        // All hubs and the simulated radio exist to the end, because freed memory would be used again and not be counted.
        var hubs: [Hub] = []
        let empty = try memory(&hubs) { newHub([]) }
        let knowing = try memory(&hubs) { newHub((0..<known).map { copy(of: template, number: $0) }) }
        let linked = try memory(&hubs) {
            var hub = newHub([])
            for (input, time) in inputs { _ = hub.handle(input, at: time) }
            return hub
        }
        withExtendedLifetime((house, hubs)) {}
        func kilobytes(_ bytes: Int) -> String { "\(Double(bytes / 102) / 10) kB" }
        return """
            \(connected) buttons paired and ready: \(onAir) of the air's time, \(computing) of this machine's
            a hub without buttons      \(kilobytes(empty))
            a button that is known     \(kilobytes((knowing - empty) / max(known, 1))), of \(known)
            a button that is connected \(kilobytes((linked - empty) / max(connected, 1))), of \(connected)

            """
    }

    private static func address(_ number: Int) -> BluetoothAddress {
        BluetoothAddress(rawValue: 0x80E4_DA01_0000 + UInt64(number))
    }

    private static func newHub(_ buttons: [StoredButton]) -> Hub {
        var hub = Hub(
            BenchHouse.configuration, stored: StoredState(installationID: "be4c", buttons: buttons), rules: RuleSet())
        _ = hub.handle(.start, at: BenchHouse.start)
        return hub
    }

    /// The record that the hub makes of the first button it pairs.
    private static func pairedButton(_ inputs: [(Hub.Input, Instant)]) -> StoredButton? {
        var hub = Hub(BenchHouse.configuration, stored: StoredState(installationID: "be4c"), rules: RuleSet())
        for (input, time) in inputs {
            for case .record(_, let changes) in hub.handle(input, at: time) {
                for case .putButton(let button) in changes { return button }
            }
        }
        return nil
    }

    private static func copy(of button: StoredButton, number: Int) -> StoredButton {
        var copy = button
        copy.identity.address = address(number)
        copy.identity.serial = "BE00-\(number)"
        copy.name = "bench\(number)"
        return copy
    }

    /// The octets of resident memory that one more hub takes.
    private static func memory(_ hubs: inout [Hub], _ make: () -> Hub) throws(Failure) -> Int {
        // The first hub is not counted, because it takes the memory that all hubs share.
        hubs.append(make())
        guard let before = ProcessFigures(of: getpid()) else { throw unreadable }
        for _ in 0..<copies { hubs.append(make()) }
        guard let after = ProcessFigures(of: getpid()) else { throw unreadable }
        return (after.residentKilobytes - before.residentKilobytes) * 1024 / copies
    }

    private static let unreadable = Failure(.unavailable, "/proc does not tell how much memory this process has.")
}

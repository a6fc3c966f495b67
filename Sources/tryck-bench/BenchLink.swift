import ButtonModel
import CommandSupport
import Platform
import Simulator

/// Measures how long a button takes to be ready: a known button that comes back, or a new button that is paired.
enum BenchLink {
    enum Kind {
        case reconnect, pair

        var title: String {
            switch self {
            case .reconnect: "times back, from the press that makes the button advertise"
            case .pair: "pairings, from the moment the search begins"
            }
        }
    }

    /// Longer than any measurement, and than the supervision timeout.
    private static let timeLimit = Duration.seconds(120)
    /// After this time, the button has the connection parameters that it keeps.
    private static let settling = Duration.seconds(10)
    /// The name of the simulated button.
    private static let button = "bench"

    private struct Measurement {
        var tally: LinkTally
        /// The number of connection events in which the button took part until it was ready.
        var eventsUntilReady: Int
        /// The number of connection events in which the button took part until `settling` after it was ready.
        var eventsUntilSettled: Int
    }

    /// Measures `count` times, each time in a new `BenchHouse`.
    static func run(_ kind: Kind, count: Int) throws(Failure) -> String {
        var measurements: [Measurement] = []
        for seed in 1...UInt64(count) { measurements.append(try measure(kind, seed: seed)) }
        return text(kind, measurements)
    }

    private static func measure(_ kind: Kind, seed: UInt64) throws(Failure) -> Measurement {
        let address = BluetoothAddress(rawValue: 0x80E4_DA00_00B0)
        var house = BenchHouse(
            [SimulatedButtonDescription(name: button, address: address, isPublic: true)], seed: seed,
            air: .init(hasConnectionEvents: true))
        // The controller is set up during these two seconds.
        _ = house.wait(.seconds(2))
        house.beginTally()
        house.ask(#"{"request":"permit_join","data":{"time":600}}"#)
        guard house.wait(timeLimit, until: { $0.readyCount == 1 }) else { throw notReady }
        if kind == .pair { return settled(&house, eventsBefore: 0) }
        house.ask(#"{"request":"permit_join","data":{"time":0}}"#)
        _ = house.wait(.seconds(5))
        // After a disconnect, a button is silent until it is pressed.
        house.ask(#"{"request":"button/disconnect","data":{"id":"80e4da0000b0"}}"#)
        _ = house.wait(timeLimit)
        house.ask(#"{"request":"button/connect","data":{"id":"80e4da0000b0"}}"#)
        _ = house.wait(.seconds(1))
        house.beginTally()
        let before = house.connectionEvents(of: button)
        house.give(.press(button: button, .click))
        guard house.wait(timeLimit, until: { $0.readyCount == 2 }) else { throw notReady }
        return settled(&house, eventsBefore: before)
    }

    /// Ends a measurement of a button that is ready now.
    ///
    /// - Parameter eventsBefore: the number of connection events of the button before the measurement.
    private static func settled(_ house: inout BenchHouse, eventsBefore: Int) -> Measurement {
        let (tally, ready) = (house.tally, house.connectionEvents(of: button))
        _ = house.wait(settling)
        return Measurement(
            tally: tally, eventsUntilReady: ready - eventsBefore,
            eventsUntilSettled: house.connectionEvents(of: button) - eventsBefore)
    }

    private static let notReady = Failure(
        .internalError, "The simulated button did not become ready. Please report it.")

    private static func text(_ kind: Kind, _ measurements: [Measurement]) -> String {
        let tallies = measurements.map(\.tally)
        func row(_ cells: String...) -> String {
            cells[0].padded(to: 16) + cells.dropFirst().map { $0.padded(to: 12, atEnd: false) }.joined() + "\n"
        }
        func median(_ counts: [Int]) -> Int64 { Distribution(counts.map { Int64($0) }).median }
        func milli(_ value: Double) -> String { "\((value / 100).rounded() / 10) ms" }
        func column(_ name: String, _ pick: (LinkTally) -> LinkTally.Row) -> String {
            let rows = tallies.map(pick)
            let times = Distribution(rows.map { $0.duration.nanoseconds })
            return row(
                name, milli(times.percentile(0.5)), milli(times.percentile(0.99)), "\(median(rows.map(\.packets)))",
                "\(median(rows.map(\.roundTrips)))")
        }
        var text = "\(tallies.count) \(kind.title), on a simulated air\n"
        text += row("", "p50", "p99", "packets", "round trips")
        for layer in LinkTally.Layer.allCases { text += column(layer.rawValue) { $0.rows[layer] ?? .init() } }
        text += column("all of it", \.sum)
        return text
            + "connection events of the button until it is ready: \(median(measurements.map(\.eventsUntilReady))); "
            + "until 10 s later: \(median(measurements.map(\.eventsUntilSettled)))\n"
    }
}

extension LinkTally {
    fileprivate var sum: Row {
        rows.values.reduce(into: Row()) { sum, row in
            sum.duration += row.duration
            sum.packets += row.packets
            sum.roundTrips += row.roundTrips
        }
    }
}

extension Duration {
    var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}

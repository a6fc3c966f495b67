import CommandSupport
import Glibc
import JSON

/// Rows of figures that were measured in turn, so that the load of the machine affects all of them alike.
struct BenchTable {
    enum Unit: String {
        /// Samples are nanoseconds for one event, and are shown as events per second.
        case rate = "per_second"
        case time = "nanoseconds"
        case memory = "kilobytes"
    }

    struct Row {
        var name: String
        var unit: Unit
        /// A sample for each round.
        var samples: [Double]
        /// The samples that this row is compared with, round by round.
        var floor: [Double]?
        /// The limit for the row, in words.
        var budget: String?
        /// Why there are no samples, if there are none.
        var note: String?

        var median: Double { quantile(samples, 0.5) }
        /// For each round, the sample divided by its floor.
        var ratios: [Double]? {
            floor.map { floor in zip(samples, floor).map { $1 > 0 ? $0 / $1 : 0 } }
        }
    }

    struct Section {
        var title: String
        var rows: [Row]
    }

    var sections: [Section] = []
    /// The load averages of the last minute, before and after the measurement.
    var loads: [Double] = []

    /// Makes measurements in a temporary directory, and prints the table with the load of the machine before and after.
    static func print(
        _ output: OutputOptions, _ measure: (_ table: inout BenchTable, _ directory: String) throws -> Void
    ) throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        var table = BenchTable()
        table.loads.append(load)
        try measure(&table, directory.path)
        table.loads.append(load)
        if output.json {
            Output.standardOutput.write(line: table.json.description)
        } else {
            Output.standardOutput.write(text: table.text)
        }
    }

    private static var load: Double {
        var averages = [0.0, 0, 0]
        return getloadavg(&averages, 3) > 0 ? averages[0] : 0
    }

    var text: String {
        var text = ""
        for section in sections {
            text += line(section.title, "median", "half of all between", "ratio", "budget")
            for row in section.rows { text += self.line(row) }
            text += "\n"
        }
        return text + "load average of this machine: " + loads.map { "\(rounded($0))" }.joined(separator: " … ") + "\n"
    }

    var json: JSONValue {
        let rows = sections.flatMap { section in
            section.rows.map { row -> JSONValue in
                var members: [JSONValue.Member] = [
                    .init("section", .string(section.title)), .init("name", .string(row.name)),
                    .init("unit", .string(row.unit.rawValue)), .init("rounds", .integer(Int64(row.samples.count))),
                ]
                if let note = row.note { members.append(.init("note", .string(note))) }
                if !row.samples.isEmpty {
                    members.append(.init("median", .number(row.shown(row.median))))
                    members.append(.init("quartiles", .array(row.quartiles.map(JSONValue.number))))
                }
                if let ratios = row.ratios, !ratios.isEmpty {
                    members.append(.init("ratio", .number(quantile(ratios, 0.5))))
                    let quartiles = [quantile(ratios, 0.25), quantile(ratios, 0.75)]
                    members.append(.init("ratio_quartiles", .array(quartiles.map(JSONValue.number))))
                }
                if let budget = row.budget { members.append(.init("budget", .string(budget))) }
                return .object(members)
            }
        }
        return ["rows": .array(rows), "load": .array(loads.map(JSONValue.number))]
    }

    private func line(_ row: Row) -> String {
        guard !row.samples.isEmpty else { return "\(row.name): \(row.note ?? "-")\n" }
        let quartiles = row.quartiles.map { row.unit.text($0) }.joined(separator: " … ")
        let ratio = row.ratios.map { "\(rounded(quantile($0, 0.5))) ×" } ?? ""
        return line(row.name, row.unit.text(row.shown(row.median)), quartiles, ratio, row.budget ?? "")
    }

    private func line(_ name: String, _ median: String, _ spread: String, _ ratio: String, _ budget: String) -> String {
        name.padded(to: 46) + median.padded(to: 14, atEnd: false) + spread.padded(to: 30, atEnd: false)
            + ratio.padded(to: 10, atEnd: false) + (budget.isEmpty ? "" : "   " + budget) + "\n"
    }
}

extension BenchTable.Row {
    /// A sample as its unit shows it.
    fileprivate func shown(_ sample: Double) -> Double { unit == .rate && sample > 0 ? 1e9 / sample : sample }

    fileprivate var quartiles: [Double] {
        [shown(quantile(samples, 0.25)), shown(quantile(samples, 0.75))].sorted()
    }
}

extension BenchTable.Unit {
    fileprivate func text(_ value: Double) -> String {
        switch self {
        case .rate: "\(Int((value / 1000).rounded())) k/s"
        case .time where value < 1e6: "\(rounded(value / 1e3)) µs"
        case .time: "\(rounded(value / 1e6)) ms"
        case .memory: "\(rounded(value / 1024)) MB"
        }
    }
}

private func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }

/// The smallest sample that `share` of all samples do not exceed.
func quantile(_ samples: [Double], _ share: Double) -> Double {
    guard !samples.isEmpty else { return 0 }
    let index = Int((share * Double(samples.count)).rounded(.up)) - 1
    return samples.sorted()[min(samples.count - 1, max(0, index))]
}

/// The processor time that `body` takes on this thread, in nanoseconds. Other load of the machine does not count.
func coreTime(_ body: () throws(Failure) -> Void) throws(Failure) -> Double {
    let began = threadTime
    try body()
    return threadTime - began
}

private var threadTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

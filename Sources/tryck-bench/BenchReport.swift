import CommandSupport
import Glibc

/// Times in nanoseconds, sorted.
struct Distribution: Sendable {
    private let sorted: [Int64]

    init(_ samples: [Int64]) { sorted = samples.sorted() }

    var count: Int { sorted.count }

    /// The smallest sample that `share` of all samples do not exceed, in microseconds if the samples are nanoseconds.
    func percentile(_ share: Double) -> Double { Double(sample(share)) / 1000 }

    /// The smallest sample that half of all samples do not exceed.
    var median: Int64 { sample(0.5) }

    private func sample(_ share: Double) -> Int64 {
        guard !sorted.isEmpty else { return 0 }
        return sorted[min(sorted.count - 1, max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1))]
    }
}

/// Memory, threads and context switches of a process, from `/proc`.
struct ProcessFigures: Sendable {
    var residentKilobytes: Int
    /// The peak since the process began.
    var peakKilobytes: Int
    var threads: Int
    /// Voluntary context switches: how often a thread of the process went to sleep.
    var switches: Int

    init?(of process: Int32) {
        guard let file = fopen("/proc/\(process)/status", "r") else { return nil }
        defer { fclose(file) }
        var figures: [String: Int] = [:]
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let parts = text.split(separator: ":")
            guard parts.count == 2, let number = parts[1].split(whereSeparator: \.isWhitespace).first else { continue }
            figures[String(parts[0])] = Int(number)
        }
        guard let resident = figures["VmRSS"], let peak = figures["VmHWM"], let threads = figures["Threads"],
            let switches = figures["voluntary_ctxt_switches"]
        else { return nil }
        residentKilobytes = resident
        peakKilobytes = peak
        self.threads = threads
        self.switches = switches
    }
}

/// The figures of `BenchPress`. They are printed and not judged.
struct BenchReport: Sendable {
    var press: Distribution
    var bare: Distribution
    var relay: Distribution
    var before: ProcessFigures?
    var after: ProcessFigures?
    var idleSeconds: Int
    var buttons: Int
    /// The processors of the daemon and the relay, and of all others; `nil` if Linux chose them.
    var processors: (compared: Int, others: Int)?
    /// The counts, if the daemon ran under valgrind.
    var counts: InstructionReport?

    /// The 99th percentile of fewer samples is one of the few slowest, which says little.
    private var shares: [Double] { press.count < 1000 ? [0.5, 0.9] : [0.5, 0.9, 0.99] }

    private var placement: String {
        guard let processors else { return "Linux chose the processors.\n" }
        let (compared, others) = processors
        return "tryckd and the process between ran on processor \(compared), the others on processor \(others).\n"
    }

    /// The medians of several runs, and the smallest and the largest value of a run.
    static func text(of runs: [BenchReport]) -> String {
        guard let first = runs.first else { return "" }
        func row(_ name: String, _ unit: String, _ value: (BenchReport, Double) -> Double) -> String {
            let columns = first.shares.map { share in
                let values = runs.map { value($0, share) }.sorted()
                let middle = (values[(values.count - 1) / 2] + values[values.count / 2]) / 2
                let figures = [middle, values[0], values[values.count - 1]].map { ($0 * 100).rounded() / 100 }
                return "\(figures[0]) (\(figures[1])…\(figures[2])) \(unit)"
            }
            return name.padded(to: 54) + columns.map { $0.padded(to: 30, atEnd: false) }.joined() + "\n"
        }
        func ratio(_ press: Double, _ other: Double) -> Double { other > 0 ? press / other : 0 }
        var text = "\(runs.count) runs of \(first.press.count) presses: medians and ranges".padded(to: 54)
        text += first.shares.map { "p\(Int(($0 * 100).rounded()))".padded(to: 30, atEnd: false) }.joined() + "\n"
        text += row("notification in → message at a subscriber", "µs") { $0.press.percentile($1) }
        text += row("bare libmosquitto publish → receive", "µs") { $0.bare.percentile($1) }
        text += row("the same with a process between that only passes on", "µs") { $0.relay.percentile($1) }
        text += row("press against bare", "×") { ratio($0.press.percentile($1), $0.bare.percentile($1)) }
        text += row("press against the process between", "×") {
            ratio($0.press.percentile($1), $0.relay.percentile($1))
        }
        return text + first.placement
    }

    var text: String {
        func row(_ name: String, _ columns: [String]) -> String {
            name.padded(to: 54) + columns.map { $0.padded(to: 12, atEnd: false) }.joined() + "\n"
        }
        func micro(_ value: Double) -> String { "\((value * 10).rounded() / 10) µs" }
        func against(_ other: Distribution, _ share: Double) -> String {
            let time = other.percentile(share)
            return time > 0 ? "\((press.percentile(share) / time * 100).rounded() / 100) ×" : "-"
        }
        func times(_ name: String, _ times: Distribution) -> String {
            row(name, shares.map { micro(times.percentile($0)) })
        }
        var text = row(
            "\(press.count) presses, and as many of each other kind between them",
            shares.map { "p\(Int(($0 * 100).rounded()))" })
        text += times("notification in → message at a subscriber", press)
        text += times("bare libmosquitto publish → receive", bare)
        text += times("the same with a process between that only passes on", relay)
        text += row("press against bare", shares.map { against(bare, $0) })
        text += row("press against the process between", shares.map { against(relay, $0) })
        text += placement
        if let before, let after {
            let wakeups = Double(after.switches - before.switches) / Double(idleSeconds)
            text +=
                "\ntryckd idle for \(idleSeconds) s, \(buttons) buttons connected: \(after.residentKilobytes) kB resident, "
            text += "\(after.threads) thread\(after.threads == 1 ? "" : "s"), \(wakeups) wakeups/s\n"
        }
        return text
    }
}

extension String {
    func padded(to width: Int, atEnd: Bool) -> String {
        let padding = String(repeating: " ", count: max(0, width - count))
        return atEnd ? self + padding : padding + self
    }
}

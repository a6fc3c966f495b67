import CommandSupport
import Glibc
import JSON
import Platform
import RuleLoader
import Rules
import YAMLFiles

/// Measures how long a process takes to read and check ten thousand rules, and how long libyaml alone takes to parse
/// them into events.
enum BenchLoading {
    static let rules = 10_000

    enum Part: String, CaseIterable {
        case rules, events
    }

    static func run(rounds: Int, in directory: String) throws(Failure) -> BenchTable.Section {
        let path = directory + "/bench.yaml"
        let text = BenchRuleFile.text(rules: rules)
        guard FileText.write(text, to: path) else { throw Failure(.unavailable, "cannot write to \(directory)") }
        var times: [Part: [Double]] = [:]
        var memory: [Part: [Double]] = [:]
        for _ in 0..<rounds {
            for part in Part.allCases {
                let result = try measureInChild(part, path, directory)
                times[part, default: []].append(result.nanoseconds)
                memory[part, default: []].append(result.kilobytes)
            }
        }
        let lines = text.count { $0 == 10 }
        return BenchTable.Section(
            title: "loading \(rules) rules, \(lines) lines; time of one core",
            rows: [
                .init(name: "libyaml's events alone", unit: .time, samples: times[.events] ?? []),
                .init(
                    name: "read and checked", unit: .time, samples: times[.rules] ?? [], floor: times[.events],
                    budget: "at most 300 ms"),
                .init(name: "libyaml's events alone, most memory", unit: .memory, samples: memory[.events] ?? []),
                .init(
                    name: "read and checked, most memory", unit: .memory, samples: memory[.rules] ?? [],
                    budget: "at most 60 MB"),
            ])
    }

    /// The measurement in a child process, which prints the result.
    static func measure(_ part: Part, path: String) throws(Failure) -> JSONValue {
        guard let file = try? FileText(reading: path) else { throw Failure(.unavailable, "\(path) cannot be read.") }
        guard let before = residentMemory("VmRSS") else { throw unreadable }
        // Resets the peak of resident memory, `VmHWM`.
        if let file = fopen("/proc/self/clear_refs", "w") {
            fputs("5", file)
            fclose(file)
        }
        var count = 0
        var peak: Int?
        // The set is freed after the measurement, because a daemon keeps its rules, too.
        var rules: RuleSet?
        let time = try coreTime { () throws(Failure) in
            switch part {
            case .events: count = FileLoader.countYAMLEvents(in: file.octets)
            case .rules: rules = try BenchRuleFile.load(file.octets)
            }
            peak = residentMemory("VmHWM")
        }
        if let rules { count = rules.rules.count }
        guard let peak else { throw unreadable }
        return [
            "nanoseconds": .number(time), "kilobytes": .integer(Int64(peak - before)), "count": .integer(Int64(count)),
        ]
    }

    private static let unreadable = Failure(.unavailable, "/proc does not tell how much memory this process has.")

    private static func residentMemory(_ name: String) -> Int? {
        guard let file = fopen("/proc/self/status", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix(name + ":") else { continue }
            return text.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
        }
        return nil
    }

    private static func measureInChild(
        _ part: Part, _ path: String, _ directory: String
    ) throws(Failure) -> (nanoseconds: Double, kilobytes: Double) {
        let output = directory + "/loading"
        let program = BenchRelay.ownProgram
        let (process, failure) = startProgram(program, [program, "load", part.rawValue, path]) { actions in
            posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        }
        guard failure == 0 else { throw Failure(.unavailable, "A process cannot be started: \(errorText(failure)).") }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        guard status == 0, let octets = try? FileText(reading: output).octets,
            let result = try? JSONValue(parsing: octets), let kilobytes = result["kilobytes"]?.integerValue,
            let nanoseconds = result["nanoseconds"]?.doubleValue
        else { throw Failure(.unavailable, "The process that loads the rules has failed.") }
        return (nanoseconds, Double(kilobytes))
    }
}

func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }

extension JSONValue {
    fileprivate var doubleValue: Double? {
        switch self {
        case .number(let value): value
        case .integer(let value): Double(value)
        case .null, .bool, .string, .array, .object: nil
        }
    }
}

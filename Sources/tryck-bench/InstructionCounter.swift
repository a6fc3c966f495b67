import CommandSupport
import Glibc
import Platform

/// Runs the daemon under valgrind's callgrind, and reads what it executed between the `read` of a button's notification and the
/// `write` of the rule's message. Unlike times, these counts do not depend on what else the machine does.
struct InstructionCounter {
    /// The limits that `tryck-bench press --count` judges by: a few per cent more than the counts of the day when they were set.
    static let maximumInstructions = 23_500
    static let maximumCodeLines = 1_040
    static let maximumAllocations = 16
    static let maximumSystemCalls = 2

    /// A directory for the profiles and a copy of the program.
    let directory: String

    /// The command that starts the program. callgrind does not always understand Swift's debugging information, so the command
    /// starts a copy without that.
    func command(_ program: String) throws(Failure) -> [String] {
        let copy = directory + "/tryckd"
        guard let valgrind = Self.path(of: "valgrind"), let objcopy = Self.path(of: "objcopy") else {
            throw Failure(
                .unavailable, "Counting needs valgrind and objcopy. Install them: apt-get install valgrind binutils")
        }
        let (process, failure) = startProgram(objcopy, [objcopy, "--strip-debug", program, copy]) { _ in }
        var status: Int32 = 0
        guard failure == 0, waitpid(process, &status, 0) == process, status == 0 else {
            throw Failure(.unavailable, "objcopy could not copy \(program) to \(copy).")
        }
        return [
            valgrind, "--quiet", "--tool=callgrind", "--demangle=no", "--dump-instr=yes", "--compress-pos=no",
            "--compress-strings=no", "--separate-threads=yes", "--zero-before=read", "--zero-before=recv",
            "--dump-before=write", "--dump-before=send", "--callgrind-out-file=\(directory)/profile", copy,
        ]
    }

    private static func path(of program: String) -> String? {
        ["/usr/bin/", "/bin/", "/usr/local/bin/"].map { $0 + program }.first { access($0, X_OK) == 0 }
    }

    /// Deletes the profiles that were written before a press.
    func begin() {
        for name in profileNames { unlink(directory + "/" + name) }
    }

    /// The profile of the first `write` after the start of a run; `nil` if there is none.
    func profileOfPress() -> InstructionProfile? {
        for name in profileNames {
            guard let file = try? FileText(reading: directory + "/" + name) else { continue }
            let text = String(decoding: file.octets, as: UTF8.self)
            // A run was started: `RunScheduler.enqueue`. callgrind counts from the last `read` on, so the profile must contain
            // the radio's transport. Otherwise something else was read before the message was written.
            guard text.contains("RunSchedulerV7enqueue") || text.contains("earlyEffects"),
                text.contains("H4StreamTransportC8received")
            else { continue }
            return InstructionProfile(text)
        }
        return nil
    }

    /// The names of the profiles, in the order in which they were written: `profile.NUMBER-THREAD`.
    private var profileNames: [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [(Int, String)] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { octets in
                String(decoding: octets.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix("profile."), let number = Int(name.dropFirst(8).prefix { $0 != "-" }) else { continue }
            names.append((number, name))
        }
        return names.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// A table of the counts, with their limits.
    ///
    /// - Parameter isRingMapped: false if the ring of records is not on a tmpfs, so that a record is a call of the system.
    func report(of profiles: [InstructionProfile], isRingMapped: Bool) -> InstructionReport {
        InstructionReport(profiles, maximumSlowCalls: isRingMapped ? 0 : 1)
    }
}

/// The counts of several presses, and the limits that they exceed.
struct InstructionReport {
    private let rows: [(name: String, median: Int, least: Int, most: Int, limit: Int?)]
    /// The functions that execute the most instructions, of the median press.
    private let functions: [(name: Substring, count: Int)]

    init(_ profiles: [InstructionProfile], maximumSlowCalls: Int) {
        func row(_ name: String, _ limit: Int?, _ value: (InstructionProfile) -> Int)
            -> (name: String, median: Int, least: Int, most: Int, limit: Int?)
        {
            let values = profiles.map(value).sorted()
            return (name, values[values.count / 2], values.first ?? 0, values.last ?? 0, limit)
        }
        rows = [
            row("instructions", InstructionCounter.maximumInstructions) { $0.instructions },
            row("code lines of 64 octets", InstructionCounter.maximumCodeLines) { $0.codeLines },
            row("allocations", InstructionCounter.maximumAllocations) { $0.allocations },
            row("system calls", InstructionCounter.maximumSystemCalls) { $0.systemCalls },
            row("of these, for the disk or a thread", maximumSlowCalls) { $0.slowCalls },
        ]
        let median = profiles.sorted { $0.instructions < $1.instructions }[profiles.count / 2]
        functions = median.ownInstructions.sorted { $0.value > $1.value }.prefix(30).map { ($0.key, $0.value) }
    }

    /// The rows whose median exceeds their limit.
    var exceeded: [String] { rows.filter { row in row.limit.map { row.median > $0 } ?? false }.map(\.name) }

    func text(withFunctions: Bool) -> String {
        var text = "between the read of a notification and the write of the rule's message".padded(to: 72)
        text += ["median", "range", "limit"].map { $0.padded(to: 16, atEnd: false) }.joined() + "\n"
        for row in rows {
            text += row.name.padded(to: 72) + "\(row.median)".padded(to: 16, atEnd: false)
            text += "\(row.least)…\(row.most)".padded(to: 16, atEnd: false)
            text += (row.limit.map { "\($0)" } ?? "").padded(to: 16, atEnd: false) + "\n"
        }
        guard withFunctions else { return text }
        for function in functions { text += "\("\(function.count)".padded(to: 8, atEnd: false))  \(function.name)\n" }
        return text
    }
}

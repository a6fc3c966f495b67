import ConfigurationLoader
import Diagnostics
import Edges
import JSON
import Platform
import RuleLoader
import Setup
import YAMLFiles

extension FuzzTarget {
    static let json = FuzzTarget(name: "json") { octets throws(BrokenPromise) in
        guard let value = try? JSONValue(parsing: octets) else { return }
        // A number that Double cannot represent changes when it is read.
        let text = value.description
        let again = try? JSONValue(parsing: text)
        try promise("written JSON can be read", again != nil)
        try promise("JSON is the same after a round trip", again?.description == text)
    }

    static let rules = FuzzTarget(name: "rules") { octets throws(BrokenPromise) in
        let loaded = FileLoader.rules(SourceFile(name: "rules.yaml", text: octets), in: environment)
        try judge(octets, loaded.value == nil, loaded.diagnostics)
    }

    static let configuration = FuzzTarget(name: "configuration") { octets throws(BrokenPromise) in
        let loaded = FileLoader.configuration(SourceFile(name: "tryck.yaml", text: octets), in: environment.fileInputs)
        try judge(octets, loaded.value == nil, loaded.diagnostics)
    }

    static let simulator = FuzzTarget(name: "simulator") { octets throws(BrokenPromise) in
        let loaded = FileLoader.simulator(SourceFile(name: "simulator.yaml", text: octets))
        try judge(octets, loaded.value == nil, loaded.diagnostics)
    }

    private static let environment = LoadInputs(
        secrets: SourceFile(name: "secrets.yaml", text: Array("password: hunter22\n".utf8)),
        variables: ["HOME": "/home/somebody"])

    /// A file is either loaded, or has errors with positions.
    private static func judge(
        _ octets: [UInt8], _ isRefused: Bool, _ diagnostics: [Diagnostic]
    ) throws(BrokenPromise) {
        try promise("a file is refused for an error", isRefused == diagnostics.contains { $0.severity == .error })
        let lines = octets.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + 1
        // Unicode line separators may end lines, too.
        let separators = octets.count { $0 == 0x85 || $0 == 0xA8 || $0 == 0xA9 }
        for diagnostic in diagnostics {
            try promise("a position is in the file", (1...lines + separators).contains(diagnostic.start.line))
            try promise("a position begins with 1", diagnostic.start.column >= 1)
        }
        let report = DiagnosticReport(diagnostics, sources: [diagnostics.first?.file ?? "": octets]).text()
        let isPlain = report.unicodeScalars.allSatisfy {
            $0 == "\n" || $0 == "\t" || !(0x80..<0xA0).contains($0.value) && $0.value >= 0x20 && $0.value != 0x7F
        }
        try promise("a report contains no control characters", isPlain)
    }

    /// A stream gives the same packets wherever it is cut.
    static let h4 = FuzzTarget(name: "h4") { octets throws(BrokenPromise) in
        var input = FuzzInput(octets)
        let size = Int(input.octet()) + 1
        let stream = input.remainder()
        var whole = H4Framer()
        whole.append(stream)
        var pieces = H4Framer()
        var packets: [[UInt8]] = []
        for start in Swift.stride(from: 0, to: stream.count, by: size) {
            pieces.append(Array(stream[start..<min(start + size, stream.count)]))
            while let packet = try? pieces.next() { packets.append(packet) }
        }
        var expected: [[UInt8]] = []
        while let packet = try? whole.next() { expected.append(packet) }
        try promise("a stream gives the same packets however it is cut", packets == expected)
        try promise("packets hold no more than there was", packets.reduce(0) { $0 + $1.count } <= stream.count)
    }

    /// The same for lines, up to the first that is too long.
    static let lines = FuzzTarget(name: "lines") { octets throws(BrokenPromise) in
        var input = FuzzInput(octets)
        let size = Int(input.octet()) + 1
        let stream = input.remainder()
        var whole = LineFramer(maximumLength: 32)
        whole.append(stream)
        var pieces = LineFramer(maximumLength: 32)
        var lines: [[UInt8]] = []
        for start in Swift.stride(from: 0, to: stream.count, by: size) {
            pieces.append(Array(stream[start..<min(start + size, stream.count)]))
            while let line = try? pieces.next() { lines.append(line) }
        }
        var expected: [[UInt8]] = []
        while let line = try? whole.next() { expected.append(line) }
        try promise("a stream gives the same lines however it is cut", lines == expected)
        try promise("no line is longer than lines may be", lines.allSatisfy { $0.count <= 32 })
    }
}

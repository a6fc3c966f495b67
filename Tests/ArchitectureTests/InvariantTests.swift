import Foundation
import Testing

/// Rules that a text search can verify.
@Suite("Invariants")
struct InvariantTests {
    @Test(
        "only the reactor bypasses the compiler's concurrency checks",
        arguments: ["@unchecked Sendable", "nonisolated(unsafe)", "assumeIsolated", "unsafeBitCast"])
    func isolation(word: String) throws {
        for line in try InvariantTests.code(under: "Sources", with: [word])
        where !line.path.hasPrefix("Sources/Reactor/") {
            #expect(!line.text.contains(word), "\(line.place) has \(word)")
        }
    }

    @Test("what the compiler cannot check says above it why it is safe")
    func safety() throws {
        let words = ["@unchecked Sendable", "nonisolated(unsafe)", "unsafeBitCast"]
        for file in try Repository.swiftFiles(under: "Sources/Reactor") {
            for (index, line) in file.lines.enumerated() where words.contains(where: { line.contains($0) }) {
                let above = file.lines[max(0, index - 4)..<index]
                #expect(above.contains { $0.contains("// Safety: ") }, "\(file.path):\(index + 1)")
            }
        }
    }

    @Test("nothing traps on purpose without a sentence", arguments: ["try!", "as!", "fatalError("])
    func traps(word: String) throws {
        for line in try InvariantTests.code(under: "Sources", with: [word]) {
            #expect(!line.text.contains(word), "\(line.place) has \(word)")
        }
    }

    /// The compiler then reports each place that a new case needs. The exceptions have values that no enum lists:
    /// `HCIStatus`, opcodes, durations, and `Unicode.GeneralCategory`, which the standard library may extend.
    @Test("a switch over an enum of ours lists all cases")
    func switches() throws {
        let open = [
            "Sources/BluetoothHost/GAP/Initiator.swift switch status {",
            "Sources/BluetoothHost/GAP/Scanner.swift switch status {",
            "Sources/BluetoothHost/HCI/HCICommand.swift switch opcode {",
            "Sources/CommandSupport/Terminal/String+Columns.swift switch properties.generalCategory {",
            "Sources/Diagnostics/Diagnostic+Rendering.swift switch scalar.properties.generalCategory {",
            "Sources/Radios/HCIRadio.swift switch status {",
            "Sources/RuleLoader/Schema/SchemaShape+Description.swift return switch (range.lowerBound, range.upperBound) {",
            "Sources/Simulator/Controller/ControllerCommand.swift switch opcode {",
            "Sources/tryck-bench/LinkTally.swift switch (direction, opcode) {",
        ]
        var found: [String] = []
        for file in try Repository.swiftFiles(under: "Sources") where file.contains(anyOf: ["default:"]) {
            let lines = file.lines
            for (index, line) in lines.enumerated() where line.contains(/^ *default:/) {
                let indent = line.prefix { $0 == " " }
                let start = lines[..<index].lastIndex { line in
                    line.contains(/\bswitch\b/) && line.prefix { $0 == " " } <= indent
                }
                guard let start,
                    lines[start..<index].contains(where: { line in
                        line.prefix { $0 == " " } == indent && line.contains(/^ *case \(?\.[a-z]/)
                    })
                else { continue }
                found.append("\(file.path) \(lines[start].drop { $0 == " " })")
            }
        }
        #expect(found == open)
    }

    /// Such a case hides a new case of an enum from the compiler, as `default:` does. The exceptions switch over an octet,
    /// over a mapping and the text of a key, and over a character.
    @Test("a switch has no case that matches everything")
    func wildcards() throws {
        let open = [
            "Sources/Edges/RingRecord.swift switch try uint8() {",
            "Sources/RuleLoader/Editing/FileOutline.swift switch (mapping, key) {",
            "Sources/YAMLFiles/MissingSpace.swift switch value.first {",
        ]
        var found: [String] = []
        for file in try Repository.swiftFiles(under: "Sources") where file.contains(anyOf: ["case _:", "case (_"]) {
            let lines = file.lines
            for (index, line) in lines.enumerated() where line.contains(/^ *case (_|\(_(, _)*\)):/) {
                let indent = line.prefix { $0 == " " }
                let start = lines[..<index].last { line in
                    line.contains(/\bswitch\b/) && line.prefix { $0 == " " } <= indent
                }
                found.append("\(file.path) \((start ?? line).drop { $0 == " " })")
            }
        }
        #expect(found == open)
    }

    /// The exceptions are the table of a message's fields, which has the name `octets`.
    @Test(
        "no octet of a packet is indexed outside of Bytes",
        arguments: ["BluetoothHost", "Buttons", "ESPHome", "Flic", "FlicdProtocol", "Radios"])
    func indices(module: String) throws {
        let names = ["body", "bytes", "data", "frame", "message", "octets", "packet", "payload", "plaintext", "value"]
        // `octets[...]` is the whole array.
        let index = /\b(body|bytes|data|frame|message|octets|packet|payload|plaintext|value)\[(?!\.\.\.\])/
        for line in try InvariantTests.code(under: "Sources/\(module)", with: names.map { $0 + "[" }) {
            #expect(!line.text.contains(index), "\(line.place) indexes octets")
        }
    }

    @Test("what is left to do names an issue")
    func leftToDo() throws {
        let words = /\b(TODO|FIXME|XXX)\b/
        for folder in ["Sources", "Tests", "rules", "deploy"] {
            // Files that a fuzzer wrote are not checked.
            let written = Repository.paths(under: folder).filter {
                !$0.hasPrefix("Tests/ArchitectureTests/") && !$0.hasPrefix("Tests/FuzzTests/Corpus/")
            }
            for path in written {
                guard let text = try? Repository.text(path) else { continue }
                let file = Repository.File(path: path, text: text)
                guard file.contains(anyOf: ["TODO", "FIXME", "XXX"]) else { continue }
                for (index, line) in file.lines.enumerated() {
                    guard line.contains(words) else { continue }
                    #expect(line.contains(/#\d+/), "\(path):\(index + 1)")
                }
            }
        }
    }

    @Test("no test sleeps, is skipped or is expected to fail")
    func patience() throws {
        let words = ["sleep(", ".disabled(", "withKnownIssue", "XCTSkip"]
        for line in try InvariantTests.code(under: "Tests", with: words)
        where !line.path.hasPrefix("Tests/ArchitectureTests/") {
            for word in words {
                #expect(!line.text.contains(word), "\(line.place) has \(word)")
            }
        }
        // A pause between two looks at a condition is short.
        for line in try InvariantTests.code(under: "Tests", with: ["pause(milliseconds:"]) {
            #expect(!line.text.contains(/pause\(milliseconds: \d\d/), "\(line.place) pauses for a fixed time")
        }
    }

    @Test("where the loop runs, no task of a test waits for a thread of the cooperative pool")
    func tasks() throws {
        let tests = try Repository.swiftFiles(under: "Tests").filter {
            $0.contains(anyOf: ["import Reactor"]) && !$0.path.hasPrefix("Tests/ArchitectureTests/")
        }
        #expect(!tests.isEmpty)
        for file in tests {
            for (index, line) in file.lines.enumerated() where line.contains("Task {") || line.contains("Task.detached")
            {
                #expect(line.contains("executorPreference:"), "\(file.path):\(index + 1) is no ReactorRun.task")
            }
        }
    }

    @Test("tests of programs, which wait for them in blocking calls, have threads of their own")
    func programs() throws {
        let suites = try Repository.swiftFiles(under: "Tests/IntegrationTests").filter {
            $0.contains(anyOf: ["@Suite", "@Test"]) && $0.contains(anyOf: ["Workshop(", "RuleHouse(", "Program("])
        }
        #expect(suites.count > 20)
        for file in suites {
            for line in file.lines where line.hasPrefix("@Suite") {
                #expect(line.contains(".ownThread"), "\(file.path): \(line)")
            }
        }
    }

    /// `deploy/test` runs these programs only with `--full`, so a renaming could break them unnoticed.
    @Test("a Python program finds what it imports from its neighbours", arguments: ["HomeAssistant", "Machine"])
    func pythonImports(folder: String) throws {
        var count = 0
        for path in Repository.paths(under: "Tests/\(folder)") where path.hasSuffix(".py") {
            for line in try Repository.text(path).split(separator: "\n") where line.hasPrefix("from ") {
                let words = line.split(whereSeparator: { " ,".contains($0) }).dropFirst().map(String.init)
                let neighbour = "Tests/\(folder)/\(words[0].replacing(".", with: "/")).py"
                guard Repository.exists(neighbour) else { continue }
                let lines = try Repository.text(neighbour).split(separator: "\n")
                for name in words.dropFirst(2) {
                    let isDefined = lines.contains { line in
                        ["def ", "async def ", "class ", ""].contains { line.hasPrefix($0 + name) }
                            || line.hasPrefix("from ") && line.hasSuffix(name)
                    }
                    #expect(isDefined, "\(path): \(line)")
                    count += 1
                }
            }
        }
        #expect(count > 20)
    }

    @Test("every script is executable and the shell can read it")
    func scripts() throws {
        let folders = ["deploy", ".ci", "Tests/Guest", "Tests/HomeAssistant", "Tests/Package"]
        let scripts = folders.flatMap(Repository.paths(under:)).filter { path in
            (try? Repository.text(path))?.hasPrefix("#!") == true
        }
        for path in [".ci/run", "deploy/try", "deploy/test", "Tests/Guest/run", "Tests/HomeAssistant/run"] {
            #expect(scripts.contains(path))
        }
        for path in scripts {
            let file = Repository.root.appending(path: path).path
            #expect(FileManager.default.isExecutableFile(atPath: file), "\(path)")
            let shell = try Process.run(URL(filePath: "/bin/sh"), arguments: ["-n", file])
            shell.waitUntilExit()
            #expect(shell.terminationStatus == 0, "\(path)")
        }
    }

    @Test("what runs on every change is ./deploy/test and nothing else")
    func everyChange() throws {
        let lines = try Repository.text(".ci/run").split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines == ["set -eu", #"cd "$(dirname "$0")/..""#, "exec ./deploy/test"])
    }

    private struct Line {
        var path: String
        var number: Int
        var text: Substring

        var place: String { "\(path):\(number)" }
    }

    /// The lines, without what follows `//`, of those Swift files of a folder that contain one of the words.
    private static func code(under folder: String, with words: [String]) throws -> [Line] {
        try Repository.swiftFiles(under: folder).filter { $0.contains(anyOf: words) }.flatMap { file in
            file.lines.enumerated().map { index, line in
                let end = line.range(of: "//")?.lowerBound ?? line.endIndex
                return Line(path: file.path, number: index + 1, text: line[..<end])
            }
        }
    }
}

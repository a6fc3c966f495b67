import ArgumentParser
import JSON
import Platform
import Testing

@testable import CommandSupport
@testable import RuleCommands

@Suite("The end of a command")
struct CommandEndingTests {
    private static func ending(_ error: any Error, _ arguments: [String] = []) -> CommandEnding {
        CommandEnding(error, arguments: arguments, of: CheckCommand.self)
    }

    @Test("a failure is a sentence on standard error, and with --json a line of JSON on standard output")
    func failure() {
        let failure = Failure(.unavailable, "tryckd is not running. Start it: systemctl start tryck.")
        let plain = Self.ending(failure)
        #expect(plain.text == "check: tryckd is not running. Start it: systemctl start tryck.\n")
        #expect(plain.isError && plain.status == 69)
        let json = Self.ending(failure, ["--json"])
        #expect(
            json.text == """
                {"error":"tryckd is not running","hint":"Start it: systemctl start tryck.","code":69}

                """)
        #expect(!json.isError && json.status == 69)
        let short = Self.ending(Failure(.negativeResult, "No test has \"x\" in its name."), ["--json"])
        #expect(short.text == #"{"error":"No test has \"x\" in its name","hint":null,"code":1}"# + "\n")
        // An argument after -- is no option.
        #expect(Self.ending(failure, ["--", "--json"]) == plain)
        #expect(Self.ending(Failure.silent(.negativeResult), ["--json"]).text.isEmpty)
    }

    @Test("problems in files are a report for people, and a list for programs")
    func problems() {
        let failure = Failure(
            .negativeResult, "The rules have errors.", problems: [["code": "E301"]], report: "home.yaml:1:1: …\n")
        #expect(Self.ending(failure).text == "home.yaml:1:1: …\n")
        #expect(
            Self.ending(failure, ["--json"]).text == """
                {"error":"The rules have errors","hint":null,"code":1,"problems":[{"code":"E301"}]}

                """)
    }

    @Test("a mistake in the arguments has status 64, also as JSON, and help has status 0 on standard output")
    func arguments() throws {
        func error(_ arguments: [String]) -> any Error {
            do {
                _ = try CheckCommand.parse(arguments)
                return Failure.silent(.success)
            } catch {
                return error
            }
        }
        let plain = Self.ending(error(["--strct"]), ["--strct"])
        #expect(plain.isError && plain.status == 64 && plain.text.contains("--strict"))
        let json = Self.ending(error(["--strct", "--json"]), ["--strct", "--json"])
        #expect(!json.isError && json.status == 64)
        #expect(json.text.hasPrefix(#"{"error":"Unknown option '--strct'"#) && json.text.hasSuffix("\"code\":64}\n"))
        let help = Self.ending(error(["--help"]), ["--help"])
        #expect(!help.isError && help.status == 0 && help.text.contains("USAGE"))
        for twice in [["-", "-"], ["--as", "home.yaml"], ["home.yaml", "--as", "x.yaml"]] {
            #expect(Self.ending(error(twice)).status == 64)
        }
    }

    @Test("- is standard input, with a path for messages")
    func standardInput() throws {
        #expect(try CheckCommand.parse([]).rules.sources == [nil])
        #expect(try CheckCommand.parse(["a.yaml", "b.yaml"]).rules.sources == [.file("a.yaml"), .file("b.yaml")])
        #expect(try CheckCommand.parse(["-"]).rules.sources == [.standardInput(name: "-")])
        #expect(
            try TestCommand.parse(["-", "--as", "rules/x.yaml"]).rules.sources == [.standardInput(name: "rules/x.yaml")]
        )
    }
}

import ArgumentParser
import JSON
import Platform
import Testing

@testable import CommandSupport
@testable import RuleCommands
@testable import tryck

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

    @Test("a misspelt command gets a suggestion, also in front of options, and as JSON")
    func unknownCommands() throws {
        func ending(_ line: String) -> CommandEnding? {
            let arguments = line.split(separator: " ").map(String.init)
            do {
                var command = try Tryck.parseAsRoot(arguments)
                // The parser shows help when its command runs.
                if arguments.first == "help" { try command.run() }
                return nil
            } catch {
                return CommandEnding(error, arguments: arguments, of: Tryck.self)
            }
        }
        for (line, sentence) in [
            ("chek", #"There is no command "tryck chek". Did you mean "check"? See tryck --help."#),
            ("chek --strict rules.yaml", #"There is no command "tryck chek". Did you mean "check"? See tryck --help."#),
            ("frobnicate", #"There is no command "tryck frobnicate". See tryck --help."#),
            (
                "rule lamp trade",
                #"There is no command "tryck rule lamp trade". Did you mean "trace"? See tryck rule --help."#
            ),
            (
                "rule lamp rum --wait",
                #"There is no command "tryck rule lamp rum". Did you mean "run"? See tryck rule --help."#
            ),
            (
                "button kitchen renam hall",
                #"There is no command "tryck button kitchen renam". Did you mean "rename"? See tryck button --help."#
            ),
            (
                "help ruels",
                #"There is no command "tryck ruels". Did you mean "rules"? See tryck --help."#
            ),
            (
                "help rule trce",
                #"There is no command "tryck rule trce". Did you mean "trace"? See tryck rule --help."#
            ),
            (
                "variable volume sett 3",
                #"There is no command "tryck variable volume sett". Did you mean "set"? See tryck variable --help."#
            ),
        ] {
            #expect(ending(line)?.text == "Error: \(sentence)\n")
            #expect(ending(line)?.status == 64 && ending(line)?.isError == true)
        }
        let json = ending("rule lamp trade --json")
        #expect(
            json?.text == """
                {"error":"There is no command \\"tryck rule lamp trade\\"",\
                "hint":"Did you mean \\"trace\\"? See tryck rule --help.","code":64}

                """)
        #expect(ending("schema --json")?.text.contains("Did you mean '--for'? See tryck --help.") == true)
        // Other mistakes keep the words of the parser, which suggests options itself.
        #expect(ending("check --strct")?.text.contains("Did you mean '--strict'?") == true)
        #expect(ending("rule lamp run --wiat")?.text.contains("--wait") == true)
        #expect(ending("explain kitchen")?.text.contains("command") == false)
        let helpLines = ["help", "help check", "help rule trace", "help help"]
        for line in helpLines + ["rule lamp", "rule lamp run", "button kitchen", "check a.yaml b.yaml"] {
            #expect(ending(line)?.isError != true, "\(line)")
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

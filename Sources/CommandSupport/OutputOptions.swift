import ArgumentParser
package import JSON

/// The option `--json` of commands that print data.
package struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON.")
    package var json = false

    package init() {}

    /// Writes an answer of the daemon to standard output: with `--json` as it is, otherwise as lines for people.
    package func write(_ answer: JSONValue, lines: (JSONValue) -> [Line]) {
        if json {
            Output.standardOutput.write(line: answer.description)
        } else {
            Output.standardOutput.write(lines(answer))
        }
    }
}

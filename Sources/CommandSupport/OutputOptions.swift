import ArgumentParser

/// The option `--json` of commands that print data.
package struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON.")
    package var json = false
}

import ArgumentParser

/// The option `--json` of commands that print data.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON.")
    var json = false
}

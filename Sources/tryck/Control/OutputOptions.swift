import ArgumentParser

/// `--json`, wherever a command prints data.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON.")
    var json = false
}

import Expressions

/// Durations on command lines, in the notation of rule files.
package enum DurationArgument {
    /// Reads `2s` or `1m30s`; `nil` if the text is not a duration.
    package static func parse(_ text: String) -> Duration? {
        (try? DurationText.milliseconds(text)).map { .milliseconds($0) }
    }
}

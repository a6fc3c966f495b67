package import ButtonModel

/// The version of everything in this package.
package enum Version {
    package static let string = "0.1.0"
    /// 2026-11-21. A wall clock that shows an earlier time is wrong.
    package static let builtAt = UTCTime(milliseconds: 1_795_219_200_000)
}

import Glibc

/// The seeds of a random test. Environment variables choose others, so that a failure can be repeated and a long run is possible.
///
/// - Parameters:
///   - count: their number, unless the variable `variable` sets it.
///   - first: the first one, unless `TRYCK_SEED` sets it.
public func seeds(_ count: UInt64, from first: UInt64 = 1, variable: String = "TRYCK_SEEDS") -> Range<UInt64> {
    let first = environmentNumber("TRYCK_SEED") ?? first
    return first..<first + (environmentNumber(variable) ?? count)
}

extension Range<UInt64> {
    /// Several seeds in one test, because a test for each seed costs more than its story.
    public func handfuls(of size: Int) -> [[UInt64]] {
        stride(from: 0, to: count, by: size).map { Array(dropFirst($0).prefix(size)) }
    }
}

public func environmentNumber(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }

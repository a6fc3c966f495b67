/// The numbers that the function `random` returns.
///
/// They are computed from a seed, which the rule engine derives from the time of each input. The same inputs therefore
/// give the same numbers, so a recording replays to the same choices. A rule test gives the numbers instead.
package struct RandomDraws: Hashable, Sendable {
    /// Why a number of a rule test cannot be used.
    package enum Problem: Hashable, Sendable {
        case noneLeft(from: Int64, through: Int64)
        case outOfRange(Int64, from: Int64, through: Int64)
    }

    /// The state of the generator SplitMix64. Source: Steele, Lea and Flood, "Fast splittable pseudorandom number
    /// generators", OOPSLA 2014.
    private var state: UInt64 = 0
    private var seed: [Int64] = []
    /// The remaining numbers of a rule test; `nil` if the numbers are computed from the seed.
    package private(set) var given: [Int64]?
    /// The first problem with the numbers of a rule test.
    package private(set) var problem: Problem?
    /// The latest numbers, for explanations, since this was last set to an empty list. At most `maximumShown`.
    package var shown: [Int64] = []

    package static let maximumShown = 10

    package init() {}

    /// Begins another sequence of numbers, unless it is the sequence of this seed already.
    package mutating func begin(milliseconds: Int64, nanoseconds: Int64) {
        guard given == nil, seed != [milliseconds, nanoseconds] else { return }
        seed = [milliseconds, nanoseconds]
        state = RandomDraws.mixed(UInt64(bitPattern: milliseconds)) ^ UInt64(bitPattern: nanoseconds)
    }

    /// Uses these numbers from now on, in this order, instead of computed ones.
    package mutating func give(_ numbers: [Int64]) {
        given = numbers
        problem = nil
    }

    /// A number in a range, both ends included. If a rule test gives none for it, the number is the lower end.
    mutating func number(in range: ClosedRange<Int64>) -> Int64 {
        let number = given == nil ? computed(in: range) : givenNumber(in: range)
        if shown.count < RandomDraws.maximumShown { shown.append(number) }
        return number
    }

    private mutating func givenNumber(in range: ClosedRange<Int64>) -> Int64 {
        guard let number = given?.first else {
            problem = problem ?? .noneLeft(from: range.lowerBound, through: range.upperBound)
            return range.lowerBound
        }
        given?.removeFirst()
        guard range.contains(number) else {
            problem = problem ?? .outOfRange(number, from: range.lowerBound, through: range.upperBound)
            return range.lowerBound
        }
        return number
    }

    /// All numbers of the range are equally likely. This is computed here and not by the standard library, so that a
    /// recording replays to the same choices with another version of Swift. Source: Lemire, "Fast random integer
    /// generation in an interval", 2019.
    private mutating func computed(in range: ClosedRange<Int64>) -> Int64 {
        let lower = UInt64(bitPattern: range.lowerBound)
        let count = UInt64(bitPattern: range.upperBound) &- lower &+ 1
        // The range of all 64-bit numbers has 2⁶⁴ elements.
        guard count > 0 else { return Int64(bitPattern: nextBits()) }
        var product = nextBits().multipliedFullWidth(by: count)
        if product.low < count {
            let unfair = (0 &- count) % count
            while product.low < unfair { product = nextBits().multipliedFullWidth(by: count) }
        }
        return Int64(bitPattern: lower &+ product.high)
    }

    private mutating func nextBits() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return RandomDraws.mixed(state)
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        var bits = value
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}

import Testing

@testable import Expressions

@Suite("The function random")
struct RandomNumberTests {
    private static func draws(_ milliseconds: Int64 = 1, _ nanoseconds: Int64 = 2) -> RandomDraws {
        var draws = RandomDraws()
        draws.begin(milliseconds: milliseconds, nanoseconds: nanoseconds)
        return draws
    }

    private static func numbers(_ count: Int, in range: ClosedRange<Int64>, _ draws: RandomDraws) -> [Int64] {
        var draws = draws
        return (0..<count).map { _ in draws.number(in: range) }
    }

    @Test("the same seed gives the same numbers, for ever")
    func repeatable() {
        #expect(Self.numbers(12, in: 1...6, Self.draws()) == Self.numbers(12, in: 1...6, Self.draws()))
        // Changing these numbers changes what recordings replay to.
        #expect(Self.numbers(8, in: 1...6, Self.draws()) == [5, 5, 2, 3, 2, 6, 5, 4])
    }

    @Test("another millisecond or nanosecond gives other numbers")
    func seeds() {
        let range = Int64.min...Int64.max
        var seen: Set<[Int64]> = []
        for milliseconds in 0..<20 as Range<Int64> {
            for nanoseconds in 0..<20 as Range<Int64> {
                seen.insert(Self.numbers(2, in: range, Self.draws(milliseconds, nanoseconds)))
            }
        }
        #expect(seen.count == 400)
    }

    @Test("at the same time the sequence goes on")
    func sameTime() {
        var draws = Self.draws()
        let first = draws.number(in: .min ... .max)
        draws.begin(milliseconds: 1, nanoseconds: 2)
        #expect(draws.number(in: .min ... .max) != first)
        draws.begin(milliseconds: 1, nanoseconds: 3)
        draws.begin(milliseconds: 1, nanoseconds: 2)
        #expect(draws.number(in: .min ... .max) == first)
    }

    @Test(
        "all numbers of a range are drawn, equally often, and no others",
        arguments: [1...6, -2...2, 0...0, 0...99, .min ... .min + 2, .max - 2 ... .max] as [ClosedRange<Int64>])
    func fair(range: ClosedRange<Int64>) {
        var counts: [Int64: Int] = [:]
        let each = 1000
        // The times of 10 presses in each second, with jitter that is not random at all.
        for press in 0..<each * range.count {
            var draws = Self.draws(1_768_478_400_000, Int64(press) * 100_000_000 + Int64(press % 7) * 13)
            counts[draws.number(in: range), default: 0] += 1
        }
        #expect(Set(counts.keys) == Set(range))
        for count in counts.values { #expect(abs(count - each) < 200) }
    }

    @Test("wide ranges are possible, up to all integers")
    func wide() {
        var draws = Self.draws()
        let wide: [ClosedRange<Int64>] = [.min ... .max, .min ... .max - 1, 0 ... .max, .min...0, -1 ... .max]
        for range in wide {
            let numbers = Self.numbers(100, in: range, draws)
            #expect(numbers.allSatisfy(range.contains) && Set(numbers).count == 100)
            _ = draws.number(in: range)
        }
    }

    @Test("it has a type, and takes two integers, of which the first is not greater")
    func checked() throws {
        #expect(try House.outcome("random(3, 3)") == "integer 3")
        #expect(try House.outcome("random(-4, -4) * 2") == "integer -8")
        #expect(try House.outcome("random(9223372036854775807, 9223372036854775807)") == "integer 9223372036854775807")
        #expect(
            House.problems("random(6, 1)")
                == "E404 0..<12 random needs the smaller number first, not 6 and 1; write random(1, 6)")
        #expect(
            House.problems("random(1, -1)")
                == "E404 0..<13 random needs the smaller number first, not 1 and -1; write random(-1, 1)")
        #expect(
            House.problems("random(1, 2.5)")
                == "E404 10..<13 random takes an integer, not number: 2.5; round(x) gives an integer")
        #expect(House.problems("randint(1, 6)") == "E403 0..<7 unknown function \"randint\"; write random(1, 6)")
        #expect(
            try House.outcome("random(repeat.index, 1)")
                == "R802 0..<23 random needs the smaller number first, not 4 and 1")
    }

    @Test("each call draws a number, in the order of evaluation, and a branch that is not taken draws none")
    func order() throws {
        var context = House.environment
        context.draws.give([1, 2, 3, 4, 5])
        let both = try Template(compiling: "{{ random(1, 9) }} {{ random(1, 9) - random(0, 9) }}", in: House.wholeScope)
        #expect(try both.text(in: &context) == "1 -1")
        let lazy = try Expression(compiling: "false and random(1, 9) == 1 or random(1, 9) == 4", in: House.wholeScope)
        #expect(try lazy.isTrue(in: &context))
        #expect(context.draws.given == [5])
        #expect(lazy.drawsRandom)
        #expect(try !Expression(compiling: "1", in: House.scope).drawsRandom)
        // A context that is not `inout` is left as it is.
        let unchanged = context
        #expect(try both.text(in: unchanged) == "5 1")
        #expect(unchanged.draws.given == [5] && unchanged.draws.problem == nil)
    }

    @Test("a number of a test that is missing or out of range is the first problem that is kept")
    func problems() throws {
        var draws = RandomDraws()
        draws.give([7, 2])
        draws.begin(milliseconds: 1, nanoseconds: 1)
        #expect([draws.number(in: 1...6), draws.number(in: 1...6), draws.number(in: 3...6)] == [1, 2, 3])
        #expect(draws.problem == .outOfRange(7, from: 1, through: 6))
        draws.give([])
        #expect(draws.number(in: 4...6) == 4)
        #expect(draws.problem == .noneLeft(from: 4, through: 6))
    }
}

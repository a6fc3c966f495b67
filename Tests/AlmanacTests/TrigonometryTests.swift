import Foundation
import Testing

@testable import Almanac

@Suite("Trigonometry")
struct TrigonometryTests {
    @Test("sine, cosine and tangent agree with the C library's to twelve digits")
    func functions() {
        for degrees in stride(from: -1080.0, through: 1080, by: 0.37) {
            let angle = degrees * .pi / 180
            #expect(abs(Trigonometry.sine(degrees) - sin(angle)) < 1e-12)
            #expect(abs(Trigonometry.cosine(degrees) - cos(angle)) < 1e-12)
            guard abs(cos(angle)) > 0.01 else { continue }
            #expect(abs(Trigonometry.tangent(degrees) - tan(angle)) < 1e-9)
        }
    }

    @Test("the arcsine agrees with the C library's to twelve digits, and to nine at its ends, where it is steep")
    func arcsine() {
        for value in stride(from: -0.999, through: 0.999, by: 0.0013) {
            #expect(abs(Trigonometry.arcsine(value) - asin(value) * 180 / .pi) < 1e-12)
        }
        for value in [0.999_999, 0.999_999_999_999, 1, -0.999_999_999] {
            #expect(abs(Trigonometry.arcsine(value) - asin(value) * 180 / .pi) < 1e-9)
        }
        #expect(Trigonometry.arcsine(1.000_000_1) == Trigonometry.arcsine(1))
        #expect(Trigonometry.arcsine(-2) == Trigonometry.arcsine(-1))
    }
}

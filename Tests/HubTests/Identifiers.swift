@testable import Hub

extension MessageID: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: UInt64) { self.init(number: value) }
}

extension JobID: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: UInt64) { self.init(rawValue: value) }
}

extension RecordToken: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: UInt64) { self.init(rawValue: value) }
}

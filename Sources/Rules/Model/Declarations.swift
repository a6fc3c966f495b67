package import Expressions

/// A state: an MQTT topic whose last value rules may read.
package struct DeclaredState: Hashable, Sendable {
    /// How the values of several topics become one value.
    package enum Combination: String, CaseIterable, Hashable, Sendable {
        /// The value that arrived last and is still known.
        case last
        /// The number of topics with a known, true value.
        case count
    }

    /// The maximum number of topics of a state with a known value.
    package static let maximumMatches = 256

    package var name: String
    /// A topic. If `combination` is not `nil`, it may have wildcards.
    package var topicName: String
    /// A JSON Pointer into the payload; empty for the whole payload.
    package var pointer: String
    package var type: ExpressionType.Scalar
    /// The value while the received value is unknown.
    package var defaultValue: Value?
    /// The time after the last message at which the value becomes unknown. Each topic has its own time.
    package var maximumAge: Duration?
    /// `nil` if the state has one topic.
    package var combination: Combination?
    package var location: SourceLocation

    /// The type of the values in messages. A count counts boolean values.
    package var messageType: ExpressionType.Scalar { combination == .count ? .boolean : type }

    package init(
        name: String, topicName: String, pointer: String = "", type: ExpressionType.Scalar = .string,
        defaultValue: Value? = nil, maximumAge: Duration? = nil, combination: Combination? = nil,
        location: SourceLocation = SourceLocation()
    ) {
        self.combination = combination
        self.name = name
        self.topicName = topicName
        self.pointer = pointer
        self.type = type
        self.defaultValue = defaultValue
        self.maximumAge = maximumAge
        self.location = location
    }
}

/// A variable, which rules may read and assign.
package struct DeclaredVariable: Hashable, Sendable {
    package var name: String
    package var type: ExpressionType.Scalar
    package var initial: Value
    /// The values that it may have, in order; if empty, any value.
    package var values: [Value]
    /// The range to which `set` clamps the value, for numbers only.
    package var minimum, maximum: Double?
    package var isPersisted: Bool
    /// The local time at which it returns to its initial value each day.
    package var reset: TimeOfDay?
    package var location: SourceLocation

    package init(
        name: String, type: ExpressionType.Scalar, initial: Value, values: [Value] = [], minimum: Double? = nil,
        maximum: Double? = nil, isPersisted: Bool = true, reset: TimeOfDay? = nil,
        location: SourceLocation = SourceLocation()
    ) {
        self.name = name
        self.type = type
        self.initial = initial
        self.values = values
        self.minimum = minimum
        self.maximum = maximum
        self.isPersisted = isPersisted
        self.reset = reset
        self.location = location
    }
}

/// A script: named steps with inputs.
package struct Script: Hashable, Sendable {
    package struct Input: Hashable, Sendable {
        package var name: String
        package var type: ExpressionType.Scalar
        /// The default value; if `nil`, the call must provide a value.
        package var defaultValue: Value?

        package init(name: String, type: ExpressionType.Scalar, defaultValue: Value? = nil) {
            self.name = name
            self.type = type
            self.defaultValue = defaultValue
        }
    }

    package var name: String
    package var inputs: [Input]
    package var steps: [Step]
    /// The number of results that its own steps save, in slots from 0.
    package var resultCount: Int
    package var location: SourceLocation

    package init(
        name: String, inputs: [Input] = [], steps: [Step] = [], resultCount: Int = 0,
        location: SourceLocation = SourceLocation()
    ) {
        self.name = name
        self.inputs = inputs
        self.steps = steps
        self.resultCount = resultCount
        self.location = location
    }
}

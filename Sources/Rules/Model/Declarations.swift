package import Expressions

/// A state: an MQTT topic whose last value rules may read.
package struct DeclaredState: Hashable, Sendable {
    package var name: String
    package var topicName: String
    /// A JSON Pointer into the payload; empty for the whole payload.
    package var pointer: String
    package var type: ExpressionType.Scalar
    /// The value while the received value is unknown.
    package var fallback: Value?
    /// The time after the last message at which the value becomes unknown.
    package var maximumAge: Duration?
    package var place: SourceLocation

    package init(
        name: String, topicName: String, pointer: String = "", type: ExpressionType.Scalar = .string,
        fallback: Value? = nil, maximumAge: Duration? = nil, place: SourceLocation = SourceLocation()
    ) {
        self.name = name
        self.topicName = topicName
        self.pointer = pointer
        self.type = type
        self.fallback = fallback
        self.maximumAge = maximumAge
        self.place = place
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
    package var place: SourceLocation

    package init(
        name: String, type: ExpressionType.Scalar, initial: Value, values: [Value] = [], minimum: Double? = nil,
        maximum: Double? = nil, isPersisted: Bool = true, place: SourceLocation = SourceLocation()
    ) {
        self.name = name
        self.type = type
        self.initial = initial
        self.values = values
        self.minimum = minimum
        self.maximum = maximum
        self.isPersisted = isPersisted
        self.place = place
    }
}

/// A script: named steps with inputs.
package struct Script: Hashable, Sendable {
    package struct Input: Hashable, Sendable {
        package var name: String
        package var type: ExpressionType.Scalar
        /// The default value; if `nil`, the call must provide a value.
        package var fallback: Value?

        package init(name: String, type: ExpressionType.Scalar, fallback: Value? = nil) {
            self.name = name
            self.type = type
            self.fallback = fallback
        }
    }

    package var name: String
    package var inputs: [Input]
    package var steps: [Step]
    /// The number of results that its own steps save, in slots from 0.
    package var resultCount: Int
    package var place: SourceLocation

    package init(
        name: String, inputs: [Input] = [], steps: [Step] = [], resultCount: Int = 0,
        place: SourceLocation = SourceLocation()
    ) {
        self.name = name
        self.inputs = inputs
        self.steps = steps
        self.resultCount = resultCount
        self.place = place
    }
}

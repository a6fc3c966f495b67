extension Compiler {
    mutating func call(
        _ name: String, _ nameRange: Range<Int>, _ arguments: [Syntax], _ syntax: Syntax
    ) -> Checked? {
        guard let function = Function(rawValue: name) else {
            let texts = arguments.prefix(2).compactMap { argument -> String? in
                if case .literal(.string(let text), _) = argument { text } else { nil }
            }
            let hint = ForeignNames.hint(forFunction: name, texts, in: scope, syntax.range)
            let nearest = Suggestions.nearest(to: name, among: Function.allCases.map(\.rawValue))
            report("E403", at: nameRange, "unknown function \"\(name)\"", hint: hint ?? nearest.map { .meant($0) })
            return nil
        }
        if function == .inTime { return inTime(arguments, syntax) }
        if function == .next, arguments.count == 1 { return nextOfVariable(arguments[0], syntax) }
        let description = function.description
        guard hasRightCount(arguments.count, function, description, nameRange) else { return nil }
        guard let checked = checkAll(arguments) else { return nil }
        var isGood = true
        for (index, argument) in checked.enumerated() {
            let parameter = description.parameters[min(index, description.parameters.count - 1)]
            isGood = takes(argument, parameter.kind, function) && isGood
        }
        guard isGood else { return nil }
        return call(function, description, checked, syntax)
    }

    private mutating func call(
        _ function: Function, _ description: FunctionDescription, _ arguments: [Checked], _ syntax: Syntax
    ) -> Checked? {
        switch function {
        case .known: return checked(.known(arguments[0].node), .boolean, syntax)
        case .string: return hasText(arguments[0]) ? checked(.asText(arguments[0].node), .string, syntax) : nil
        case .default: return fallback(arguments, of: "default", syntax)
        case .next: return next(arguments[0], arguments[1], syntax)
        case .minutesSince: reads.insert(.now(.unix))
        case .jsonGet: guard isPointer(arguments[1]) else { return nil }
        case .random:
            guard isRange(arguments[0], arguments[1], syntax) else { return nil }
            program.drawsRandom = true
        case .integer, .number, .round, .floor, .ceil, .abs, .min, .max, .clamp, .lower, .upper, .trim, .replace,
            .slice, .length, .contains, .startsWith, .endsWith, .like, .seconds, .milliseconds, .json, .url, .inTime:
            break
        }
        let type: ExpressionType
        switch description.outcome {
        case .always(let always): type = always
        case .integerUnlessPlaces: type = arguments.count > 1 ? .number : .integer
        case .likeArguments, .likeArgumentsWithFallback, .entry:
            guard let merged = merged(arguments, "\(function.rawValue) needs values of the same type") else {
                return nil
            }
            type = merged
        }
        // Integers are converted if the merged type is number, so that the result does not depend on how a number was
        // written.
        let nodes = arguments.map { type.scalar == .number && $0.type.isNumeric ? asNumber($0) : $0.node }
        let operands = program.append(
            operands: description.outcome == .integerUnlessPlaces ? arguments.map(\.node) : nodes)
        return checked(.call(function, operands), type, syntax)
    }

    private mutating func hasRightCount(
        _ count: Int, _ function: Function, _ description: FunctionDescription, _ range: Range<Int>
    ) -> Bool {
        let least = description.parameters.count(where: \.isRequired)
        let most = description.isVariadic ? Limits.listCount : description.parameters.count
        guard !(least...most).contains(count) else { return true }
        let wanted = least == most ? "\(least)" : description.isVariadic ? "at least \(least)" : "\(least) or \(most)"
        let noun = least == 1 && most == 1 ? "argument" : "arguments"
        report(
            "E404", at: range, "\(function.rawValue) takes \(wanted) \(noun), not \(count)",
            hint: "write \(function.usage)")
        return false
    }

    /// Checks that an argument is of the required kind, and reports a problem if not.
    private mutating func takes(
        _ argument: Checked, _ kind: FunctionDescription.Kind, _ function: Function
    ) -> Bool {
        if kind == .anything { return true }
        let scalar = argument.type.scalar
        let isRight: Bool =
            switch kind {
            case .anything, .value: true
            case .text: scalar == .string
            case .integer: scalar == .integer
            case .number: argument.type.isNumeric
            case .textOrNumber: scalar == .string || argument.type.isNumeric
            case .duration: scalar == .duration
            case .numberOrDuration: argument.type.isNumeric || scalar == .duration
            case .list: argument.type.isList
            case .clock: false
            }
        guard isRight || argument.type.kind == .null else {
            let conversion = kind.conversion(of: argument.type).map { function, sentence in
                Hint(sentence, [change(of: argument.syntax) { "\(function.rawValue)(\($0))" }])
            }
            let hint = kind.isNumeric ? remedy(for: argument, toBe: .number) ?? conversion : conversion
            report(
                "E404", argument.syntax,
                "\(function.rawValue) takes \(kind.noun), not \(argument.type.nonOptional): \(source(argument.syntax))",
                hint: hint)
            return false
        }
        return isKnown(argument)
    }

    /// Checks that a JSON pointer is well-formed if it is a literal, and reports a problem if not.
    private mutating func isPointer(_ argument: Checked) -> Bool {
        guard case .string(let text)? = program.constant(at: argument.node), JSONPointer(text) == nil else {
            return true
        }
        report("E404", argument.syntax, "\"\(text)\" is not a JSON pointer", hint: "write '/state' or '/lamps/0/on'")
        return false
    }

    /// Checks that the first number of `random` does not exceed the second if both are literals, and reports a problem
    /// if it does.
    private mutating func isRange(_ first: Checked, _ last: Checked, _ syntax: Syntax) -> Bool {
        guard case .integer(let lower)? = literal(first), case .integer(let upper)? = literal(last), lower > upper
        else { return true }
        report(
            "E404", syntax, "random needs the smaller number first, not \(lower) and \(upper)",
            hint: .write("random(\(upper), \(lower))"))
        return false
    }

    /// The value of a number with or without a minus sign; `nil` for other expressions.
    private func literal(_ argument: Checked) -> Value? {
        if case .negate(let operand) = program.nodes[argument.node] {
            guard case .integer(let integer)? = program.constant(at: operand) else { return nil }
            return .integer(-integer)
        }
        return program.constant(at: argument.node)
    }

    // MARK: next

    private mutating func next(_ list: Checked, _ value: Checked, _ syntax: Syntax) -> Checked? {
        guard case .list(let element) = list.type.kind else { return nil }
        guard let element else {
            report("E404", list.syntax, "an empty list has no next entry")
            return nil
        }
        guard let scalar = value.type.scalar, let merged = element.merged(with: scalar) else {
            report("E404", value.syntax, "next needs values of the same type, not \(list.type) and \(value.type)")
            return nil
        }
        let type = ExpressionType(merged)
        let operands = program.append(operands: [merged == .number ? asNumber(list) : list.node, value.node])
        return checked(.call(.next, operands), type, syntax)
    }

    /// Checks `next(variables.scene)`, whose list is the values that the variable was declared with.
    private mutating func nextOfVariable(_ argument: Syntax, _ syntax: Syntax) -> Checked? {
        guard let value = check(argument) else { return nil }
        guard let (name, declared) = declaration(of: argument, in: .variables) else {
            report(
                "E404", argument, "next needs a list and a value, or a variable", hint: "write \(Function.next.usage)")
            return nil
        }
        guard let scalar = declared.type.scalar, !declared.values.isEmpty else {
            let location = declared.location.map { " (\($0))" } ?? ""
            report("E404", argument, "variable \"\(name)\" has no values", hint: "give \(name)\(location) values: […]")
            return nil
        }
        let values = scalar == .number ? declared.values.map(\.asNumber) : declared.values
        let list = program.append(constant: .list(values), argument.range)
        return checked(.call(.next, program.append(operands: [list, value.node])), declared.type, syntax)
    }

    // MARK: in_time

    private mutating func inTime(_ arguments: [Syntax], _ syntax: Syntax) -> Checked? {
        guard case .call(_, let nameRange, _, _) = syntax,
            hasRightCount(arguments.count, .inTime, Function.inTime.description, nameRange)
        else { return nil }
        let clocks = arguments.compactMap { clock($0) }
        guard clocks.count == 2 else { return nil }
        guard clocks[0] != clocks[1] else {
            report("E205", arguments[1], "a window from \(source(arguments[0])) to the same time is empty")
            return nil
        }
        program.windows.append(TimeWindow(after: clocks[0], before: clocks[1]))
        reads.insert(.now(.time))
        if clocks.contains(where: { $0.mark != nil }) { reads.insert(.sun(.elevation)) }
        return checked(.inTime(program.windows.count - 1), .boolean, syntax)
    }

    private mutating func clock(_ syntax: Syntax) -> TimeOfDay? {
        let written = syntax.withoutBrackets
        guard case .literal(.string(let text), _) = written else {
            if case .name(let name, _) = written, TimeOfDay.SunEvent(rawValue: name) != nil {
                report(
                    "E402", syntax, "unknown name \(name)",
                    hint: Hint("write '\(name)' for text", replacing: "'\(name)'"))
            } else {
                report(
                    "E404", syntax, "in_time takes times that are written out, not \(source(syntax))",
                    hint: "write in_time('22:00', 'sunrise + 30m')")
            }
            return nil
        }
        do {
            let clock = try TimeOfDay(text)
            if let mark = clock.mark, let reason = scope.absent[.sun] {
                report("E512", syntax, "\(mark.rawValue) \(reason)")
                return nil
            }
            return clock
        } catch {
            report("E207", syntax, error.message, hint: error.hint)
            return nil
        }
    }
}

extension FunctionDescription.Kind {
    /// The kind with its article, for messages.
    var noun: String {
        switch self {
        case .anything, .value: "a value"
        case .text: "text"
        case .integer: "an integer"
        case .number: "a number"
        case .textOrNumber: "text or a number"
        case .duration: "a duration"
        case .numberOrDuration: "a number or a duration"
        case .list: "a list"
        case .clock: "a time of day"
        }
    }

    fileprivate var isNumeric: Bool {
        switch self {
        case .integer, .number, .numberOrDuration: true
        case .anything, .value, .text, .textOrNumber, .duration, .list, .clock: false
        }
    }

    /// The function that converts a value of this type to this kind, and what hints say of it.
    fileprivate func conversion(of type: ExpressionType) -> (function: Function, sentence: String)? {
        switch (self, type.scalar) {
        case (.text, .some): (.string, "string(x) converts it to text")
        case (.integer, .number): (.round, "round(x) gives an integer")
        case (.integer, .string), (.number, .string), (.numberOrDuration, .string):
            (.number, "number(x) converts text to a number")
        case (.number, .duration), (.integer, .duration), (.textOrNumber, .duration):
            (.seconds, "seconds(d) gives a number")
        case (.anything, _), (.value, _), (.text, nil), (.integer, _), (.number, _), (.textOrNumber, _), (.duration, _),
            (.numberOrDuration, _), (.list, _), (.clock, _):
            nil
        }
    }
}

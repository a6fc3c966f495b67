package import Rules
package import YAMLFiles

extension LoadResult<RuleSet> {
    /// The values of `!secret` and `!env_var` in the part that could be read. If there are errors, also the values of all names that
    /// follow `!secret` in the texts, because the part that could not be read may use them.
    ///
    /// - Parameters:
    ///   - inputs: those with which the set was loaded.
    ///   - texts: the texts of its files.
    package func confidentialValues(in inputs: LoadInputs, of texts: some Sequence<[UInt8]>) -> ConfidentialValues {
        var found = readable.confidentialValues
        guard value == nil else { return found }
        let names = texts.reduce(into: Set<String>()) { $0.formUnion(Secrets.names(in: $1)) }
        let secrets = Secrets(in: inputs.fileInputs).placeholders(of: names)
        found.values.formUnion(secrets.keys)
        found.marks.merge(secrets, uniquingKeysWith: min)
        found.open.subtract(secrets.keys)
        return found
    }
}

extension FileLoader {
    /// Loads a rule set whose files are all in the inputs.
    package static func rules(_ entry: SourceFile, in inputs: LoadInputs) -> LoadResult<RuleSet> {
        var loader = RuleSetLoader(entry, in: inputs)
        while let nextRequest = loader.nextRequest {
            loader.answer(inputs.answer(to: nextRequest, relativeTo: entry))
        }
        return (consume loader).loaded()
    }

    /// Loads a rule set that was recorded, with the permissions and time zones of the recording in place of this
    /// machine's.
    ///
    /// - Parameters:
    ///   - files: the entry file first, and then the files that it includes.
    ///   - systemTimeZone: the name of the time zone in `timeZones` for a set without `timezone`.
    /// - Returns: `nil` if there is no file.
    package static func recordedRules(
        _ files: [SourceFile], timeZones: [String: [UInt8]], systemTimeZone: String?, forbiddenSteps: Set<StepKind>,
        in fileInputs: FileInputs
    ) -> LoadResult<RuleSet>? {
        guard let entry = files.first else { return nil }
        var inputs = LoadInputs(fileInputs, forbiddenSteps: forbiddenSteps, timeZones: timeZones)
        inputs.systemTimeZone = systemTimeZone.flatMap { name in
            timeZones[name].map { LoadInputs.ZoneFile(name: name, octets: $0) }
        }
        for file in files.dropFirst() { inputs.files[file.name] = file }
        return rules(entry, in: inputs)
    }
}

extension LoadInputs {
    fileprivate func answer(to request: RuleSetLoader.Request, relativeTo entry: SourceFile) -> RuleSetLoader.Answer {
        switch request {
        case .timeZone(let name): return .timeZone(timeZones[name])
        case .files(let pattern, let origin):
            let path = PathPattern.path(pattern.text, relativeTo: origin)
            let directory = PathPattern.path(".", relativeTo: entry.name)
            let isInside =
                directory.isEmpty ? !path.hasPrefix("../") && !path.hasPrefix("/") : path.hasPrefix(directory + "/")
            guard isInside else { return .isOutside }
            let files = files.merging([entry.name: entry]) { file, _ in file }
            guard !pattern.isLiteral else { return files[path].map { .files([$0]) } ?? .noSuchFile }
            let found = files.values.filter { PathPattern(path).matches($0.name) }
            return found.count > RuleSetLoader.maximumFiles ? .tooManyFiles : .files(found)
        }
    }
}

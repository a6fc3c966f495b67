// Until tests are read.
extension RuleReader {
    mutating func readTests(_ node: YAMLNode) {}
}

/// The text format of Prometheus: for each metric a HELP line, a TYPE line, and a line for each sample.
///
///     # HELP tryck_button_battery_volts The battery voltage that was measured last
///     # TYPE tryck_button_battery_volts gauge
///     tryck_button_battery_volts{button="kitchen",id="80e4da000001"} 2.95
///
/// A metric without samples is left out.
///
/// - Source: Prometheus, Exposition formats, Text-based format (version 0.0.4).
struct Exposition {
    /// The label pairs of a sample, encoded as between the braces.
    struct Labels {
        fileprivate private(set) var octets: [UInt8] = []

        static let none = Labels()

        func adding(_ name: String, _ value: String) -> Labels {
            var labels = self
            if !octets.isEmpty { labels.octets.append(UInt8(ascii: ",")) }
            labels.octets += name.utf8
            labels.octets += [UInt8(ascii: "="), UInt8(ascii: "\"")]
            for octet in value.utf8 {
                switch octet {
                case UInt8(ascii: "\\"): labels.octets += #"\\"#.utf8
                case UInt8(ascii: "\""): labels.octets += #"\""#.utf8
                case UInt8(ascii: "\n"): labels.octets += #"\n"#.utf8
                default: labels.octets.append(octet)
                }
            }
            labels.octets.append(UInt8(ascii: "\""))
            return labels
        }
    }

    private(set) var octets: [UInt8] = []
    private var current: Metric?

    mutating func add(_ metric: Metric, _ value: some BinaryInteger, _ labels: Labels = .none) {
        add(metric, "\(value)", labels)
    }

    mutating func add(_ metric: Metric, _ value: Bool, _ labels: Labels = .none) {
        add(metric, value ? "1" : "0", labels)
    }

    mutating func add(_ metric: Metric, thousandths value: Int64, _ labels: Labels = .none) {
        add(metric, "\(Double(value) / 1000)", labels)
    }

    /// Adds the samples of a histogram: its cumulated buckets, the sum and the number of the durations.
    mutating func add(_ metric: Metric, _ histogram: Histogram, _ labels: Labels) {
        for (bound, count) in histogram.cumulated {
            add(metric, "\(count)", labels.adding("le", "\(bound)"), suffix: "_bucket")
        }
        add(metric, "\(histogram.count)", labels.adding("le", "+Inf"), suffix: "_bucket")
        add(metric, "\(Double(histogram.totalMilliseconds) / 1000)", labels, suffix: "_sum")
        add(metric, "\(histogram.count)", labels, suffix: "_count")
    }

    /// - Parameter suffix: the text after the metric's name, for a sample of a histogram.
    private mutating func add(_ metric: Metric, _ value: String, _ labels: Labels, suffix: String = "") {
        if current != metric {
            current = metric
            let described = metric.described
            octets += "# HELP \(metric.name) \(described.meaning)\n".utf8
            octets += "# TYPE \(metric.name) \(described.kind.rawValue)\n".utf8
        }
        octets += (metric.name + suffix).utf8
        if !labels.octets.isEmpty {
            octets.append(UInt8(ascii: "{"))
            octets += labels.octets
            octets.append(UInt8(ascii: "}"))
        }
        octets.append(UInt8(ascii: " "))
        octets += value.utf8
        octets.append(UInt8(ascii: "\n"))
    }
}

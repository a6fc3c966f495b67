package import ButtonModel
package import Expressions

/// A place on earth.
package struct Location: Hashable, Sendable {
    /// Degrees, north positive, -90…90.
    package var latitude: Double
    /// Degrees, east positive, -180…180.
    package var longitude: Double

    package init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

extension Location {
    /// Where the sun's middle is when its upper edge appears: 34′ of refraction and 16′ of radius.
    static let horizon = -50.0 / 60
    static let civilTwilight = -6.0

    /// The sun over the local day that `time` is in, and how high it stands at that moment.
    ///
    /// Dawn to dusk are those around the day's solar noon, as the clock on the wall shows them, 0…86 399: a sunset after
    /// midnight is early in the day. The elevation is that of the sun's middle, lifted by the air. A rise or a set that the day
    /// lacks, near the ends of a polar day, is solar midnight; where twilight lasts all night, dawn is solar midnight and
    /// dusk the second before.
    ///
    /// It takes some twenty microseconds: ask once for one moment.
    package func sun(at time: UTCTime, in zone: TimeZone) -> SunFacts {
        let now = Double(time.milliseconds) / 1000
        let elevation = SolarPosition.elevation(at: now, self)
        var facts = SunFacts()
        facts.isUp = elevation >= Location.horizon
        facts.elevation = elevation + SolarPosition.refraction(at: elevation)

        let noon = solarNoon(of: time, in: zone)
        let (midnight, nextMidnight) = (noon - 43_200, noon + 43_200)
        let wall = { (moment: Double) in
            zone.localTime(at: UTCTime(milliseconds: Int64(exactly: moment.rounded() * 1000) ?? 0)).secondOfDay
        }
        let sunrise = crossing(of: Location.horizon, below: midnight, above: noon)
        let sunset = crossing(of: Location.horizon, below: nextMidnight, above: noon)
        guard sunrise != nil || sunset != nil else {
            let neverRises = SolarPosition.elevation(at: noon, self) < Location.horizon
            let moment = wall(neverRises ? noon : midnight)
            facts.polar = neverRises ? .neverRises : .neverSets
            (facts.dawn, facts.sunrise, facts.sunset, facts.dusk) = (moment, moment, moment, moment)
            return facts
        }
        facts.sunrise = wall(sunrise ?? midnight)
        facts.sunset = wall(sunset ?? nextMidnight)
        let dawn = crossing(of: Location.civilTwilight, below: midnight, above: noon)
        let dusk = crossing(of: Location.civilTwilight, below: nextMidnight, above: noon)
        facts.dawn = wall(dawn ?? midnight)
        // Not at the same second: from dawn to dusk is then all day, and from dusk to dawn never.
        facts.dusk = dawn == nil && dusk == nil ? wall(midnight - 1) : wall(dusk ?? nextMidnight)
        return facts
    }

    /// The one nearest to twelve o'clock, in seconds since 1970.
    private func solarNoon(of time: UTCTime, in zone: TimeZone) -> Double {
        let local = zone.localTime(at: time)
        var noon = Double(local.unix) - Double(local.secondOfDay) + 43_200
        for _ in 0..<2 { noon -= SolarPosition.hourAngle(at: noon, longitude: longitude) * 240 }
        return noon
    }

    /// When the sun's middle passes an elevation between a moment at which it is below and one at which it is not.
    private func crossing(of elevation: Double, below: Double, above: Double) -> Double? {
        let isBelow = { SolarPosition.elevation(at: $0, self) < elevation }
        guard isBelow(below), !isBelow(above) else { return nil }
        var (below, above) = (below, above)
        // Half a day becomes a sixth of a second.
        for _ in 0..<18 {
            let middle = (below + above) / 2
            if isBelow(middle) { below = middle } else { above = middle }
        }
        return above
    }
}

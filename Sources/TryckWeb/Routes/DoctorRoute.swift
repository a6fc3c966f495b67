import DoctorCommands
import Hummingbird
import JSON
import WebService

/// `GET /api/doctor`: what `tryck doctor` finds besides the daemon's own status.
func addDoctorRoute(to api: RouterGroup<SiteContext>, _ site: Site) {
    let setup = site.setup
    api.get("doctor") { _, _ in
        let findings = try await site.work.run {
            DoctorCommands.findingsBesideDaemon(setup.daemonOptions, candidates: setup.controlSockets)
        }
        return Response(json: findings.withoutPasswords)
    }
}

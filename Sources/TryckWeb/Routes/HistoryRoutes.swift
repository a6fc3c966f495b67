import HTTPTypes
import Hummingbird

/// The past, `GET /api/history` and `POST /api/rules/compare`, which this version does not keep.
func addHistoryRoutes(to api: RouterGroup<SiteContext>, _ site: Site) {
    api.get("history") { _, _ -> Response in throw noHistory }
    api.post("rules/compare") { _, _ -> Response in throw noHistory }
}

private let noHistory = WebFailure(.notImplemented, "this version keeps no history; tryck watch shows what happens now")

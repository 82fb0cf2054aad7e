import HTTPTypes
import Hummingbird

/// Gives every refusal, even the router's, the form of the backend.
struct RequestHeaders: RouterMiddleware {
    typealias Context = CallContext

    let shape: any Shape

    func handle(
        _ request: Request, context: CallContext,
        next: @concurrent (Request, CallContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let refusal as Refusal {
            return shape.body(of: refusal).response()
        } catch let error as HTTPError where error.status == .notFound {
            return shape.body(of: .notFound("No such endpoint")).response()
        } catch let error as HTTPError {
            let refusal = Refusal(status: error.status.code, message: error.status.reasonPhrase, code: nil)
            return shape.body(of: refusal).response()
        }
    }
}

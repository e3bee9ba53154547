import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Stand for what the examples use of Alamofire 5.10 (`Source/Features/RequestInterceptor.swift`).
nonisolated extension AlamofireExample {
    final class Session: Sendable {}

    struct Request: Sendable {
        var request: URLRequest?
        var response: HTTPURLResponse?
        var retryCount = 0
    }

    enum RetryResult: Sendable {
        case retry, doNotRetry
    }

    protocol RequestInterceptor: Sendable {
        func adapt(
            _ urlRequest: URLRequest,
            for session: Session,
            completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
        )
        func retry(
            _ request: Request,
            for session: Session,
            dueTo error: any Error,
            completion: @escaping @Sendable (RetryResult) -> Void
        )
    }
}

nonisolated enum HTTPStatus: Sendable {
    case ok, unauthorized
}

/// Stand for what the example uses of AsyncHTTPClient 1.x and NIOHTTP1.
nonisolated extension AsyncHTTPClientExample {
    struct HTTPClientRequest: Sendable {
        struct Headers: Sendable {
            var values: [String: String] = [:]
            mutating func replaceOrAdd(name: String, value: String) { values[name] = value }
        }

        let url: String
        var headers = Headers()

        init(url: String) { self.url = url }
    }

    struct HTTPClientResponse: Sendable {
        let status: HTTPStatus
    }

    struct TimeAmount: Sendable {
        static func seconds(_ amount: Int64) -> TimeAmount { TimeAmount() }
    }

    struct HTTPClient: Sendable {
        let answer: @Sendable (HTTPClientRequest) -> HTTPStatus

        func execute(_ request: HTTPClientRequest, timeout: TimeAmount) async throws -> HTTPClientResponse {
            HTTPClientResponse(status: answer(request))
        }
    }
}

/// Stand for what the example uses of swift-openapi-runtime 1.x (`ClientMiddleware`, `HTTPBody`) and swift-http-types.
nonisolated extension OpenAPIExample {
    enum FieldName: Hashable, Sendable {
        case authorization
    }

    struct HTTPRequest: Sendable {
        var headerFields: [FieldName: String] = [:]
    }

    struct HTTPResponse: Sendable {
        let status: HTTPStatus
    }

    struct HTTPBody: Sendable {
        enum IterationBehavior: Sendable {
            case single, multiple
        }

        let iterationBehavior: IterationBehavior
    }

    protocol ClientMiddleware: Sendable {
        func intercept(
            _ request: HTTPRequest,
            body: HTTPBody?,
            baseURL: URL,
            operationID: String,
            next: @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)
        ) async throws -> (HTTPResponse, HTTPBody?)
    }
}

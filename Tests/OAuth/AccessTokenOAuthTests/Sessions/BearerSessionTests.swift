import AccessTokenAdapters
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("What a callback session promises beside", .eightAtATime, .timeLimit(.minutes(10)))
struct BearerSessionTests {
    private let mark = DispatchSpecificKey<Bool>()

    private func service() -> AccessTokenService {
        AccessTokenService(loader: CallbackLoaderAdapter(of: ListLoader(.success(AccessToken(value: "A1")))))
    }

    @Test func `handlers are called on the queue given, after the call`() async throws {
        let queue = DispatchQueue(label: "test")
        queue.setSpecific(key: mark, value: true)
        try await withServer { connection, _ in
            connection.reply(200, "")
        } _: { server in
            let session = BearerSession(tokens: service(), origins: [try server.url], handlerQueue: queue)
            let resource = try server.resource
            let isRight = Locked<[Bool]>([])
            let answers = Occupancy()
            let done = Event()
            queue.sync {
                let hasReturned = Locked(false)
                let handler: @Sendable (Data?, URLResponse?, (any Error)?) -> Void = { _, _, _ in
                    answers.enter()
                    let isHere = DispatchQueue.getSpecific(key: mark) == true && hasReturned.withLock { $0 }
                    let count = isRight.withLock { isRight in
                        isRight.append(isHere)
                        return isRight.count
                    }
                    answers.leave()
                    if count == 2 { done.happen() }
                }
                session.dataTask(with: resource, completionHandler: handler).resume()
                session.dataTask(with: resource, completionHandler: handler).cancel()
                hasReturned.withLock { $0 = true }
            }
            await done.wait()
            #expect(isRight.withLock { $0 } == [true, true])
            #expect(answers.most == 1)
        }
    }

    @Test func `a task begins when it is resumed, and once`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, "")
        } _: { server in
            let session = BearerSession(tokens: service(), origins: [try server.url])
            let answers = Locked(0)
            let done = Event()
            let unused = session.dataTask(with: try server.resource) { _, _, _ in answers.withLock { $0 += 10 } }
            let task = session.dataTask(with: try server.resource) { _, _, _ in
                answers.withLock { $0 += 1 }
                done.happen()
            }
            task.resume()
            task.resume()
            await done.wait()
            task.resume()
            task.cancel()
            withExtendedLifetime(unused) {}
            #expect(answers.withLock { $0 } == 1)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a task that is cancelled before it begins is answered, and sends nothing`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, "")
        } _: { server in
            let session = BearerSession(tokens: service(), origins: [try server.url])
            let done = Event()
            let code = Locked<URLError.Code?>(nil)
            let task = session.downloadTask(with: try server.resource) { _, _, error in
                code.withLock { $0 = (error as? URLError)?.code }
                done.happen()
            }
            task.cancel()
            task.resume()
            await done.wait()
            #expect(code.withLock { $0 } == .cancelled)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a handler is called also when session and task are dropped`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, "")
        } _: { server in
            let done = Event()
            BearerSession(tokens: service(), origins: [try server.url])
                .dataTask(with: try server.resource) { _, response, _ in
                    if response?.status == 200 { done.happen() }
                }
                .resume()
            await done.wait()
        }
    }

    @Test func `a downloaded file is gone when the handler has returned`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, "file")
        } _: { server in
            let queue = DispatchQueue(label: "test")
            let session = BearerSession(tokens: service(), origins: [try server.url], handlerQueue: queue)
            let done = Event()
            let file = Locked<URL?>(nil)
            session.downloadTask(with: try server.resource) { url, _, _ in
                let text = url.flatMap { try? String(contentsOf: $0, encoding: .utf8) }
                if text == "file" { file.withLock { $0 = url } }
                done.happen()
            }.resume()
            await done.wait()
            let url = try #require(file.withLock { $0 })
            await yieldUntil { !FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) }
            #expect(!FileManager.default.fileExists(atPath: url.path(percentEncoded: false)))
        }
    }

    /// Drops its handler, as code with `[weak self]` does.
    private final class ForgetfulTokens: AccessTokenProviding {
        func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval { .answered }
        func invalidate(_ rejected: AccessToken) {}
        func signOut(then done: @escaping @Sendable () -> Void) { done() }
    }

    @Test func `a provider that forgets its handler is an error`() async throws {
        let url = try #require(URL(string: "https://api.example"))
        let session = BearerSession(tokens: ForgetfulTokens(), origins: [url])
        let done = Event()
        session.dataTask(with: url) { _, _, error in
            if error as? AccessTokenError == .loadAbandoned { done.happen() }
        }.resume()
        await done.wait()
    }

    /// Answers inside the call.
    private final class PromptTokens: AccessTokenProviding {
        let cancellations = Locked(0)
        let onRetrieve: @Sendable () -> Void
        let answers: Bool

        init(answers: Bool = true, onRetrieve: @escaping @Sendable () -> Void = {}) {
            self.answers = answers
            self.onRetrieve = onRetrieve
        }

        func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
            if answers { handler(.success(AccessToken(value: "A1"))) }
            onRetrieve()
            return AccessTokenRetrieval { [self] in
                cancellations.withLock { $0 += 1 }
                withExtendedLifetime(handler) {}
            }
        }

        func invalidate(_ rejected: AccessToken) {}
        func signOut(then done: @escaping @Sendable () -> Void) { done() }
    }

    @Test func `a task whose provider answered inside the call can be cancelled in the middle of its body`()
        async throws
    {
        let (hasBegun, hasHungUp, isAnswered) = (Event(), Event(), Event())
        try await withServer { connection, _ in
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            let piece = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 16)
            for _ in 0..<60_000 {
                guard connection.trySend(piece) else { return hasHungUp.happen() }
                hasBegun.happen()
                Thread.sleep(forTimeInterval: 0.001)
            }
        } _: { server in
            let tokens = PromptTokens()
            let session = BearerSession(tokens: tokens, origins: [try server.url])
            let task = session.downloadTask(with: try server.resource) { _, _, _ in isAnswered.happen() }
            task.resume()
            #expect(await hasBegun.happens())
            task.cancel()
            #expect(await isAnswered.happens())
            #expect(await hasHungUp.happens())
            #expect(tokens.cancellations.withLock { $0 } == 0)
        }
    }

    @Test func `a task that is cancelled while its provider is being asked cancels the retrieval`() async throws {
        let url = try #require(URL(string: "https://api.example"))
        let task = Locked<BearerSessionTask?>(nil)
        let tokens = PromptTokens(answers: false) { task.withLock { $0 }?.cancel() }
        let session = BearerSession(tokens: tokens, origins: [url])
        let code = Locked<URLError.Code?>(nil)
        let isAnswered = Event()
        let cancelled = session.dataTask(with: url) { _, _, error in
            code.withLock { $0 = (error as? URLError)?.code }
            isAnswered.happen()
        }
        task.withLock { $0 = cancelled }
        cancelled.resume()
        #expect(await isAnswered.happens())
        #expect(code.withLock { $0 } == .cancelled)
        #expect(tokens.cancellations.withLock { $0 } == 1)
        task.withLock { $0 = nil }
    }

    @Test(arguments: SessionKind.allCases)
    func `a loader's own cancellation error is not taken for the caller's`(kind: SessionKind) async throws {
        let url = try #require(URL(string: "https://api.example"))
        let service = AsyncAccessTokenService(loader: ListLoader(.failure(CancellationError())))
        let session = kind.session(service, origins: [url])
        await #expect(throws: CancellationError.self) { try await session.data(for: URLRequest(url: url)) }
    }
}

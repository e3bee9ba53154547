import OAuthFoundation

/// What the user sees in the browser at the end of a login.
enum LoginPages {
    /// Only sentences of ours: nothing of what came with the request is on the page.
    static func closing(_ outcome: Result<TokenGrant, any Error>) -> HTTPResponse {
        switch outcome {
        case .success:
            return page(
                200,
                "You can close this window",
                "The program that asked for the login has its answer. Go back to it."
            )
        case .failure(let error as LoginError) where error.isDenied:
            return page(200, "The login was refused", "Nothing has changed. You can close this window.")
        case .failure(let error as LoginError) where error.isTransient:
            return page(
                200,
                "The server cannot log you in now",
                "Close this window, and begin the login again in a while."
            )
        case .failure:
            return page(
                400,
                "The login did not work",
                "The program that asked for it says why. You can close this window and go back to it."
            )
        }
    }

    /// For a user who comes back after the program has stopped to wait.
    static var tooLate: HTTPResponse {
        page(
            410,
            "The login is over",
            "The program that asked for it does not wait any more. Go back to it, and begin the login again."
        )
    }

    private static func page(_ status: Int, _ title: String, _ text: String) -> HTTPResponse {
        .page(status, WebPage(title, "<p>\(WebPage.escaped(text))</p>").html)
    }
}

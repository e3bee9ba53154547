/// A page for a person: readable on a phone and in the dark, and without scripts.
package struct WebPage {
    private let title: String
    private let body: String

    /// - Parameters:
    ///   - title: text.
    ///   - body: HTML; ``escaped(_:)`` makes it of text.
    package init(_ title: String, _ body: String) {
        self.title = title
        self.body = body
    }

    package var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <link rel="icon" href="data:,">
        <title>\(Self.escaped(title))</title>
        <style>
        body { font: 1.125rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 15vh auto 2rem; padding: 0 1.25rem;
          overflow-wrap: break-word; }
        h1 { font-size: 1.75rem; line-height: 1.2; }
        button, input { font: inherit; display: block; box-sizing: border-box; width: 100%; margin: .75rem 0;
          padding: .75rem 1rem; border: 1px solid #888; border-radius: .5rem; }
        button { background: #0b57d0; border-color: #0b57d0; color: #fff; cursor: pointer; }
        button.quiet { background: transparent; border-color: #888; color: inherit; }
        code { overflow-wrap: anywhere; }
        </style>
        </head>
        <body>
        <h1>\(Self.escaped(title))</h1>
        \(body)
        </body>
        </html>

        """
    }

    /// Text as HTML, also inside of an attribute.
    package static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}

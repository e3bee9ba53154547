extension Script {
    /// Leaves out as many steps as it can, and puts the plainest in place of others, while `stillFails` says so.
    func shortened(whileIt stillFails: (Script) async -> Bool) async -> Script {
        var shortest = self
        var length = max(1, steps.count / 2)
        while length > 0 {
            var start = 0
            while start < shortest.steps.count {
                var shorter = shortest
                shorter.steps.removeSubrange(start..<min(start + length, shorter.steps.count))
                if await stillFails(shorter) { shortest = shorter } else { start += length }
            }
            length /= 2
        }
        for setting in shortest.setting.simpler {
            let candidate = Script(setting, initialToken: initialToken, shortest.steps)
            if await stillFails(candidate) {
                shortest = candidate
                break
            }
        }
        if shortest.initialToken != nil {
            let candidate = Script(shortest.setting, shortest.steps)
            if await stillFails(candidate) { shortest = candidate }
        }
        for index in shortest.steps.indices {
            for step in shortest.steps[index].simpler {
                var candidate = shortest
                candidate.steps[index] = step
                if await stillFails(candidate) {
                    shortest = candidate
                    break
                }
            }
        }
        return shortest
    }
}

extension Script.Setting {
    fileprivate var simpler: [Self] {
        switch self {
        case .plain: []
        case .leeway, .ahead, .deadline: [.plain]
        case .all: [.plain, .leeway, .ahead, .deadline]
        }
    }
}

extension Step {
    fileprivate var simpler: [Step] {
        switch self {
        case .retrieve(let refresh, _, let reaction):
            (reaction != nil ? [.retrieve(refresh: refresh, isCancelled: false, then: nil)] : [])
                + (refresh ? [.call] : [])
        case .answer(let answer, .oldest): [.answer(answer, from: .newest)]
        case .answer(let answer, .newest) where answer != .token && answer != .failure:
            [.answer(.token), .answer(.failure)]
        case .pass(let time) where time != .elevenSeconds && time != .life: [.pass(.elevenSeconds), .pass(.life)]
        case .answerAmidCalls: [.answer(.token)]
        case .callRightAfter(.signOut): [.signOut]
        case .callRightAfter(.signIn): [.signIn(.valid)]
        case .callRightAfter(.reject): [.reject(.current)]
        case .reject(.former): [.reject(.current)]
        case .signIn(.expired): [.signIn(.valid)]
        case .crowd(rejecting: true): [.crowd(rejecting: false), .call]
        case .crowd(rejecting: false): [.call]
        default: []
        }
    }
}

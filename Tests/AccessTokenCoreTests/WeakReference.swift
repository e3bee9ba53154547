/// Looks at an object without keeping it; Swift 6.2.0 to 6.2.2 have no `weak let`.
struct WeakReference {
    weak var object: AnyObject?
}

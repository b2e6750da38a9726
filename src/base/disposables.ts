/** Things borrowed one after the other, and given back together. */
export type Disposables = {
  /** Takes charge of a thing, and hands it on. */
  use<Thing extends AsyncDisposable>(thing: Thing): Thing
  /** The last one first; the first failure is thrown after all have gone back. */
  dispose(): Promise<void>
}

/** What `AsyncDisposableStack` does, at a third of its price: every request borrows. */
export function createDisposables(): Disposables {
  const things: AsyncDisposable[] = []
  return {
    use(thing) {
      things.push(thing)
      return thing
    },
    async dispose() {
      const failures: unknown[] = []
      for (let thing = things.pop(); thing !== undefined; thing = things.pop()) {
        try {
          await thing[Symbol.asyncDispose]()
        } catch (error) {
          failures.push(error)
        }
      }
      if (failures.length > 0) throw failures[0]
    },
  }
}

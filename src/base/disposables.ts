/** Resources that are acquired one after the other and released together. */
export type Disposables = {
  /** Takes ownership of a resource, and returns it. */
  use<Resource extends AsyncDisposable>(resource: Resource): Resource
  /** Disposes of them in reverse order. The first error is thrown after all were disposed of. */
  dispose(): Promise<void>
}

/** Like `AsyncDisposableStack` at a third of its cost, because every request uses one. */
export function createDisposables(): Disposables {
  const resources: AsyncDisposable[] = []
  return {
    use(resource) {
      resources.push(resource)
      return resource
    },
    async dispose() {
      const failures: unknown[] = []
      for (let resource = resources.pop(); resource !== undefined; resource = resources.pop()) {
        try {
          await resource[Symbol.asyncDispose]()
        } catch (error) {
          failures.push(error)
        }
      }
      if (failures.length > 0) throw failures[0]
    },
  }
}

/** The models callers may name, in which order their upstreams are tried, and what they cost. */
export type Model = {
  readonly name: string
  readonly targets: readonly Target[]
  readonly contextTokens: number
  readonly maxOutputTokens: number
  readonly price: Price
  /** May serve the anonymous free request. */
  readonly freeTier: boolean
  readonly createdAt: number
}

export type Target = { readonly upstream: string; readonly model: string }

/** USD per million tokens. */
export type Price = {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

export type Catalogue = {
  find(name: string): Model | undefined
  list(): readonly Model[]
}

export function createCatalogue(models: readonly Model[]): Catalogue {
  const byName = new Map(models.map((model) => [model.name, model]))
  return { find: (name) => byName.get(name), list: () => models }
}

/** The models callers may name, in which order their upstreams are tried, and what they cost. */
export type Model = {
  readonly name: string
  readonly targets: readonly ModelTarget[]
  readonly contextTokens: number
  /** The cap where a caller names none. */
  readonly maxOutputTokens: number
  readonly price: Price
  /** May serve the anonymous free request. */
  readonly freeTier: boolean
  readonly createdAtMs: number
}

/** `model` is the upstream's own name. */
export type ModelTarget = { readonly upstream: string; readonly model: string }

/** USD per million tokens. */
export type Price = {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

export type Catalogue = {
  find(name: string): Model | undefined
  /** The models that have a name of their own; those of a `prefix*` entry come into being when asked for. */
  list(): readonly Model[]
}

/** An entry `claude-*` takes every name that begins so, and stands for that name at its upstreams too. */
export function createCatalogue(entries: readonly Model[]): Catalogue {
  const named = entries.filter((entry) => !entry.name.endsWith('*'))
  const byName = new Map(named.map((model) => [model.name, model]))
  const families = entries
    .filter((entry) => entry.name.endsWith('*'))
    .map((entry) => ({ prefix: entry.name.slice(0, -1), entry }))
    .sort((a, b) => b.prefix.length - a.prefix.length)
  return {
    find(name) {
      const entry = byName.get(name) ?? families.find(({ prefix }) => name.startsWith(prefix))?.entry
      return entry && (entry.name === name ? entry : called(entry, name))
    },
    list: () => named,
  }
}

const called = (entry: Model, name: string): Model => ({
  ...entry,
  name,
  targets: entry.targets.map((target) => (target.model === entry.name ? { ...target, model: name } : target)),
})

import type { OperationName } from './operations.ts'

/** A model that callers may request, with its upstreams in the order in which they are tried, and its price. */
export type Model = {
  readonly name: string
  readonly targets: readonly ModelTarget[]
  /** What it can be used for; undefined if it is not known. */
  readonly operations?: readonly OperationName[] | undefined
  readonly contextTokens: number
  /** True if neither the operator nor the upstream stated the context window. */
  readonly isContextAssumed?: boolean
  /** The output limit of a request that names none. */
  readonly maxOutputTokens: number
  /** True if the operator set that limit. It is then also the most that a caller may request. */
  readonly capsOutput: boolean
  readonly price: Price
  /** True if anonymous free requests may use this model. */
  readonly freeTier: boolean
  readonly createdAtMs: number
  /** The organization that added it; undefined for a model of the installation, which serves every organization. */
  readonly organizationId?: string
  /** True if an administrator paused it. It is found, so that the error can say so, and not listed. */
  readonly isPaused?: boolean
}

/** `model` is the upstream's own name for the model. */
export type ModelTarget = { readonly upstream: string; readonly model: string }

/** USD per million tokens. */
export type Price = {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

export type Catalogue = {
  /** The name of the result is the one without the option for a long context. */
  find(name: string): Model | undefined
  /** The entry that serves a name: the model itself, or an entry `prefix*`. */
  entryOf(name: string): Model | undefined
  /** The models with a full name that are not paused. Models of a `prefix*` entry are not listed, because they are created on lookup. */
  list(): readonly Model[]
  /** The entries `prefix*` that are not paused. `model-directory.ts` asks their upstreams for the models. */
  patterns(): readonly Model[]
}

/** An entry `claude-*` matches every name with that prefix and forwards the same name to its upstreams. */
export function createCatalogue(entries: readonly Model[]): Catalogue {
  const named = entries.filter((entry) => !entry.name.endsWith('*'))
  const byName = new Map(named.map((model) => [model.name, model]))
  const byPrefix = entries
    .filter((entry) => entry.name.endsWith('*'))
    .map((entry) => ({ prefix: entry.name.slice(0, -1), entry }))
    .sort((a, b) => b.prefix.length - a.prefix.length)
  const listed = named.filter(({ isPaused }) => isPaused !== true)
  const patterns = byPrefix.map(({ entry }) => entry).filter(({ isPaused }) => isPaused !== true)
  const plainNameOf = (name: string): string => (byName.has(name) ? name : withoutContextOption(name))
  const entryOf = (name: string): Model | undefined => {
    const plainName = plainNameOf(name)
    return byName.get(plainName) ?? byPrefix.find(({ prefix }) => plainName.startsWith(prefix))?.entry
  }
  return {
    find(name) {
      const entry = entryOf(name)
      const plainName = plainNameOf(name)
      return entry && (entry.name === plainName ? entry : withName(entry, plainName))
    },
    entryOf,
    list: () => listed,
    patterns: () => patterns,
  }
}

/** Agents append `[1m]` to the name of a model to ask for its long context. */
const contextOption = '[1m]'
const withoutContextOption = (name: string): string =>
  name.endsWith(contextOption) && name.length > contextOption.length ? name.slice(0, -contextOption.length) : name

const withName = (entry: Model, name: string): Model => ({
  ...entry,
  name,
  targets: entry.targets.map((target) => (target.model === entry.name ? { ...target, model: name } : target)),
})

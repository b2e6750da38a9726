import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Catalogue, Model } from './catalogue.ts'
import type { ListedModel, Provider } from './provider.ts'

/** The models that exist. For an entry `prefix*`, only its upstreams know them. */
export type ModelDirectory = {
  /** The models with a full name, then the models of the upstreams that match an entry `prefix*`. */
  list(): Promise<readonly Model[]>
  /** Undefined if no entry matches the name, or the upstreams of the entry answered and do not have it. */
  find(name: string): Promise<Model | undefined>
}

export type ModelDirectoryParts = {
  readonly catalogue: Catalogue
  readonly lists: UpstreamLists
}

/** The model lists of upstreams. */
export type UpstreamLists = {
  /** Undefined if the upstream never answered, or has no such list. */
  current(upstream: string): Promise<readonly ListedModel[] | undefined>
}

export type UpstreamListsParts = {
  readonly providers: ReadonlyMap<string, Provider>
  readonly clock: Clock
  /** Called when an upstream did not answer; its last known list is then used. */
  readonly onFailedList: (upstream: string, error: unknown) => void
}

/** A list is requested again after this long, also if the last request failed. */
const freshMs = 30_000
/** A caller waits this long for an upstream. */
const timeoutMs = 2_000

/** Asks each upstream for its models when they are needed, and keeps the answer for a while. */
export function createUpstreamLists({ providers, clock, onFailedList }: UpstreamListsParts): UpstreamLists {
  const lists = new Map<string, UpstreamList>()
  return {
    current(upstream) {
      const known = lists.get(upstream)
      if (known !== undefined) return known.current()
      const read = providers.get(upstream)?.listModels
      const list = createUpstreamList({ read, clock, onFailed: (error) => onFailedList(upstream, error) })
      lists.set(upstream, list)
      return list.current()
    },
  }
}

export function createModelDirectory({ catalogue, lists }: ModelDirectoryParts): ModelDirectory {
  /** The lists of the targets that get the caller's name. A target with a model of its own serves every name. */
  const listsOf = (entry: Model): Promise<(readonly ListedModel[] | undefined)[]> =>
    Promise.all(
      entry.targets.filter(({ model }) => model === entry.name).map(({ upstream }) => lists.current(upstream)),
    )

  const modelOf = ({ name, contextTokens }: ListedModel, entry: Model): Model[] => {
    const model = catalogue.entryOf(name) === entry ? catalogue.find(name) : undefined
    if (model === undefined || contextTokens === undefined) return model === undefined ? [] : [model]
    return [{ ...model, contextTokens: Math.min(model.contextTokens, contextTokens), isContextAssumed: false }]
  }

  const modelsOf = async (entry: Model): Promise<readonly Model[]> =>
    (await listsOf(entry)).flatMap((list = []) => list.flatMap((listed) => modelOf(listed, entry)))

  return {
    async list() {
      const listed = await Promise.all(catalogue.patterns().map(modelsOf))
      const byName = new Map(listed.flat().map((model) => [model.name, model]))
      return [...catalogue.list(), ...byName.values()]
    },
    async find(name) {
      const entry = catalogue.entryOf(name)
      const model = catalogue.find(name)
      if (entry === undefined || model === undefined || entry.isPaused) return undefined
      if (entry.name === model.name) return model
      if (entry.targets.some(({ model: upstreamName }) => upstreamName !== entry.name)) return model
      const all = await listsOf(entry)
      if (all.every((list) => list === undefined)) return model
      // Ollama accepts a name without its tag.
      const names = [model.name, `${model.name}:latest`]
      const listed = all.flatMap((list = []) => list).find((one) => names.includes(one.name))
      return listed && modelOf({ ...listed, name: model.name }, entry)[0]
    },
  }
}

type UpstreamList = {
  /** Undefined if the upstream never answered, or has no such list. */
  current(): Promise<readonly ListedModel[] | undefined>
}

type UpstreamListParts = {
  readonly read: Provider['listModels']
  readonly clock: Clock
  readonly onFailed: (error: unknown) => void
}

/** The model list of one upstream. Callers share one request, and a failed request leaves the last list in place. */
function createUpstreamList({ read, clock, onFailed }: UpstreamListParts): UpstreamList {
  let known: readonly ListedModel[] | undefined
  let refreshedAtMs = -Infinity
  let refreshing: Promise<void> | undefined

  const refresh = async (readList: NonNullable<Provider['listModels']>): Promise<void> => {
    const timeout = new AbortController()
    const reason = new Fault('upstream_timeout', 'upstream_timeout', 'The upstream did not list its models in time.')
    const cancel = clock.after(timeoutMs, () => timeout.abort(reason))
    try {
      known = await readList(timeout.signal)
    } catch (error) {
      onFailed(error)
    } finally {
      cancel()
      refreshedAtMs = clock.monotonicMs()
      refreshing = undefined
    }
  }

  return {
    async current() {
      if (read !== undefined && clock.monotonicMs() - refreshedAtMs >= freshMs) await (refreshing ??= refresh(read))
      return known
    },
  }
}

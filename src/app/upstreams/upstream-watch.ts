import { Fault } from '../../base/fault.ts'
import type { Environment } from '../../config/config.ts'
import type { Model } from '../../domain/inference/catalogue.ts'
import type { Provider } from '../../domain/inference/provider.ts'
import {
  upstreamStateOf,
  type UpstreamProbe,
  type Upstreams,
  type UpstreamStatus,
} from '../../domain/inference/upstream-status.ts'
import { entryIn } from '../../domain/organization-models/upstreams.ts'
import type { Infrastructure } from '../infrastructure.ts'
import { chatModelOf, type ServedModels } from './models.ts'
import { storedFacts } from './organization-models.ts'
import type { OpenOwnUpstream } from './own-upstreams.ts'
import { inOrganization } from './served-models.ts'
import { createUpstreamCalls, type WatchedUpstream } from './upstream-calls.ts'
import { exampleOf, kindOf, upstreamDefinitions } from './upstreams.ts'

type WatchParts = Pick<ServedModels, 'models' | 'providers' | 'health' | 'lists' | 'modelsOf' | 'entries'> & {
  readonly env: Environment
  readonly open: OpenOwnUpstream
}

/** What this node knows of its upstreams, and calls that find out more. */
export function createUpstreamWatch(
  { clock, config, ids, live, upstreams }: Infrastructure,
  { models, providers, health, lists, modelsOf, entries, env, open }: WatchParts,
): Upstreams {
  const definitions = upstreamDefinitions(config, env)
  const running = new Map<string, Promise<UpstreamProbe>>()

  const { call, listOf } = createUpstreamCalls({ clock, ids, live })

  const ofInstallation = (name: string): WatchedUpstream | undefined => {
    const upstream = upstreams.find((each) => each.name === name)
    const provider = providers.get(name)
    if (upstream === undefined || provider === undefined) return undefined
    return { upstream, provider, health, served: usersOf(models, name), example: exampleOf(name, config, env) }
  }

  const ofOrganization = async (organizationId: string, name: string): Promise<WatchedUpstream | undefined> => {
    const own = await modelsOf(organizationId)
    const found = entryIn(
      (own?.upstreams ?? []).map(({ stored }) => stored),
      { idOrName: name },
    )
    const upstream = own?.upstreams.find(({ stored }) => stored === found)
    if (upstream === undefined) return undefined
    const { settings, provider, health: seen } = upstream
    const users = own?.models.map(({ model, targets }) => ({ ...model, targets })) ?? []
    return { upstream: settings, provider, health: seen, served: usersOf(users, settings.name) }
  }

  const find = async (organizationId: string, name: string): Promise<WatchedUpstream> => {
    const found = ofInstallation(name) ?? (await ofOrganization(organizationId, name))
    if (found !== undefined) return found
    throw new Fault('not_found', 'not_found', `There is no upstream ${name}.`, { param: 'upstream' })
  }

  return {
    list: () =>
      upstreams.map((upstream) => ({
        ...statusOf({ upstream, provider: providers.get(upstream.name), health }),
        definedIn: definitions.get(upstream.name) ?? { source: 'built_in', file: null, key: null },
      })),
    async listOwn(organizationId) {
      const own = await modelsOf(organizationId)
      return (own?.upstreams ?? []).map(({ stored, settings, provider, health: seen }) => ({
        ...statusOf({ upstream: settings, provider, health: seen }),
        definedIn: inOrganization,
        stored: storedFacts(stored, entries.abilitiesOf(stored.name) !== undefined),
      }))
    },
    async probe(organizationId, name) {
      const watched = await find(organizationId, name)
      const key = ofInstallation(name) === undefined ? `${organizationId} ${name}` : name
      const shared = running.get(key) ?? call(watched).finally(() => running.delete(key))
      running.set(key, shared)
      return shared
    },
    async offered(organizationId, name) {
      const { upstream } = await find(organizationId, name)
      const own = await modelsOf(organizationId)
      const listed = await (own?.lists ?? lists).current(upstream.name)
      return listed?.map((model) => model.name)
    },
    async test(draft, model) {
      const { settings, provider, health: seen, retire } = open({ ...unsaved, settings: draft }, {})
      const watched = { upstream: settings, provider, health: seen, served: [] }
      try {
        const { tookMs, error, models: names } = await listOf(watched)
        const asked = model ?? chatModelOf(names)
        if (error !== null && asked === undefined) return { model: null, tookMs, error, models: [] }
        return { ...(await call(watched, asked)), models: names }
      } finally {
        retire()
      }
    },
  }
}

/** The entries of the catalogue that name the upstream. */
const usersOf = (models: readonly Model[], upstream: string): Model[] =>
  models.filter(({ targets }) => targets.some((target) => target.upstream === upstream))

type Seen = Pick<WatchedUpstream, 'upstream' | 'health'> & { readonly provider: Provider | undefined }

function statusOf({ upstream, provider, health }: Seen): Omit<UpstreamStatus, 'definedIn'> {
  const condition = health.conditionOf(upstream.name)
  return {
    ...condition,
    name: upstream.name,
    kind: kindOf(upstream),
    state: upstreamStateOf(condition),
    inFlight: provider?.inFlight?.() ?? 0,
    // Each of its two formats has the whole limit.
    maxConcurrent: upstream.max_concurrent * (upstream.kind === 'both-openai' ? 2 : 1),
  }
}

/** An upstream that is tested before it is stored. */
const unsaved = {
  id: '',
  organizationId: '',
  name: 'upstream',
  isPaused: false,
  revision: 0,
  createdAtMs: 0,
  updatedAtMs: 0,
}

import { messageOf } from '../../base/fault.ts'
import { ConfigError, type Environment } from '../../config/config.ts'
import { createCatalogue, type Catalogue, type Model } from '../../domain/inference/catalogue.ts'
import { createUpstreamHealth, type UpstreamHealth } from '../../domain/inference/health.ts'
import { createModelDirectory, type ModelDirectory } from '../../domain/inference/model-directory.ts'
import type { Provider } from '../../domain/inference/provider.ts'
import type { ListServedModels } from '../../domain/inference/served-models.ts'
import type { Infrastructure } from '../infrastructure.ts'
import { createProviders } from './providers.ts'
import { effectiveModels, kindOf, modelDefinitions, namingProblems } from './upstreams.ts'

/** The models for the start message. */
export type ModelSummary = {
  /** `prefix*` stands for all names with the prefix. */
  readonly names: readonly string[]
  /** For a first request; undefined if no model is known. */
  readonly example: string | undefined
}

/** Models that a server lists, but that do not answer a chat. */
const notForChat = /embed|rerank|whisper|tts|audio|image|moderation/i

/** A model of the list that probably answers a chat. */
export const chatModelOf = (names: readonly string[]): string | undefined =>
  names.find((name) => !notForChat.test(name)) ?? names[0]

/** Asks the upstreams for their models only if no name is known without that. */
export async function summarizeModels(
  { models, modelDirectory }: Pick<ServedModels, 'models' | 'modelDirectory'>,
  known: string | undefined,
): Promise<ModelSummary> {
  const names = models.map(({ name }) => name)
  if (known !== undefined) return { names, example: known }
  const listed = (await modelDirectory.list()).map(({ name }) => name)
  return { names: listed.length > 0 ? listed : names, example: chatModelOf(listed) }
}

/** The models and their providers, for callers and for the gateway's own calls. */
export type ServedModels = {
  readonly models: readonly Model[]
  readonly catalogue: Catalogue
  readonly providers: ReadonlyMap<string, Provider>
  /** What requests and probes saw of the upstreams. */
  readonly health: UpstreamHealth
  readonly modelDirectory: ModelDirectory
  /** The entries of the catalogue, for administrators. */
  readonly listServed: ListServedModels
}

export function openModels(
  { built, config, clock, ids, keyring, live, log, metrics, upstreams }: Infrastructure,
  env: Environment,
): ServedModels {
  const problems = namingProblems(config, upstreams)
  if (problems.length > 0) throw new ConfigError(problems)
  const models = effectiveModels(config, env, clock.nowMs())
  const signatureKeys = () => keyring.accepted().map(({ key }) => key('reasoning proof'))
  const { byName: providers } = built.use(createProviders(upstreams, { clock, ids, signatureKeys, live, metrics }))
  const catalogue = createCatalogue(models)
  const onFailedList = (upstream: string, error: unknown): void =>
    log.warn({ upstream, error: messageOf(error) }, 'the upstream did not list its models; the last known list is used')
  const modelDirectory = createModelDirectory({ catalogue, providers, clock, onFailedList })
  const definitions = modelDefinitions(config, env)
  const kinds = new Map(upstreams.map((upstream) => [upstream.name, kindOf(upstream)]))
  return {
    models,
    catalogue,
    providers,
    health: createUpstreamHealth(clock),
    modelDirectory,
    async listServed() {
      const all = await modelDirectory.list()
      const entries = models.map((model, at) => ({
        ...model,
        targets: model.targets.map((target) => ({ ...target, kind: kinds.get(target.upstream) ?? 'unknown' })),
        names: all.filter(({ name }) => catalogue.entryOf(name) === model).map(({ name }) => name),
        definedIn: definitions[at] ?? { source: 'built_in', file: null, key: null },
      }))
      // A configured prefix replaces the same prefix of an upstream from the environment.
      return entries.filter((_, at) => catalogue.entryOf(models[at]?.name ?? '') === models[at])
    },
  }
}

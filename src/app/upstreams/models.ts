import { organizationModelStore } from '../../adapters/stores/sql/models/organization-models.ts'
import { messageOf } from '../../base/fault.ts'
import { ConfigError, type Environment } from '../../config/config.ts'
import { createCatalogue, type Model } from '../../domain/inference/catalogue.ts'
import { createUpstreamHealth } from '../../domain/inference/health.ts'
import {
  createModelDirectory,
  createUpstreamLists,
  type UpstreamLists,
} from '../../domain/inference/model-directory.ts'
import type { ModelSet, ModelSetOf } from '../../domain/inference/model-set.ts'
import type { ListServedModels } from '../../domain/inference/served-models.ts'
import type { InstallationEntries } from '../../domain/organization-models/installation.ts'
import type { Infrastructure } from '../infrastructure.ts'
import type { Stores } from '../stores.ts'
import { createInstallationEntries } from './installation-entries.ts'
import { createOrganizationModels, type OrganizationModelsOf } from './organization-models.ts'
import { createOwnUpstreams } from './own-upstreams.ts'
import { createProviders, type CreateProvider } from './providers.ts'
import { createListServed } from './served-models.ts'
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
export type ServedModels = ModelSet & {
  /** The models of the installation. */
  readonly models: readonly Model[]
  readonly lists: UpstreamLists
  readonly modelSetOf: ModelSetOf
  readonly modelsOf: OrganizationModelsOf
  readonly entries: InstallationEntries
  readonly createProvider: CreateProvider
  /** The entries of the catalogue, for administrators. */
  readonly listServed: ListServedModels
}

export function openModels(
  infrastructure: Infrastructure,
  { stores, env }: { readonly stores: Stores; readonly env: Environment },
): ServedModels {
  const { built, config, clock, ids, keyring, live, log, metrics, upstreams } = infrastructure
  const problems = namingProblems(config, upstreams)
  if (problems.length > 0) throw new ConfigError(problems)
  const models = effectiveModels(config, env, clock.nowMs())
  const signatureKeys = () => keyring.accepted().map(({ key }) => key('reasoning proof'))
  const { byName: providers, create: createProvider } = built.use(
    createProviders(upstreams, { clock, ids, signatureKeys, live, metrics }),
  )
  const catalogue = createCatalogue(models)
  const onFailedList = (upstream: string, error: unknown): void =>
    log.warn({ upstream, error: messageOf(error) }, 'the upstream did not list its models; the last known list is used')
  const lists = createUpstreamLists({ providers, clock, onFailedList })
  const modelDirectory = createModelDirectory({ catalogue, lists })
  const installation = { catalogue, providers, health: createUpstreamHealth(clock), modelDirectory, models, lists }
  const entries = createInstallationEntries({ config, upstreams, models })
  const { modelSetOf, modelsOf } = createOrganizationModels(infrastructure, {
    installation,
    entries,
    store: organizationModelStore(stores.reading, stores.encryptions.upstreamSecrets),
    open: createOwnUpstreams({ clock, createProvider, config }),
    onFailedList,
  })
  const listServed = createListServed({
    installation,
    entries,
    modelsOf,
    definitions: modelDefinitions(config, env),
    kinds: new Map(upstreams.map((upstream) => [upstream.name, kindOf(upstream)])),
  })
  return { ...installation, modelSetOf, modelsOf, entries, createProvider, listServed }
}

import { ConfigError, type Environment } from '../config/config.ts'
import { createCatalogue, type Catalogue, type Model } from '../domain/inference/catalogue.ts'
import type { Provider } from '../domain/inference/provider.ts'
import type { Infrastructure } from './infrastructure.ts'
import { createProviders } from './providers.ts'
import { effectiveModels, namingProblems } from './upstreams.ts'

/** The models and their providers, for callers and for the gateway's own calls. */
export type ServedModels = {
  readonly models: readonly Model[]
  readonly catalogue: Catalogue
  readonly providers: ReadonlyMap<string, Provider>
}

export function openModels(
  { built, config, clock, ids, keyring, live, upstreams }: Infrastructure,
  env: Environment,
): ServedModels {
  const problems = namingProblems(config, upstreams)
  if (problems.length > 0) throw new ConfigError(problems)
  const models = effectiveModels(config, env, clock.nowMs())
  const signatureKeys = () => keyring.accepted().map(({ key }) => key('reasoning proof'))
  const { byName: providers } = built.use(createProviders(upstreams, { clock, ids, signatureKeys, live }))
  return { models, catalogue: createCatalogue(models), providers }
}

import { minuteMs } from '../../base/clock.ts'
import type { Config } from '../../config/config.ts'
import { completeUpstream } from '../../config/models.ts'
import type { Model } from '../../domain/inference/catalogue.ts'
import type { InstallationEntries, UpstreamAbilities } from '../../domain/organization-models/installation.ts'
import { canEmbed, kindOf, longestRequestMs, type EffectiveUpstream } from './upstreams.ts'

/** Enough for three targets with the default timeouts. */
const maxStoredRequestMs = 45 * minuteMs

type Sources = {
  readonly config: Config
  readonly upstreams: readonly EffectiveUpstream[]
  readonly models: readonly Model[]
}

/** The longest time of a request to any model, also to those that organizations add. */
export function longestOfAllMs({ config, upstreams, models }: Sources): number {
  const ownMs = longestRequestMs(models, upstreams)
  return config.administration.models.enabled ? Math.max(ownMs, maxStoredRequestMs) : ownMs
}

/** The upstreams and models of the configuration, for the checks of those that organizations add. */
export function createInstallationEntries(sources: Sources): InstallationEntries {
  const { config, upstreams, models } = sources
  const { enabled, installation_upstreams: permitted } = config.administration.models
  const names = new Set(models.map(({ name }) => name))
  const abilities = new Map(upstreams.map((upstream) => [upstream.name, abilitiesOf(upstream)]))
  const kinds = new Map(upstreams.map((upstream) => [upstream.name, kindOf(upstream)]))
  return {
    isEnabled: enabled,
    hasModel: (name) => names.has(name),
    abilitiesOf: (upstream) => abilities.get(upstream),
    kindOf: (upstream) => kinds.get(upstream),
    abilitiesIn: (settings) => abilitiesOf(completeUpstream(settings)),
    mayUseUpstreams: ({ isMetered }) => permitted === 'all' || (permitted === 'unmetered' && !isMetered),
    maxRequestMs: longestOfAllMs(sources),
  }
}

const abilitiesOf = (upstream: EffectiveUpstream): UpstreamAbilities => ({
  timeoutMs: upstream.timeout_ms,
  queueTimeoutMs: upstream.queue_timeout_ms,
  canEmbed: canEmbed(upstream),
  maxConcurrent: upstream.max_concurrent,
})

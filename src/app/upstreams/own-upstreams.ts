import { createAddressCheck } from '../../adapters/network/address-check.ts'
import { createUpstreamAddressProblems } from '../../adapters/network/address-guard.ts'
import { createGuardedAgent } from '../../adapters/network/guarded-agent.ts'
import { createRetirableAgent } from '../../adapters/network/retirable-agent.ts'
import { secretsOf } from '../../adapters/providers/mask-secrets.ts'
import { addressOfUpstream } from '../../adapters/providers/registry.ts'
import type { Clock } from '../../base/clock.ts'
import type { Config } from '../../config/config.ts'
import { completeUpstream } from '../../config/models.ts'
import { withValues, type Configuration, type Secrets } from '../../domain/audit/export/configuration.ts'
import { createUpstreamHealth, type UpstreamHealth } from '../../domain/inference/health.ts'
import type { Provider } from '../../domain/inference/provider.ts'
import type { StoredUpstream } from '../../domain/organization-models/stored.ts'
import { organizationLabel } from './labels.ts'
import type { CreateProvider } from './providers.ts'
import type { EffectiveUpstream } from './upstreams.ts'

/** An upstream of an organization, ready to be called. */
export type OwnUpstream = {
  readonly stored: StoredUpstream
  readonly settings: EffectiveUpstream
  readonly provider: Provider
  readonly health: UpstreamHealth
  /** Closes its connections when their calls end. */
  retire(): void
}

type OwnUpstreamParts = {
  readonly clock: Clock
  readonly createProvider: CreateProvider
  readonly config: Config
}

export type OpenOwnUpstream = (stored: StoredUpstream, secrets: Secrets) => OwnUpstream

/** Opens upstreams of organizations. Their connections go only to addresses that the operator allows. */
export function createOwnUpstreams({ clock, createProvider, config }: OwnUpstreamParts): OpenOwnUpstream {
  const problemOf = addressProblemsOf(config)
  return (stored, secrets) => {
    const settings = completeUpstream({ ...withValues(stored.settings, secrets), name: stored.name })
    const agent = createRetirableAgent(() =>
      createGuardedAgent({
        guard: (target) => problemOf(target) === undefined,
        connectTimeoutMs: settings.connect_timeout_ms,
        connections: null,
      }),
    )
    const credentials = { apiKey: settings.api_key, headers: settings.headers }
    const provider = createProvider(settings, {
      dispatcher: agent,
      label: organizationLabel,
      secrets: () => [...secretsOf(credentials, settings.base_url), ...longOnes(settings.headers)],
    })
    return { stored, settings, provider, health: createUpstreamHealth(clock), retire: agent.retire }
  }
}

/** Every header of a stored upstream is a secret, whatever its name. Short values are ordinary words. */
const longOnes = (headers: Readonly<Record<string, string>> = {}): string[] =>
  Object.values(headers).filter(({ length }) => length >= 8)

const addressProblemsOf = ({ administration }: Config) =>
  createUpstreamAddressProblems({ allowsPrivate: administration.models.private_addresses })

const messages = {
  address: 'does not lead to an address that upstreams may have here. Use another one, or ask the operator',
  scheme: 'must begin with https://, because this installation allows only public upstreams',
  port: 'must have another port',
}

/** Checks the address of an upstream when it is configured. */
export function createUpstreamAddressCheck(config: Config): (settings: Configuration) => Promise<string | undefined> {
  const check = createAddressCheck({ problemOf: addressProblemsOf(config), messages })
  return async (settings) => {
    const { kind, server, base_url: baseUrl } = completeUpstream({ ...settings, name: '' })
    const address = addressOfUpstream({ kind, server, baseUrl })
    return address !== undefined && URL.canParse(address) ? check(new URL(address)) : undefined
  }
}

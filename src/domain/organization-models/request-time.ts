import { Fault } from '../../base/fault.ts'
import type { Configuration } from '../audit/export/configuration.ts'
import type { InstallationEntries, UpstreamAbilities } from './installation.ts'
import type { OrganizationModelStore, StoredUpstream } from './stored.ts'
import { targetsIn } from './targets.ts'

/** Finds an upstream that a model may use. */
export type FindAbilities = (upstream: string) => UpstreamAbilities | undefined

/** The longest time of a request: every target in order, and the last one twice, each time after its queue. */
function longestMs(targets: readonly UpstreamAbilities[]): number {
  const last = targets.at(-1)
  const all = targets.reduce((sum, { timeoutMs }) => sum + timeoutMs, 0)
  return all + (last === undefined ? 0 : last.timeoutMs + 2 * last.queueTimeoutMs)
}

/**
 * Credits and quotas of a request are held for a fixed time after which its node counts as dead. So a request to a stored
 * model must end before that.
 */
export function requireShort(
  model: { readonly name: string; readonly settings: Configuration },
  find: FindAbilities,
  { maxRequestMs }: InstallationEntries,
): void {
  const targets = targetsIn(model.settings).flatMap(({ upstream }) => find(upstream) ?? [])
  if (longestMs(targets) <= maxRequestMs) return
  const message = `With the timeouts of its upstreams, a request to ${model.name} could take ${longestMs(targets)} ms; at most ${maxRequestMs} ms are allowed. Use fewer targets, or a lower timeout_ms.`
  throw new Fault('validation', 'invalid_parameter', message, { param: 'targets' })
}

/** Checks every model of the organization with a changed upstream. */
export async function requireShortModels(
  store: OrganizationModelStore,
  installation: InstallationEntries,
  changed: StoredUpstream,
): Promise<void> {
  const find = await abilitiesOf(store, installation, changed)
  for (const model of await store.listModels(changed.organizationId)) requireShort(model, find, installation)
}

/** The upstreams of an organization, with this one in its changed form. */
export async function abilitiesOf(
  store: OrganizationModelStore,
  installation: InstallationEntries,
  changed: Pick<StoredUpstream, 'organizationId'> & Partial<StoredUpstream>,
): Promise<FindAbilities> {
  const stored = await store.listUpstreams(changed.organizationId)
  const byName = new Map(
    stored.map(({ id, name, settings }) => [name, id === changed.id ? (changed.settings ?? settings) : settings]),
  )
  return (upstream) => {
    const settings = byName.get(upstream)
    return installation.abilitiesOf(upstream) ?? (settings && installation.abilitiesIn(settings))
  }
}

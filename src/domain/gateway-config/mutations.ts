import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import type { WithAuditRecord } from '../identity/audit-log.ts'
import type { PatternEngine } from '../moderation/patterns.ts'
import { withDefaults, type GivenConfiguration } from './complete.ts'
import { unsaved, type GatewayConfiguration, type SavedConfiguration } from './configuration.ts'
import { gatewayAuditRecord } from './audit-record.ts'
import type { GatewayStore } from './store.ts'
import { requireTerms } from './terms.ts'

export type ConfigurationMutationParts = { readonly ids: Ids; readonly clock: Clock; readonly patterns: PatternEngine }

/** What is to be saved, and for whom. */
export type SaveRequest = {
  readonly organizationId: string
  readonly config: GatewayConfiguration
  /** When the configuration was last saved as the one who asks has seen it; undefined: whatever is there is replaced. */
  readonly seenAtMs?: number | null | undefined
}

export type ConfigurationAdministration = ReturnType<typeof createConfigurationAdministration>

/** Every change of a gateway configuration. It works inside its caller's transaction and answers its audit record. */
export function createConfigurationAdministration({ ids, clock, patterns }: ConfigurationMutationParts) {
  return {
    /** The whole configuration that is given, refused where a term cannot be looked for. */
    check(given: GivenConfiguration, place?: string): GatewayConfiguration {
      requireTerms(given, patterns, place)
      return withDefaults(given)
    },

    save,
  }

  async function save(store: GatewayStore, asked: SaveRequest): Promise<WithAuditRecord<SavedConfiguration>> {
    const { organizationId, config, seenAtMs } = asked
    const before = (await store.find(organizationId)) ?? unsaved
    if (seenAtMs !== undefined && seenAtMs !== before.updatedAtMs) throw stale(before)
    if (isInForce(before, config)) return { value: before }
    // Times tell one save from the next, so that no two have the same.
    const nowMs = Math.max(clock.nowMs(), (before.updatedAtMs ?? 0) + 1)
    const isSaved = await store.save(organizationId, config, { id: ids('gwcv'), version: before.version, nowMs })
    if (!isSaved) return saveAfterOther(store, asked, before)
    const after = {
      config,
      version: before.version + 1,
      isRolledBack: false,
      createdAtMs: before.createdAtMs ?? nowMs,
      updatedAtMs: nowMs,
    }
    return { value: after, record: gatewayAuditRecord(before, after) }
  }

  /** Somebody was faster. Whoever named what they had seen is refused by the next look; others come after them. */
  async function saveAfterOther(store: GatewayStore, asked: SaveRequest, { version }: SavedConfiguration) {
    const now = (await store.find(asked.organizationId)) ?? unsaved
    if (now.version === version) throw stale(now)
    return save(store, asked)
  }
}

/** Saving the same again changes nothing, unless it ends a rollback. */
const isInForce = ({ version, isRolledBack, config }: SavedConfiguration, wanted: GatewayConfiguration): boolean =>
  version > 0 && !isRolledBack && JSON.stringify(config) === JSON.stringify(wanted)

function stale({ updatedAtMs }: SavedConfiguration): Fault {
  const since = updatedAtMs === null ? 'has not been saved yet' : `was saved at ${new Date(updatedAtMs).toISOString()}`
  const message = `The configuration ${since}; read it again.`
  return new Fault('conflict', 'stale_configuration', message, { option: 'expected_version' })
}

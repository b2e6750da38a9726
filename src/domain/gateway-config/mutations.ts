import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import type { WithAuditRecord, AuditRecord } from '../mutations/audit-log.ts'
import type { PatternEngine } from '../scan/detect/patterns.ts'
import { withDefaults, type GivenConfiguration } from './complete.ts'
import { unsaved, type GatewayConfiguration, type SavedConfiguration } from './configuration.ts'
import { isRephrasedBy } from './evaluate.ts'
import type { GatewayStore } from './store.ts'
import { requireTerms } from './terms.ts'
import { hash } from 'node:crypto'

export type ConfigurationMutationParts = {
  readonly ids: Ids
  readonly clock: Clock
  readonly patterns: PatternEngine
  /** Whether a judge model is configured, which rewrites texts. */
  readonly hasJudge: boolean
}

/** A setting that is saved and has no effect. */
export type ConfigurationWarning = { readonly code: 'rewrite_without_judge'; readonly message: string }

/** Input of a save. */
export type SaveRequest = {
  readonly organizationId: string
  readonly config: GatewayConfiguration
  /** The id of the key or member. */
  readonly savedBy: string
  /** The save time that the caller has read, for optimistic locking. Undefined replaces any version. */
  readonly seenAtMs?: number | null | undefined
}

export type ConfigurationAdministration = ReturnType<typeof createConfigurationAdministration>

/** Mutations of a gateway configuration. Each one runs in its caller's transaction and returns its audit record. */
export function createConfigurationAdministration({ ids, clock, patterns, hasJudge }: ConfigurationMutationParts) {
  return {
    /** Normalises a configuration. Throws if a term is invalid. */
    check(given: GivenConfiguration, paramPrefix?: string): GatewayConfiguration {
      requireTerms(given, patterns, paramPrefix)
      return withDefaults(given)
    },

    /** Settings that have no effect in this service. */
    warningsOf: (config: GatewayConfiguration): readonly ConfigurationWarning[] =>
      isRephrasedBy(config) && !hasJudge ? [rewriteWithoutJudge] : [],

    save,
  }

  async function save(store: GatewayStore, request: SaveRequest): Promise<WithAuditRecord<SavedConfiguration>> {
    const { organizationId, config, savedBy, seenAtMs } = request
    const before = (await store.find(organizationId)) ?? unsaved
    if (seenAtMs !== undefined && seenAtMs !== before.updatedAtMs) throw stale(before)
    if (isInForce(before, config)) return { value: before }
    // Save times identify versions, so each must be later than the one before.
    const nowMs = Math.max(clock.nowMs(), (before.updatedAtMs ?? 0) + 1)
    const isSaved = await store.save(organizationId, config, {
      id: ids('gwcv'),
      version: before.version,
      nowMs,
      savedBy,
    })
    if (!isSaved) return saveAfterOther(store, request, before)
    const after = {
      config,
      version: before.version + 1,
      isRolledBack: false,
      createdAtMs: before.createdAtMs ?? nowMs,
      updatedAtMs: nowMs,
    }
    return { value: after, record: gatewayAuditRecord(before, after) }
  }

  /** Another save was committed first. Retries; a request with `seenAtMs` is then rejected as stale. */
  async function saveAfterOther(store: GatewayStore, request: SaveRequest, { version }: SavedConfiguration) {
    const now = (await store.find(request.organizationId)) ?? unsaved
    if (now.version === version) throw stale(now)
    return save(store, request)
  }
}

const rewriteWithoutJudge: ConfigurationWarning = {
  code: 'rewrite_without_judge',
  message:
    'The configuration rewrites or sums up texts that match, and no judge model is configured for that: these texts are refused. Name a model in policies.judge of the service configuration.',
}

/** Saving an equal configuration changes nothing, unless it ends a rollback. */
const isInForce = ({ version, isRolledBack, config }: SavedConfiguration, next: GatewayConfiguration): boolean =>
  version > 0 && !isRolledBack && JSON.stringify(config) === JSON.stringify(next)

function stale({ updatedAtMs }: SavedConfiguration): Fault {
  const since = updatedAtMs === null ? 'has not been saved yet' : `was saved at ${new Date(updatedAtMs).toISOString()}`
  const message = `The configuration ${since}. Read it again before saving.`
  return new Fault('conflict', 'stale_configuration', message, { option: 'expected_version' })
}

/** The audit record of a save: the names of changed fields, and digests. The stored versions have the values. */
function gatewayAuditRecord(before: SavedConfiguration, after: SavedConfiguration): AuditRecord {
  const changedFields = changedPaths(before.config, after.config)
  return {
    kind: 'gateway.config.updated',
    resourceId: after.config.policy_id,
    ...(before.version > 0 && { oldRevision: before.version }),
    newRevision: after.version,
    document: {
      ...(before.version > 0 && { digestBefore: digestOf(before.config) }),
      digestAfter: digestOf(after.config),
      changedFields,
    },
    details: { changed_fields: changedFields },
  }
}

/** Equal configurations have equal digests, because `withDefaults` normalises every configuration. */
export const digestOf = (config: GatewayConfiguration): string => hash('sha256', JSON.stringify(config), 'hex')

/** Paths of changed fields, at most two levels deep: `name`, `rules.denylist`, `org_controls.user_quota`. */
function changedPaths(before: GatewayConfiguration, after: GatewayConfiguration): string[] {
  const old = new Map(fieldsOf(before))
  return fieldsOf(after).flatMap(([path, value]) => (old.get(path) === value ? [] : [path]))
}

const fieldsOf = (config: GatewayConfiguration): [path: string, value: string][] =>
  Object.entries(config).flatMap(([name, section]) =>
    typeof section === 'object' && section !== null
      ? Object.entries(section).map(([field, value]): [string, string] => [`${name}.${field}`, JSON.stringify(value)])
      : [[name, JSON.stringify(section)]],
  )

import { dayMs, type Clock } from '../../../base/clock.ts'
import type { SavedConfiguration } from '../../gateway-config/configuration.ts'
import type { GatewayStore } from '../../gateway-config/store.ts'
import type { AuditedMutation } from '../../mutations/audited-mutation.ts'
import type { Actor, AuditRecord, WithAuditRecord } from '../../mutations/audit-log.ts'
import { pausePolicy } from '../../policy/lifecycle.ts'
import type { Policy } from '../../policy/policy.ts'
import { policyAuditRecord } from '../../policy/audit-record.ts'
import type { PolicyStore } from '../../policy/store.ts'
import { boundedArm, type BoundedArm, type UpperBoundBp } from './arms.ts'
import type { RolloutArms, DecisionCounts, DecisionSums, MonitoredSubject, ReportedSpikes } from './decision-counts.ts'
import { gatewaySubject } from './counted-decisions.ts'
import { evidenceOf, isSpike, minuteOf, windowMinutes, type Sums } from './spike.ts'

export type SpikeStores = {
  readonly policies: Pick<PolicyStore, 'find' | 'replace'>
  readonly gateway: Pick<GatewayStore, 'find' | 'rollBack'>
  readonly decisions: DecisionSums & RolloutArms
  readonly spikes: Pick<ReportedSpikes, 'findSpike' | 'report'>
}

export type ActOnSpikeParts = {
  /** For reading before a change is decided on. */
  readonly reads: SpikeStores
  readonly mutate: AuditedMutation<SpikeStores>
  readonly counts: Pick<DecisionCounts, 'extendSpike'>
  readonly clock: Clock
  readonly upperBoundBp: UpperBoundBp
}

/** `disabled`: a policy was paused, or a gateway configuration rolled back. `reported`: an audit event, and nothing else. */
export const spikeActions = ['disabled', 'reported'] as const
export type SpikeAction = (typeof spikeActions)[number]

/** Acts if the denials of a policy or configuration spike. Returns what this call did, undefined for nothing. */
export type ActOnSpike = (monitored: MonitoredSubject) => Promise<SpikeAction | undefined>

/** How long after its publication or last save a policy or configuration may be disabled. */
const watchedMs = dayMs

export function createActOnSpike({ reads, mutate, counts, clock, upperBoundBp }: ActOnSpikeParts): ActOnSpike {
  const spikeOf = async (stores: SpikeStores, monitored: MonitoredSubject): Promise<Spike | undefined> => {
    const nowMs = clock.nowMs()
    const sums = await stores.decisions.sums(monitored, minuteOf(nowMs))
    const inForce = isSpike(sums) ? await findInForce(stores, monitored) : undefined
    return inForce && { ...monitored, sums, inForce, nowMs, arms: await armsOf(stores, monitored, inForce) }
  }
  /** Of a policy that is enforced for a share of users. */
  async function armsOf({ decisions }: SpikeStores, monitored: MonitoredSubject, inForce: InForce) {
    if (!('policy' in inForce) || inForce.policy.rolloutPercent === 100) return []
    const arms = await decisions.arms(monitored, minuteOf(clock.nowMs()))
    return arms.map((arm) => boundedArm(arm, upperBoundBp))
  }
  return async (monitored) => {
    const spike = await spikeOf(reads, monitored)
    if (!spike || (!asksToDisable(spike) && (await isReported(spike)))) return undefined
    return mutate(service(monitored), async (stores) => {
      // Repeated inside the transaction, because it may have been published, resumed or saved in the meantime.
      const current = await spikeOf(stores, monitored)
      return current ? actOn(stores, current) : { value: undefined }
    })
  }

  /** A spike that lasts is reported once. */
  async function isReported(spike: Spike): Promise<boolean> {
    const known = await reads.spikes.findSpike(spike)
    const minute = minuteOf(spike.nowMs)
    if (!known || known.lastMinute < minute - windowMinutes) return false
    if (known.lastMinute < minute) await counts.extendSpike(spike, minute)
    return true
  }
}

type InForce = { readonly policy: Policy } | { readonly configuration: SavedConfiguration }

type Spike = MonitoredSubject & {
  readonly sums: Sums
  readonly inForce: InForce
  readonly nowMs: number
  readonly arms: readonly BoundedArm[]
}

type Acted = WithAuditRecord<SpikeAction | undefined>

const service = ({ organizationId }: MonitoredSubject): Actor => ({
  organizationId,
  kind: 'system',
  credentialId: null,
  requestId: null,
})

/** The policy or configuration, if this version of it is enforced. */
async function findInForce(
  { policies, gateway }: SpikeStores,
  monitored: MonitoredSubject,
): Promise<InForce | undefined> {
  const { organizationId, subject, version } = monitored
  if (subject === gatewaySubject) {
    const configuration = await gateway.find(organizationId)
    return configuration?.version === version && !configuration.isRolledBack ? { configuration } : undefined
  }
  const policy = await policies.find(organizationId, subject)
  return policy?.state === 'enforcing' && policy.published?.version === version ? { policy } : undefined
}

/** True if the policy or configuration asks for it, and is new: only a change can be the cause of a spike that it ends. */
function asksToDisable({ inForce, nowMs }: Spike): boolean {
  if ('policy' in inForce) {
    const { published } = inForce.policy
    return published !== null && published.pauseOnSpike && nowMs - published.publishedAtMs < watchedMs
  }
  const { config, updatedAtMs } = inForce.configuration
  return config.rollout.rollback_on_spike && updatedAtMs !== null && nowMs - updatedAtMs < watchedMs
}

function actOn(stores: SpikeStores, spike: Spike): Promise<Acted> {
  if (!asksToDisable(spike)) return report(stores, spike)
  const { inForce } = spike
  return 'policy' in inForce ? pause(stores, spike, inForce.policy) : rollBack(stores, spike, inForce.configuration)
}

async function pause({ policies }: SpikeStores, spike: Spike, before: Policy): Promise<Acted> {
  const after = pausePolicy(before, spike.nowMs)
  // Another node may have paused it already.
  if (!(await policies.replace(after, before.revision))) return { value: undefined }
  const record = policyAuditRecord(before.id, { kind: 'policy.paused', before, after })
  return { value: 'disabled', record: withEvidence(record, spike) }
}

async function rollBack({ gateway }: SpikeStores, spike: Spike, { config }: SavedConfiguration): Promise<Acted> {
  const { organizationId, version } = spike
  if (!(await gateway.rollBack(organizationId, version))) return { value: undefined }
  const record: AuditRecord = {
    kind: 'gateway.rollout.rolled_back',
    resourceId: config.policy_id,
    oldRevision: version,
    newRevision: version,
    details: { rollout_mode: 'rollback' },
  }
  return { value: 'disabled', record: withEvidence(record, spike) }
}

async function report({ spikes }: SpikeStores, spike: Spike): Promise<Acted> {
  if (!(await spikes.report(spike, minuteOf(spike.nowMs)))) return { value: undefined }
  const { inForce } = spike
  const record: AuditRecord =
    'policy' in inForce
      ? {
          kind: 'policy.denial_spike.reported',
          resourceId: inForce.policy.id,
          policyId: inForce.policy.id,
          details: { name: inForce.policy.name },
        }
      : { kind: 'gateway.denial_spike.reported', resourceId: inForce.configuration.config.policy_id, details: {} }
  return { value: 'reported', record: withEvidence(record, spike) }
}

const withEvidence = (record: AuditRecord, { version, sums, arms }: Spike): AuditRecord => ({
  ...record,
  details: {
    ...record.details,
    spike: { version, ...evidenceOf(sums), ...(arms.length > 0 && { arms: arms.map(armFields) }) },
  },
})

const armFields = ({ side, callers, matchedCallers, lowBp, highBp }: BoundedArm) => ({
  side,
  callers,
  matched_callers: matchedCallers,
  between_bp: [lowBp, highBp],
})

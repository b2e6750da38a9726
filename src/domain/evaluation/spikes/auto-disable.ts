import type { Clock } from '../../../base/clock.ts'
import type { GatewayStore } from '../../gateway-config/store.ts'
import type { AuditedMutation } from '../../identity/audited-mutation.ts'
import type { Actor, AuditRecord, WithAuditRecord } from '../../identity/audit-log.ts'
import { pausePolicy } from '../../policy/lifecycle.ts'
import type { Policy } from '../../policy/policy.ts'
import { policyAuditRecord } from '../../policy/audit-record.ts'
import type { PolicyStore } from '../../policy/store.ts'
import type { DecisionSums, MonitoredSubject } from './decision-counts.ts'
import { gatewaySubject } from './counted-outcomes.ts'
import { evidenceOf, isSpike, minuteOf, type Sums } from './spike.ts'

export type AutoDisableStores = {
  readonly policies: Pick<PolicyStore, 'find' | 'replace'>
  readonly gateway: Pick<GatewayStore, 'find' | 'rollBack'>
  readonly decisions: DecisionSums
}

export type AutoDisableParts = {
  /** For the look that changes nothing. */
  readonly reads: AutoDisableStores
  readonly administer: AuditedMutation<AutoDisableStores>
  readonly clock: Clock
}

/** Takes a version out of force where its denials spike: true where this call did it. */
export type AutoDisable = (watched: MonitoredSubject) => Promise<boolean>

export function createAutoDisable({ reads, administer, clock }: AutoDisableParts): AutoDisable {
  const spikeOf = async ({ decisions }: AutoDisableStores, watched: MonitoredSubject): Promise<Sums | undefined> => {
    const sums = await decisions.sums(watched, minuteOf(clock.nowMs()))
    return isSpike(sums) ? sums : undefined
  }
  return async (watched) => {
    if (!(await spikeOf(reads, watched)) || !(await isTakenOutFor(reads, watched))) return false
    return administer(service(watched), async (stores) => {
      // Again, now that nobody can come between: it may have been published, resumed or saved anew.
      const sums = await spikeOf(stores, watched)
      return sums && (await isTakenOutFor(stores, watched)) ? act(stores, watched, sums) : { value: false }
    })
  }

  function act(stores: AutoDisableStores, watched: MonitoredSubject, sums: Sums): Promise<WithAuditRecord<boolean>> {
    return watched.subject === gatewaySubject
      ? rollBack(stores, watched, sums)
      : pause(stores, watched, { sums, nowMs: clock.nowMs() })
  }
}

const service = ({ organizationId }: MonitoredSubject): Actor => ({
  organizationId,
  kind: 'system',
  credentialId: null,
  requestId: null,
})

/** Whether this version is in force and may be taken out of it: a policy always, a configuration where it says so. */
async function isTakenOutFor({ policies, gateway }: AutoDisableStores, watched: MonitoredSubject): Promise<boolean> {
  const { organizationId, subject, version } = watched
  if (subject === gatewaySubject) {
    const saved = await gateway.find(organizationId)
    return saved?.version === version && !saved.isRolledBack && saved.config.rollout.rollback_on_spike
  }
  return isInForce(await policies.find(organizationId, subject), version)
}

const isInForce = (policy: Policy | undefined, version: number): policy is Policy =>
  policy?.state === 'enforcing' && policy.published?.version === version

type Spike = { readonly sums: Sums; readonly nowMs: number }

async function pause(
  { policies }: AutoDisableStores,
  watched: MonitoredSubject,
  spike: Spike,
): Promise<WithAuditRecord<boolean>> {
  const before = await policies.find(watched.organizationId, watched.subject)
  // Another node may have been faster since it was last asked; between here and the write its revision would tell.
  if (!isInForce(before, watched.version)) return { value: false }
  const after = pausePolicy(before, spike.nowMs)
  if (!(await policies.replace(after, before.revision))) return { value: false }
  const record = policyAuditRecord(before.id, { kind: 'policy.paused', before, after })
  return { value: true, record: withEvidence(record, watched, spike.sums) }
}

async function rollBack(
  { gateway }: AutoDisableStores,
  watched: MonitoredSubject,
  sums: Sums,
): Promise<WithAuditRecord<boolean>> {
  const { organizationId, version } = watched
  const saved = await gateway.find(organizationId)
  if (!saved || !(await gateway.rollBack(organizationId, version))) return { value: false }
  const record: AuditRecord = {
    kind: 'gateway.rollout.rolled_back',
    resourceId: saved.config.policy_id,
    oldRevision: version,
    newRevision: version,
    details: { rollout_mode: 'rollback' },
  }
  return { value: true, record: withEvidence(record, watched, sums) }
}

const withEvidence = (record: AuditRecord, { version }: MonitoredSubject, sums: Sums): AuditRecord => ({
  ...record,
  details: { ...record.details, spike: { version, ...evidenceOf(sums) } },
})

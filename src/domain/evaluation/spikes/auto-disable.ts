import type { Clock } from '../../../base/clock.ts'
import type { GatewayStore } from '../../gateway-config/store.ts'
import type { AuditedMutation } from '../../identity/audited-mutation.ts'
import type { Actor, AuditRecord, WithAuditRecord } from '../../identity/audit-log.ts'
import { pausePolicy } from '../../policy/lifecycle.ts'
import type { Policy } from '../../policy/policy.ts'
import { policyAuditRecord } from '../../policy/audit-record.ts'
import type { PolicyStore } from '../../policy/store.ts'
import type { DecisionSums, MonitoredSubject } from './decision-counts.ts'
import { gatewaySubject } from './counted-decisions.ts'
import { evidenceOf, isSpike, minuteOf, type Sums } from './spike.ts'

export type AutoDisableStores = {
  readonly policies: Pick<PolicyStore, 'find' | 'replace'>
  readonly gateway: Pick<GatewayStore, 'find' | 'rollBack'>
  readonly decisions: DecisionSums
}

export type AutoDisableParts = {
  /** For reading before a change is decided on. */
  readonly reads: AutoDisableStores
  readonly mutate: AuditedMutation<AutoDisableStores>
  readonly clock: Clock
}

/** Pauses a policy, or rolls back a gateway configuration, if its denials spike. Returns true if this call did it. */
export type AutoDisable = (monitored: MonitoredSubject) => Promise<boolean>

export function createAutoDisable({ reads, mutate, clock }: AutoDisableParts): AutoDisable {
  const spikeOf = async ({ decisions }: AutoDisableStores, monitored: MonitoredSubject): Promise<Sums | undefined> => {
    const sums = await decisions.sums(monitored, minuteOf(clock.nowMs()))
    return isSpike(sums) ? sums : undefined
  }
  return async (monitored) => {
    if (!(await spikeOf(reads, monitored)) || !(await mayBeDisabled(reads, monitored))) return false
    return mutate(service(monitored), async (stores) => {
      // Repeated inside the transaction, because it may have been published, resumed or saved in the meantime.
      const sums = await spikeOf(stores, monitored)
      return sums && (await mayBeDisabled(stores, monitored)) ? disable(stores, monitored, sums) : { value: false }
    })
  }

  function disable(
    stores: AutoDisableStores,
    monitored: MonitoredSubject,
    sums: Sums,
  ): Promise<WithAuditRecord<boolean>> {
    return monitored.subject === gatewaySubject
      ? rollBack(stores, monitored, sums)
      : pause(stores, monitored, { sums, nowMs: clock.nowMs() })
  }
}

const service = ({ organizationId }: MonitoredSubject): Actor => ({
  organizationId,
  kind: 'system',
  credentialId: null,
  requestId: null,
})

/** True if this version is in force and may be disabled: a policy always, a configuration if `rollback_on_spike` is set. */
async function mayBeDisabled({ policies, gateway }: AutoDisableStores, monitored: MonitoredSubject): Promise<boolean> {
  const { organizationId, subject, version } = monitored
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
  monitored: MonitoredSubject,
  spike: Spike,
): Promise<WithAuditRecord<boolean>> {
  const before = await policies.find(monitored.organizationId, monitored.subject)
  // Another node may have paused it already. A later change is caught by the revision check of `replace`.
  if (!isInForce(before, monitored.version)) return { value: false }
  const after = pausePolicy(before, spike.nowMs)
  if (!(await policies.replace(after, before.revision))) return { value: false }
  const record = policyAuditRecord(before.id, { kind: 'policy.paused', before, after })
  return { value: true, record: withEvidence(record, monitored, spike.sums) }
}

async function rollBack(
  { gateway }: AutoDisableStores,
  monitored: MonitoredSubject,
  sums: Sums,
): Promise<WithAuditRecord<boolean>> {
  const { organizationId, version } = monitored
  const saved = await gateway.find(organizationId)
  if (!saved || !(await gateway.rollBack(organizationId, version))) return { value: false }
  const record: AuditRecord = {
    kind: 'gateway.rollout.rolled_back',
    resourceId: saved.config.policy_id,
    oldRevision: version,
    newRevision: version,
    details: { rollout_mode: 'rollback' },
  }
  return { value: true, record: withEvidence(record, monitored, sums) }
}

const withEvidence = (record: AuditRecord, { version }: MonitoredSubject, sums: Sums): AuditRecord => ({
  ...record,
  details: { ...record.details, spike: { version, ...evidenceOf(sums) } },
})

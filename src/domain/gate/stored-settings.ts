import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import { changedValues, type WithAuditRecord } from '../mutations/audit-log.ts'
import type { GateOwner, GateStore, StoredGate } from './gate-run.ts'
import { defaultGate, gateWith, tightened, type GateSettings, type OwnGateSettings } from './settings.ts'

/** The settings of an owner: its own, and what follows from them. */
export type GateOf = { readonly owner: GateOwner; readonly stored: StoredGate; readonly effective: GateSettings }

type GateReads = Pick<GateStore, 'findSettings'>

const never: StoredGate = { settings: {}, revision: 0, updatedAtMs: 0 }

/** The settings of the organization, tightened by those of the policy. */
export async function readGate(store: GateReads, owner: GateOwner): Promise<GateOf> {
  const ofOrganization = (await store.findSettings({ ...owner, policyId: null })) ?? never
  const organization = gateWith(defaultGate, ofOrganization.settings)
  if (owner.policyId === null) return { owner, stored: ofOrganization, effective: organization }
  const stored = (await store.findSettings(owner)) ?? never
  return { owner, stored, effective: tightened(organization, stored.settings) }
}

export type GateUpdate = { readonly revision: number; readonly settings: OwnGateSettings }

/** Replaces the settings of the owner. Sections that are left out get their defaults, in a policy those of the organization. */
export async function saveGate(
  store: GateStore,
  owner: GateOwner,
  { revision, settings, clock }: GateUpdate & { readonly clock: Clock },
): Promise<WithAuditRecord<GateOf>> {
  const before = await readGate(store, owner)
  if (before.stored.revision !== revision) throw revisionConflict(before.stored.revision, revision)
  if (JSON.stringify(settings) === JSON.stringify(before.stored.settings)) return { value: before }
  const stored: StoredGate = { settings, revision: revision + 1, updatedAtMs: clock.nowMs() }
  if (!(await store.saveSettings(owner, stored)))
    throw revisionConflict((await readGate(store, owner)).stored.revision, revision)
  const value = await readGate(store, owner)
  const { organizationId, policyId } = owner
  return {
    value,
    record: {
      kind: 'publish_gate.updated',
      resourceId: policyId ?? organizationId,
      details: changedValues(before.effective, value.effective),
    },
  }
}

const revisionConflict = (current: number, named: number): Fault =>
  new Fault('conflict', 'revision_conflict', `The gate is at revision ${current}; the request names ${named}.`, {
    param: 'revision',
  })

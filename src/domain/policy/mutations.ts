import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import type { WithAuditRecord } from '../mutations/audit-log.ts'
import { requireName } from '../identity/bounds.ts'
import { foldName } from '../identity/names.ts'
import {
  createPolicy,
  discardDraft,
  pausePolicy,
  publishPolicy,
  requireRevision,
  resumePolicy,
  revisionConflict,
  rollBackPolicy,
  updatePolicy,
  type NewPolicy,
  rollOutPolicy,
  type PolicyPatch,
  type PublicationNote,
} from './lifecycle.ts'
import type { Policy, PolicyVersion } from './policy.ts'
import { policyAuditRecord, type PolicyMutation } from './audit-record.ts'
import { checkGuard, checkRule, type CheckExpression } from './rule.ts'
import type { PolicyStore } from './store.ts'

export type PolicyAdministrationParts = {
  readonly ids: Ids
  readonly clock: Clock
  readonly checkExpression: CheckExpression
}

/** A policy, and the revision that the caller has read. */
export type PolicyAt = { readonly organizationId: string; readonly id: string; readonly revision: number }

/** `rolloutPercent`: the share of users that the version is enforced for. Default: everybody. */
export type PublicationPlan = PublicationNote & { readonly rolloutPercent?: number | undefined }

/** The version to publish again. */
export type RollBack = PublicationNote & { readonly version: number }

export type PolicyAdministration = ReturnType<typeof createPolicyAdministration>

/** Every mutation of a policy. Each one runs in its caller's transaction and returns its audit record. */
export function createPolicyAdministration({ ids, clock, checkExpression }: PolicyAdministrationParts) {
  return {
    check,

    /** Throws if the rule is an invalid expression. `param` is the name of the field that has the rule. */
    checkRule: (rule: string, param: string): void => checkRule(rule, checkExpression, param),

    async create(store: PolicyStore, organizationId: string, input: NewPolicy): Promise<WithAuditRecord<Policy>> {
      const policy = await check(store, organizationId, input)
      await requireNewName(store, policy)
      await store.insert(policy)
      return { value: policy, record: policyAuditRecord(policy.id, { kind: 'policy.created', after: policy }) }
    },

    async update(store: PolicyStore, at: PolicyAt, patch: PolicyPatch): Promise<WithAuditRecord<Policy>> {
      const policy = await findAt(store, at)
      if (patch.rule !== undefined) checkRule(patch.rule, checkExpression)
      if (patch.judgeWhen !== undefined) checkGuard(patch.judgeWhen, checkExpression)
      await requireProjects(store, at.organizationId, patch.projectIds)
      const after = updatePolicy(policy, patch, clock.nowMs())
      if (after === policy) return { value: policy }
      // A policy may keep a name that it shares with another since before names were unique.
      if (after.name !== policy.name) {
        requireName(after.name)
        if (foldName(after.name) !== foldName(policy.name)) await requireNewName(store, after)
      }
      return save(store, { kind: 'policy.updated', before: policy, after })
    },

    async publish(store: PolicyStore, at: PolicyAt, note: PublicationPlan): Promise<WithAuditRecord<Policy>> {
      const policy = await findAt(store, at)
      const { scope, projectIds } = policy.draft
      // A project may have been archived since the draft was saved.
      if (scope === 'projects') await requireProjects(store, at.organizationId, projectIds)
      const after = publishPolicy(policy, { ...note, versionId: ids('polv'), nowMs: clock.nowMs() })
      return save(store, { kind: 'policy.published', before: policy, after })
    },

    async rollOut(store: PolicyStore, at: PolicyAt, percent: number): Promise<WithAuditRecord<Policy>> {
      const policy = await findAt(store, at)
      const after = rollOutPolicy(policy, percent, clock.nowMs())
      return after === policy
        ? { value: policy }
        : save(store, { kind: 'policy.rollout.changed', before: policy, after })
    },

    async discardDraft(store: PolicyStore, at: PolicyAt): Promise<WithAuditRecord<Policy>> {
      const policy = await findAt(store, at)
      return save(store, { kind: 'policy.draft.discarded', before: policy, after: discardDraft(policy, clock.nowMs()) })
    },

    async pause(store: PolicyStore, at: PolicyAt): Promise<WithAuditRecord<Policy>> {
      const policy = await findAt(store, at)
      return save(store, { kind: 'policy.paused', before: policy, after: pausePolicy(policy, clock.nowMs()) })
    },

    async resume(store: PolicyStore, at: PolicyAt): Promise<WithAuditRecord<Policy>> {
      const policy = await findAt(store, at)
      return save(store, { kind: 'policy.resumed', before: policy, after: resumePolicy(policy, clock.nowMs()) })
    },

    async rollBack(store: PolicyStore, at: PolicyAt, { version, ...note }: RollBack): Promise<WithAuditRecord<Policy>> {
      const policy = await findAt(store, at)
      const earlier = await findVersion(store, policy, version)
      const after = rollBackPolicy(policy, earlier, { ...note, versionId: ids('polv'), nowMs: clock.nowMs() })
      return save(store, { kind: 'policy.rolled_back', before: policy, after })
    },

    async remove(store: PolicyStore, at: PolicyAt): Promise<WithAuditRecord<Policy>> {
      const policy = await findAt(store, at)
      if (!(await store.remove(policy, clock.nowMs()))) throw await lostRace(store, at)
      return { value: policy, record: policyAuditRecord(policy.id, { kind: 'policy.deleted', before: policy }) }
    },
  }

  /** Returns the policy that `create` would insert, or throws the error that `create` would throw. */
  async function check(store: PolicyStore, organizationId: string, input: NewPolicy): Promise<Policy> {
    requireName(input.name)
    checkRule(input.rule, checkExpression)
    if (input.judgeWhen !== undefined) checkGuard(input.judgeWhen, checkExpression)
    await requireProjects(store, organizationId, input.projectIds)
    return createPolicy(input, { id: ids('pol'), organizationId, nowMs: clock.nowMs() })
  }
}

/** Throws the same error for an unknown id, a deleted policy and a policy of another organization. */
export async function findPolicy(
  store: Pick<PolicyStore, 'find'>,
  organizationId: string,
  id: string,
): Promise<Policy> {
  const policy = await store.find(organizationId, id)
  if (policy) return policy
  throw new Fault('not_found', 'not_found', `There is no policy ${id}.`)
}

export async function findVersion(
  store: Pick<PolicyStore, 'findVersion'>,
  policy: Policy,
  version: number,
): Promise<PolicyVersion> {
  const found = await store.findVersion(policy, version)
  if (found) return found
  const message = `There is no version ${version} of the policy ${policy.id}.`
  throw new Fault('not_found', 'not_found', message, { param: 'version' })
}

async function findAt(store: PolicyStore, { organizationId, id, revision }: PolicyAt): Promise<Policy> {
  const policy = await findPolicy(store, organizationId, id)
  requireRevision(policy, revision)
  return policy
}

async function save(store: PolicyStore, mutation: Required<PolicyMutation>): Promise<WithAuditRecord<Policy>> {
  const { before, after } = mutation
  if (!(await store.replace(after, before.revision))) throw await lostRace(store, before)
  if (after.published && after.published !== before.published) await store.insertVersion(after, after.published)
  return { value: after, record: policyAuditRecord(after.id, mutation) }
}

/** Another mutation was committed between this mutation's read and its write. */
async function lostRace(store: PolicyStore, { organizationId, id, revision }: PolicyAt): Promise<Fault> {
  const { revision: current } = await findPolicy(store, organizationId, id)
  return revisionConflict(current, revision)
}

/** Names are unique in an organization. The lock makes the check hold against policies that are created at the same time. */
async function requireNewName(store: PolicyStore, { id, organizationId, name }: Policy): Promise<void> {
  const folded = foldName(name)
  const other = (await store.lockNames(organizationId)).find((each) => each.id !== id && foldName(each.name) === folded)
  if (!other) return
  const message = `The policy ${other.id} already has the name ${JSON.stringify(other.name)}. Choose another name, or change that policy.`
  throw new Fault('conflict', 'duplicate_name', message, { param: 'name' })
}

async function requireProjects(store: PolicyStore, organizationId: string, ids: readonly string[] = []): Promise<void> {
  if (ids.length === 0) return
  const [unknown] = await store.unknownProjects(organizationId, [...new Set(ids)])
  if (unknown !== undefined) throw invalidProject(ids, unknown, `there is no project ${unknown}.`)
  const [archived] = await store.archivedProjects(organizationId, [...new Set(ids)])
  if (archived === undefined) return
  throw invalidProject(ids, archived, `the project ${archived} is archived. Leave it out, or unarchive it first.`)
}

function invalidProject(ids: readonly string[], id: string, problem: string): Fault {
  const param = `project_ids[${ids.indexOf(id)}]`
  return new Fault('validation', 'invalid_parameter', `${param}: ${problem}`, { param })
}

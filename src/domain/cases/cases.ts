import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import { changedValues, type AuditRecord, type WithAuditRecord } from '../mutations/audit-log.ts'
import { findPolicy } from '../policy/mutations.ts'
import type { PolicyStore } from '../policy/store.ts'
import type { CaseOwner, CaseStore, Expectation, PolicyCase } from './case.ts'

const maxCases = 1_000
/** Of the JSON of what a rule is given, in UTF-8. */
export const maxCaseBytes = 16_000

export type CaseStores = { readonly policies: Pick<PolicyStore, 'find'>; readonly cases: CaseStore }

type NewCase = Pick<PolicyCase, 'says' | 'given' | 'expected' | 'weight' | 'origin' | 'eventId' | 'tags' | 'labelledBy'>

/** Fields that are left out stay as they are. */
type CaseUpdate = Partial<Pick<PolicyCase, 'says' | 'given' | 'expected' | 'weight' | 'tags'>> & {
  readonly revision: number
  readonly labelledBy: string
}

export type Cases = ReturnType<typeof createCases>

/** Creates, changes and deletes the cases of a policy. Audit records have no text of a case. */
export function createCases({ ids, clock }: { readonly ids: Ids; readonly clock: Clock }) {
  return {
    async create(stores: CaseStores, owner: CaseOwner, input: NewCase): Promise<WithAuditRecord<PolicyCase>> {
      await findPolicy(stores.policies, owner.organizationId, owner.policyId)
      requireValid(input)
      if ((await stores.cases.count(owner)) >= maxCases)
        throw new Fault('conflict', 'case_limit_reached', `A policy may have ${maxCases} cases. Delete one first.`)
      const requestId = await requestOf(stores.cases, owner, input.eventId)
      const nowMs = clock.nowMs()
      const times = { labelledAtMs: nowMs, createdAtMs: nowMs, updatedAtMs: nowMs }
      const value: PolicyCase = { ...owner, ...input, ...times, id: ids('case'), requestId, revision: 1 }
      await stores.cases.insert(value)
      return { value, record: recordOf('policy_case.created', value, auditedFields(value)) }
    },

    async update(
      stores: CaseStores,
      { id, ...owner }: CaseOwner & { readonly id: string },
      { revision, labelledBy, ...changes }: CaseUpdate,
    ): Promise<WithAuditRecord<PolicyCase>> {
      const before = await findCase(stores, owner, id)
      if (before.revision !== revision) throw revisionConflict(before.revision, revision)
      const after = { ...before, ...changes }
      requireValid(after)
      const isSame = JSON.stringify(after) === JSON.stringify(before)
      if (isSame) return { value: before }
      const nowMs = clock.nowMs()
      const isLabelledAgain = JSON.stringify(after.expected) !== JSON.stringify(before.expected)
      const label = isLabelledAgain ? { labelledBy, labelledAtMs: nowMs } : {}
      const value = { ...after, ...label, revision: revision + 1, updatedAtMs: nowMs }
      if (!(await stores.cases.replace(value)))
        throw revisionConflict((await findCase(stores, owner, id)).revision, revision)
      const details = { ...changedValues(auditedFields(before), auditedFields(after)), policy_id: owner.policyId }
      return { value, record: recordOf('policy_case.updated', value, details) }
    },

    async remove(stores: CaseStores, owner: CaseOwner, id: string): Promise<WithAuditRecord<PolicyCase>> {
      const value = await findCase(stores, owner, id)
      await stores.cases.remove(owner, id)
      return { value, record: recordOf('policy_case.deleted', value, auditedFields(value)) }
    },
  }
}

export async function findCase(stores: CaseStores, owner: CaseOwner, id: string): Promise<PolicyCase> {
  await findPolicy(stores.policies, owner.organizationId, owner.policyId)
  const found = await stores.cases.find(owner, id)
  if (found) return found
  throw new Fault('not_found', 'not_found', `There is no case ${id} of the policy ${owner.policyId}.`)
}

async function requestOf(
  store: CaseStore,
  { organizationId }: CaseOwner,
  eventId: string | null,
): Promise<string | null> {
  if (eventId === null) return null
  const requestId = await store.requestOf(organizationId, eventId)
  if (requestId === undefined) throw invalid('event_id', `there is no request with the event ${eventId}.`)
  return requestId
}

function requireValid({ given, expected }: Pick<PolicyCase, 'given' | 'expected'>): void {
  if (Buffer.byteLength(JSON.stringify(given)) > maxCaseBytes)
    throw invalid('given', `must be at most ${maxCaseBytes} bytes of JSON. Shorten the text.`)
  if (typeof expected === 'string') return
  const { atLeast, atMost } = expected
  if (atLeast === undefined && atMost === undefined) throw invalid('expect', 'needs at_least_bp or at_most_bp.')
  if ((atLeast ?? 0) > (atMost ?? Infinity)) throw invalid('expect.at_least_bp', 'must not be above at_most_bp.')
}

const invalid = (param: string, problem: string): Fault =>
  new Fault('validation', 'invalid_parameter', `${param}: ${problem}`, { param })

const revisionConflict = (current: number, named: number): Fault =>
  new Fault('conflict', 'revision_conflict', `The case is at revision ${current}; the request names ${named}.`, {
    param: 'revision',
  })

const recordOf = (kind: AuditRecord['kind'], { id }: PolicyCase, details: AuditRecord['details']): AuditRecord => ({
  kind,
  resourceId: id,
  details,
})

/** Without the text. */
const auditedFields = ({ policyId, says, expected, weight, origin, eventId, tags }: PolicyCase) => ({
  policy_id: policyId,
  says,
  expect: expectationText(expected),
  weight,
  origin,
  event_id: eventId,
  tags: tags.join(', '),
})

/** `match`, `no_match`, or the range: `2000 to 5000`. */
function expectationText(expected: Expectation): string {
  if (typeof expected === 'string') return expected
  const { atLeast = 0, atMost = 10_000 } = expected
  return `${atLeast} to ${atMost}`
}

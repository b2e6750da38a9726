import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import { changedValues, type AuditRecord, type WithAuditRecord } from '../mutations/audit-log.ts'
import { findPolicy } from '../policy/mutations.ts'
import type { PolicyStore } from '../policy/store.ts'
import type { AnyCase, CaseOwner, CaseStore, GatewayCase, PolicyCase } from './case.ts'

const maxCases = 1_000
/** Of the JSON of what a rule is given, in UTF-8. */
export const maxCaseBytes = 16_000

export type CaseStores = { readonly policies: Pick<PolicyStore, 'find'>; readonly cases: CaseStore }
export type GatewayCaseStores = { readonly gatewayCases: CaseStore<GatewayCase> }

type NewCase<C extends AnyCase> = Pick<
  C,
  'says' | 'given' | 'expected' | 'weight' | 'origin' | 'eventId' | 'tags' | 'labelledBy'
>

/** Fields that are left out stay as they are. */
type CaseUpdate<C extends AnyCase> = Partial<Pick<C, 'says' | 'given' | 'expected' | 'weight' | 'tags'>> & {
  readonly revision: number
  readonly labelledBy: string
}

/** Where the cases of one kind of owner are, and how the audit log names changes of them. */
type CaseKind<C extends AnyCase, Stores> = {
  readonly auditKind: 'policy_case' | 'gateway_case'
  storeOf(stores: Stores): CaseStore<C>
  /** Throws if there is no such owner. */
  requireOwner(stores: Stores, owner: CaseOwner<C>): Promise<unknown>
  /** For messages: `the policy pol_…`. */
  nameOf(owner: CaseOwner<C>): string
}

const ofPolicies: CaseKind<PolicyCase, CaseStores> = {
  auditKind: 'policy_case',
  storeOf: ({ cases }) => cases,
  requireOwner: ({ policies }, { organizationId, policyId }) => findPolicy(policies, organizationId, policyId),
  nameOf: ({ policyId }) => `the policy ${policyId}`,
}

const ofGateway: CaseKind<GatewayCase, GatewayCaseStores> = {
  auditKind: 'gateway_case',
  storeOf: ({ gatewayCases }) => gatewayCases,
  requireOwner: () => Promise.resolve(),
  nameOf: () => 'the gateway configuration',
}

type CaseParts = { readonly ids: Ids; readonly clock: Clock }

export type Cases = ReturnType<typeof createCases>
export type GatewayCases = ReturnType<typeof createGatewayCases>

/** Creates, changes and deletes the cases of a policy. Audit records have no text of a case. */
export const createCases = (parts: CaseParts) => createMutations(parts, ofPolicies)

/** The same for the cases of the gateway configuration. */
export const createGatewayCases = (parts: CaseParts) => createMutations(parts, ofGateway)

function createMutations<C extends AnyCase, Stores>({ ids, clock }: CaseParts, kind: CaseKind<C, Stores>) {
  return {
    async create(stores: Stores, owner: CaseOwner<C>, input: NewCase<C>): Promise<WithAuditRecord<C>> {
      await kind.requireOwner(stores, owner)
      requireValid(input)
      const store = kind.storeOf(stores)
      if ((await store.count(owner)) >= maxCases)
        throw new Fault('conflict', 'case_limit_reached', `There may be ${maxCases} cases. Delete one first.`)
      const requestId = await requestOf(store, owner.organizationId, input.eventId)
      const nowMs = clock.nowMs()
      const times = { labelledAtMs: nowMs, createdAtMs: nowMs, updatedAtMs: nowMs }
      // The cast holds because owner and input have the fields of the same kind of case.
      const value = { ...owner, ...input, ...times, id: ids('case'), requestId, revision: 1 } as unknown as C
      await store.insert(value)
      return { value, record: recordOf(`${kind.auditKind}.created`, value, auditedFields(value)) }
    },

    async update(
      stores: Stores,
      at: CaseOwner<C> & { readonly id: string },
      { revision, labelledBy, ...changes }: CaseUpdate<C>,
    ): Promise<WithAuditRecord<C>> {
      const before = await find(kind, stores, at)
      if (before.revision !== revision) throw revisionConflict(before.revision, revision)
      const after: C = { ...before, ...changes }
      requireValid(after)
      const isSame = JSON.stringify(after) === JSON.stringify(before)
      if (isSame) return { value: before }
      const nowMs = clock.nowMs()
      const isLabelledAgain = JSON.stringify(after.expected) !== JSON.stringify(before.expected)
      const label = isLabelledAgain ? { labelledBy, labelledAtMs: nowMs } : {}
      const value: C = { ...after, ...label, revision: revision + 1, updatedAtMs: nowMs }
      if (!(await kind.storeOf(stores).replace(value)))
        throw revisionConflict((await find(kind, stores, at)).revision, revision)
      const details = { ...changedValues(auditedFields(before), auditedFields(after)), ...ownerFields(after) }
      return { value, record: recordOf(`${kind.auditKind}.updated`, value, details) }
    },

    async remove(stores: Stores, owner: CaseOwner<C>, id: string): Promise<WithAuditRecord<C>> {
      const value = await find(kind, stores, { ...owner, id })
      await kind.storeOf(stores).remove(owner, id)
      return { value, record: recordOf(`${kind.auditKind}.deleted`, value, auditedFields(value)) }
    },
  }
}

export const findCase = (stores: CaseStores, owner: CaseOwner, id: string): Promise<PolicyCase> =>
  find(ofPolicies, stores, { ...owner, id })

export const findGatewayCase = (
  stores: GatewayCaseStores,
  owner: CaseOwner<GatewayCase>,
  id: string,
): Promise<GatewayCase> => find(ofGateway, stores, { ...owner, id })

async function find<C extends AnyCase, Stores>(
  kind: CaseKind<C, Stores>,
  stores: Stores,
  at: CaseOwner<C> & { readonly id: string },
): Promise<C> {
  await kind.requireOwner(stores, at)
  const found = await kind.storeOf(stores).find(at, at.id)
  if (found) return found
  throw new Fault('not_found', 'not_found', `There is no case ${at.id} of ${kind.nameOf(at)}.`)
}

async function requestOf(
  store: Pick<CaseStore, 'requestOf'>,
  organizationId: string,
  eventId: string | null,
): Promise<string | null> {
  if (eventId === null) return null
  const requestId = await store.requestOf(organizationId, eventId)
  if (requestId === undefined) throw invalid('event_id', `there is no request with the event ${eventId}.`)
  return requestId
}

function requireValid({ given, expected }: Pick<AnyCase, 'given' | 'expected'>): void {
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

const recordOf = (kind: AuditRecord['kind'], { id }: AnyCase, details: AuditRecord['details']): AuditRecord => ({
  kind,
  resourceId: id,
  details,
})

const ownerFields = ({ policyId }: AnyCase) => (policyId === null ? {} : { policy_id: policyId })

/** Without the text. */
function auditedFields(one: AnyCase) {
  const { says, expected, weight, origin, eventId, tags } = one
  return {
    ...ownerFields(one),
    says,
    expect: expectationText(expected),
    weight,
    origin,
    event_id: eventId,
    tags: tags.join(', '),
  }
}

/** `match`, `no_match`, a decision, or the range: `2000 to 5000`. */
function expectationText(expected: AnyCase['expected']): string {
  if (typeof expected === 'string') return expected
  const { atLeast = 0, atMost = 10_000 } = expected
  return `${atLeast} to ${atMost}`
}

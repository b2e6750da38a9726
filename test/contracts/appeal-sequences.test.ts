import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { appealStore } from '../../src/adapters/stores/sql/policies/appeals.ts'
import { caseStore } from '../../src/adapters/stores/sql/policies/cases.ts'
import { exceptionStore } from '../../src/adapters/stores/sql/policies/exceptions.ts'
import { policyStore } from '../../src/adapters/stores/sql/policies/policies.ts'
import { createEncryption } from '../../src/base/encryption.ts'
import { isFault } from '../../src/base/fault.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import { appealOutcomes, type Appeal, type AppealOutcome } from '../../src/domain/appeals/appeal.ts'
import { createAppeals } from '../../src/domain/appeals/appeals.ts'
import { labelAnswers, type LabelAnswer } from '../../src/domain/appeals/label.ts'
import { createResolveAppeal } from '../../src/domain/appeals/resolve.ts'
import type { AuditRecord, WithAuditRecord } from '../../src/domain/mutations/audit-log.ts'
import { engines } from '../support/engines.ts'
import { createHandClock } from '../support/hand-clock.ts'

const people = ['adk_opener', 'adk_1', 'adk_2', 'adk_3', 'adk_4'] as const
const endMs = 1_000

type Step =
  | { readonly kind: 'review'; readonly by: string; readonly should: LabelAnswer }
  | { readonly kind: 'resolve'; readonly by: string; readonly outcome: AppealOutcome }
  | { readonly kind: 'expire' }
  | { readonly kind: 'pass'; readonly ms: number }

const by = fc.constantFrom(...people)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('review' as const), by, should: fc.constantFrom(...labelAnswers) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('resolve' as const), by, outcome: fc.constantFrom(...appealOutcomes) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'expire' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 499, 500, 1_000) }) },
)

/** What the rules say about a sequence of steps, in a few lines of their own. */
type Model = { state: string; nowMs: number; readonly labels: Map<string, LabelAnswer>; readonly events: string[] }

function expected(model: Model, one: Step, claim: Appeal['claim']): boolean {
  const isOpen = model.state === 'open' && model.nowMs < endMs
  if (one.kind === 'pass') {
    model.nowMs += one.ms
    return true
  }
  if (one.kind === 'expire') {
    if (model.state === 'open' && model.nowMs >= endMs) {
      model.state = 'expired'
      model.events.push('appeal.expired')
    }
    return true
  }
  if (!isOpen || one.by === 'adk_opener') return false
  if (one.kind === 'review') {
    if (model.labels.has(one.by)) return false
    model.labels.set(one.by, one.should)
    model.events.push('appeal.labelled')
    return true
  }
  const answers = [...model.labels.values()]
  const lead = answers.filter((each) => each === 'match').length - answers.filter((each) => each === 'no_match').length
  const isRight = claim === 'should_be_denied' ? lead > 0 : lead < 0
  const allowed = one.outcome === 'dismissed' || (lead !== 0 && (one.outcome === 'overturned') === isRight)
  if (!allowed) return false
  model.state = one.outcome
  model.events.push(`appeal.${one.outcome}`)
  return true
}

describe('any sequence of labels, resolutions and time', () => {
  it('leaves an appeal in the state that the rules say, with one event for each change', async () => {
    const [sqlite] = engines
    assert.ok(sqlite)
    await using database = await sqlite.open()
    const insert = 'insert into organization (id, name, changed_at, created_at) values ($1, $1, 1, 1)'
    await database.write([{ sql: insert, params: ['org_1'] }])
    const encryption = createEncryption(new Uint8Array(32), systemRandom)
    let count = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.boolean(), async (steps, isDenialClaimed) => {
        const { clock, advance } = createHandClock()
        const ids = createIds(clock, systemRandom)
        const appeals = createAppeals({ ids, clock })
        const never = () => Promise.reject(new Error('not used'))
        const resolve = createResolveAppeal({
          clock,
          cases: { create: never },
          policies: { update: never },
          exceptions: { create: never },
        })
        const claim = isDenialClaimed ? 'should_be_denied' : 'should_be_allowed'
        const appeal = newAppeal(`apl_${++count}`, claim)
        const at = { organizationId: 'org_1', id: appeal.id }
        const records: AuditRecord[] = []
        const mutate = async (work: (stores: Stores) => Promise<WithAuditRecord<unknown>>): Promise<boolean> => {
          try {
            const { record } = await database.transaction((tx) =>
              work({
                appeals: appealStore(tx, encryption),
                cases: caseStore(tx, encryption),
                policies: policyStore(tx),
                exceptions: exceptionStore(tx),
                events,
              }),
            )
            if (record) records.push(record)
            return true
          } catch (error) {
            if (isFault(error) && error.kind === 'conflict') return false
            throw error
          }
        }
        await database.transaction((tx) => appealStore(tx, encryption).insert(appeal))
        const model: Model = { state: 'open', nowMs: 0, labels: new Map(), events: [] }
        for (const one of steps) {
          const isAllowed = expected(model, one, claim)
          const isDone = await mutate(async (stores) => {
            if (one.kind === 'pass') return (advance(one.ms), { value: undefined })
            if (one.kind === 'expire') return appeals.expire(stores, at)
            if (one.kind === 'review') return appeals.review(stores, at, { by: one.by, should: one.should, note: null })
            const nothing = { reason: null, newCase: undefined, draft: undefined, exception: undefined }
            return resolve(stores, at, { by: one.by, outcome: one.outcome, ...nothing })
          })
          assert.equal(isDone, isAllowed, JSON.stringify(one))
        }
        const stored = await database.transaction((tx) => appealStore(tx, encryption).find('org_1', appeal.id))
        assert.equal(stored?.state, model.state)
        assert.deepEqual(
          records.map(({ kind }) => kind),
          model.events,
        )
      }),
      { numRuns: 200 },
    )
  })
})

type Stores = Parameters<ReturnType<typeof createResolveAppeal>>[0] & {
  readonly events: { readonly list: () => Promise<{ items: []; hasMore: false }> }
}

/** Nobody has seen a decision, and no text is kept. */
const events = {
  list: async () => ({ items: [] as [], hasMore: false as const }),
  find: async () => undefined,
  findRequest: async () => undefined,
}

const newAppeal = (id: string, claim: Appeal['claim']): Appeal => ({
  id,
  organizationId: 'org_1',
  eventId: `evt_${id}`,
  requestId: 'req_1',
  projectId: null,
  policyId: null,
  policyVersion: null,
  check: 'gateway',
  direction: 'request',
  claim,
  origin: 'administrator',
  openedBy: 'adk_opener',
  note: 'x',
  reason: null,
  state: 'open',
  caseId: null,
  openedAtMs: 0,
  expiresAtMs: endMs,
  closedAtMs: null,
  closedBy: null,
})

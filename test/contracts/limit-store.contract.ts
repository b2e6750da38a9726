import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LimitSettings, Rejected, AdmissionResult } from '../../src/domain/limits/admission.ts'
import { countOnly, type BudgetDemand, type BudgetUse } from '../../src/domain/limits/budget-counters.ts'
import { unlimited, type Limits, type ScopeLimits } from '../../src/domain/limits/scopes.ts'
import type { LimitStore } from '../../src/domain/limits/store.ts'

/** A fresh store, a new organization, and a clock that the test advances. */
export type World = { readonly store: LimitStore; readonly organization: string; readonly epoch: string; nowMs: number }
export type OpenWorld = (settings: LimitSettings) => Promise<World>

const settings: LimitSettings = { leaseMs: 30_000, holdMs: 900_000, countRejectedIn: 'key' }
const limitsWith = (scope: keyof Limits, values: Partial<ScopeLimits>): Limits => ({
  key: unlimited,
  project: unlimited,
  organization: unlimited,
  [scope]: { ...unlimited, ...values },
})

type Checked = { id?: string; tokens?: number; micro?: number; key?: string; budgets?: readonly BudgetDemand[] }

/** Helpers that the cases below use. */
function wordsFor(world: World) {
  const { store, organization, epoch } = world
  const subject = { organization, project: 'project', key: 'key' }
  let count = 0
  return {
    subject,
    pass: (ms: number): void => void (world.nowMs += ms),
    admit: async (limits: Limits, checked: Checked = {}) => {
      const { id = `request_${++count}`, tokens = 0, micro = null, key = 'key', budgets } = checked
      const demand = { tokens, micro, ...(budgets && { budgets }) }
      return store.admit({ ...subject, key, limits, mode: 'full', requestId: id, ...demand })
    },
    check: async (limits: Limits, { tokens = 0, micro = null }: { tokens?: number; micro?: number | null } = {}) =>
      store.admit({ ...subject, limits, mode: 'check', requestId: 'asked', tokens, micro }),
    count: async (limits: Limits) => store.admit({ ...subject, limits, mode: 'count' }),
    settle: async (id: string, used: { tokens?: number; micro?: number; budgets?: readonly BudgetUse[] } = {}) =>
      store.settle({ ...subject, requestId: id, tokens: 0, micro: 0, ...used }),
    renew: async (id: string) => store.renew([{ ...subject, requestId: id }]),
    grant: async (sliceId: string, amountMicro: number, opens = true) =>
      store.grant({ organization, epoch, sliceId, amountMicro, opens }),
    begin: async (token: number, ...names: string[]) =>
      world.store.countBudgets(countOf(world, { token, names, spent: null })),
    openWith: async (token: number, spent: number, ...names: string[]) =>
      world.store.countBudgets(countOf(world, { token, names, spent })),
    held: async (...counters: string[]) => store.heldBudgets(organization, counters),
    account: async () => (await store.accounts(organization))[0] ?? assert.fail('no account'),
  }
}

type Count = {
  readonly phase?: number
  readonly token: number
  readonly names: readonly string[]
  readonly spent: number | null
}

const countOf = ({ organization, epoch }: World, { token, names, spent, phase = 0 }: Count) => ({
  organization,
  epoch,
  token,
  counters: names.map((counter) => ({ counter, spent, phase, expiresAtMs: 9e15 })),
})

/** `unopened`, what is used of the budget that rejects the request, or `admitted`. */
function budgetVerdict(verdict: AdmissionResult): string | number {
  if (verdict.admitted) return 'admitted'
  assert.equal(verdict.reason, 'budget')
  return verdict.budget?.used ?? 'unopened'
}

function rejectionOf(verdict: AdmissionResult): Pick<Rejected, 'reason' | 'scope' | 'retryAfterMs'> {
  if (verdict.admitted) assert.fail('was admitted')
  const { reason, scope, retryAfterMs } = verdict
  return { reason, scope, retryAfterMs }
}

const noLimits: Limits = { key: unlimited, project: unlimited, organization: unlimited }

/** The contract of every limit store. */
export function limitStoreContract(name: string, skip: string | false, open: OpenWorld): void {
  const inWorld = (title: string, run: (words: ReturnType<typeof wordsFor>, world: World) => Promise<void>): void => {
    it(title, async () => {
      const world = await open(settings)
      await run(wordsFor(world), world)
    })
  }

  describe(`limit store: ${name}`, { skip }, () => {
    for (const scope of ['key', 'project', 'organization'] as const) {
      inWorld(`refuses the request after the last one that the ${scope} may make in a minute`, async ({ admit }) => {
        const limits = limitsWith(scope, { rpm: 2 })
        assert.equal((await admit(limits)).admitted, true)
        assert.equal((await admit(limits)).admitted, true)
        assert.deepEqual(rejectionOf(await admit(limits)), { reason: 'rpm', scope, retryAfterMs: 61_000 })
      })
    }

    inWorld('counts nothing in any scope if one of them rejects the request', async ({ admit }) => {
      const rejected = await admit(
        { ...limitsWith('key', { rpm: 5, tpm: 5 }), organization: { ...unlimited, rpm: 9, tpm: 9 } },
        { tokens: 6 },
      )
      assert.equal(rejected.admitted, false)
      assert.equal(rejected.limitStatus.organization.rpm?.remaining, 9)
      assert.equal(rejected.limitStatus.organization.tpm?.remaining, 9)
      assert.equal(rejected.limitStatus.key.tpm?.remaining, 5)
    })

    inWorld('counts a rejected request against its key only, and the wait includes it', async ({ admit, pass }) => {
      const limits = { ...limitsWith('key', { rpm: 1 }), project: { ...unlimited, rpm: 9 } }
      await admit(limits)
      pass(10_000)
      const rejected = await admit(limits)
      assert.equal(rejected.limitStatus.project.rpm?.remaining, 8)
      assert.equal(rejectionOf(rejected).retryAfterMs, 61_000) // its own attempt has to leave the window first
    })

    inWorld('admits 60 of 200, and the next one after the retry delay of the last rejection', async (words) => {
      const limits = limitsWith('key', { rpm: 60 })
      const verdicts = await Promise.all(Array.from({ length: 200 }, () => words.admit(limits)))
      assert.equal(verdicts.filter(({ admitted }) => admitted).length, 60)
      words.pass((rejectionOf(verdicts.at(-1) ?? assert.fail()).retryAfterMs ?? 0) - 1)
      assert.equal((await words.check(limits)).admitted, false)
      words.pass(1)
      assert.equal((await words.admit(limits)).admitted, true)
    })

    inWorld('reports that waiting does not help a request larger than the limit', async ({ admit }) => {
      const rejected = await admit(limitsWith('key', { tpm: 10 }), { tokens: 11 })
      assert.deepEqual(rejectionOf(rejected), { reason: 'tpm', scope: 'key', retryAfterMs: null })
    })

    inWorld('names the longest of several waits', async ({ admit }) => {
      const limits = limitsWith('organization', { rpm: 1, rpd: 1, tpd: 5 })
      await admit(limits, { tokens: 5 })
      assert.equal(rejectionOf(await admit(limits, { tokens: 1 })).reason, 'rpd')
    })

    inWorld('reserves and counts nothing for a check, and answers as for the request', async (words) => {
      const { admit, check, grant, account } = words
      const limits = limitsWith('key', { rpm: 2, tpm: 10, concurrent: 1 })
      assert.equal(rejectionOf(await check(limits, { micro: 4 })).reason, 'credits')
      await grant('slice', 9)
      const checked = await check(limits, { tokens: 5, micro: 4 })
      assert.equal(checked.admitted, true)
      assert.deepEqual(checked.limitStatus.key.rpm, { limit: 2, remaining: 2, resetMs: 0 })
      assert.equal(checked.credits?.leftMicro, 9)
      await admit(limits, { tokens: 5 })
      const rejected = await check(limits, { tokens: 5 })
      assert.deepEqual(rejectionOf(rejected), { reason: 'concurrent', scope: 'key', retryAfterMs: 30_000 })
      assert.equal(rejected.limitStatus.key.rpm?.remaining, 1)
      assert.equal((await account()).holds.length, 1)
    })

    inWorld('counts a malformed request as a request and as nothing else', async ({ admit, count }) => {
      const limits = limitsWith('key', { rpm: 2, tpm: 5, concurrent: 1 })
      await admit(limits, { tokens: 5 })
      const counted = await count(limits)
      assert.equal(counted.admitted, true)
      assert.equal(counted.limitStatus.key.rpm?.remaining, 0)
      assert.equal(counted.limitStatus.key.concurrent?.remaining, 0)
      assert.equal(rejectionOf(await count(limits)).reason, 'rpm')
    })

    inWorld('admits a repeated request once', async ({ admit, grant }) => {
      const limits = limitsWith('key', { rpm: 1, concurrent: 1 })
      await grant('slice', 10)
      const first = await admit(limits, { id: 'same', micro: 6 })
      const second = await admit(limits, { id: 'same', micro: 6 })
      assert.deepEqual(second, { ...first, duplicate: true })
      assert.equal(second.credits?.leftMicro, 4)
    })

    inWorld('holds credits for a request that a node has contributed before its admission', async (words) => {
      const limits = limitsWith('key', { rpm: 1, concurrent: 1 })
      await words.admit(limits, { id: 'contributed', tokens: 5 })
      await words.grant('slice', 10)
      const admitted = await words.admit(limits, { id: 'contributed', tokens: 5, micro: 6 })
      assert.equal(admitted.admitted, true)
      assert.deepEqual([admitted.credits?.sliceId, admitted.credits?.leftMicro], ['slice', 4])
      const { holds } = await words.account()
      assert.deepEqual([holds.length, holds[0]?.micro, holds[0]?.sliceId], [1, 6, 'slice'])
    })

    inWorld('rejects a contributed request whose credits are missing, and frees its slot and tokens', async (words) => {
      const limits = limitsWith('key', { rpm: 9, tpm: 9, concurrent: 1 })
      await words.admit(limits, { id: 'contributed', tokens: 5 })
      await words.grant('slice', 5)
      const rejected = await words.admit(limits, { id: 'contributed', tokens: 5, micro: 6 })
      assert.equal(rejectionOf(rejected).reason, 'credits')
      assert.equal(rejected.limitStatus.key.concurrent?.remaining, 1)
      assert.equal(rejected.limitStatus.key.tpm?.remaining, 9)
      assert.deepEqual((await words.account()).holds, [])
    })

    inWorld('returns unused tokens to the time slot of their reservation', async ({ admit, settle, pass }) => {
      const limits = limitsWith('key', { tpm: 100 })
      await admit(limits, { id: 'early', tokens: 30 })
      pass(5_000)
      await admit(limits, { id: 'late', tokens: 50 })
      pass(1_000)
      assert.equal(await settle('late', { tokens: 0 }), 'settled')
      const { tpm } = (await admit(limits)).limitStatus.key
      assert.deepEqual(tpm, { limit: 100, remaining: 70, resetMs: 55_000 })
    })

    inWorld('returns no tokens that have already left the window', async ({ admit, settle, pass }) => {
      const limits = limitsWith('key', { tpm: 100 })
      await admit(limits, { id: 'early', tokens: 30 })
      pass(61_000)
      await admit(limits, { id: 'late', tokens: 50 })
      await settle('early', { tokens: 0 })
      assert.equal((await admit(limits)).limitStatus.key.tpm?.remaining, 50)
    })

    inWorld('counts over a sliding day', async ({ admit, pass }) => {
      const limits = limitsWith('organization', { rpd: 1 })
      await admit(limits)
      pass(24 * 3_600_000)
      const { retryAfterMs } = rejectionOf(await admit(limits))
      assert.ok(retryAfterMs !== null && retryAfterMs <= 3_600_000)
      pass(retryAfterMs)
      assert.equal((await admit(limits)).admitted, true)
    })

    inWorld('counts tokens beyond the reservation from the settlement on', async ({ admit, settle, pass }) => {
      const limits = limitsWith('key', { tpm: 100 })
      await admit(limits, { id: 'long', tokens: 10 })
      pass(5_000)
      await settle('long', { tokens: 130 })
      assert.deepEqual((await admit(limits)).limitStatus.key.tpm, { limit: 100, remaining: 0, resetMs: 61_000 })
      assert.equal(rejectionOf(await admit(limits, { tokens: 1 })).retryAfterMs, 61_000)
    })

    inWorld('settles once', async ({ admit, settle }) => {
      await admit(limitsWith('key', {}), { id: 'once' })
      assert.equal(await settle('once'), 'settled')
      assert.equal(await settle('once'), 'gone')
    })

    inWorld('frees the slot of a request that was not renewed', async ({ admit, pass }) => {
      const limits = limitsWith('project', { concurrent: 1 })
      await admit(limits)
      pass(10_000)
      assert.deepEqual(rejectionOf(await admit(limits)), {
        reason: 'concurrent',
        scope: 'project',
        retryAfterMs: 20_000,
      })
      pass(20_000)
      assert.equal((await admit(limits)).admitted, true)
    })

    inWorld('keeps the slot of a request that is renewed, even after it expired', async (words) => {
      const { admit, renew, pass } = words
      const limits = limitsWith('key', { concurrent: 1 })
      await admit(limits, { id: 'stream' })
      pass(40_000)
      await renew('stream')
      pass(29_999)
      assert.equal(rejectionOf(await admit(limits)).retryAfterMs, 1)
    })

    inWorld('does not restore the slot of a request that was settled', async ({ admit, renew, settle }) => {
      const limits = limitsWith('key', { concurrent: 1 })
      await admit(limits, { id: 'done' })
      await settle('done')
      await renew('done')
      assert.equal((await admit(limits)).admitted, true)
    })

    inWorld('does not renew a request past its deadline', async ({ admit, renew, pass }) => {
      const limits = limitsWith('key', { concurrent: 1 })
      await admit(limits, { id: 'endless' })
      pass(900_000)
      await renew('endless')
      assert.equal((await admit(limits)).admitted, true)
    })

    inWorld('checks credits after every limit, and counts nothing if they do not suffice', async ({ admit, grant }) => {
      const limits = limitsWith('key', { rpm: 1 })
      assert.equal(rejectionOf(await admit(limits, { micro: 5 })).reason, 'credits')
      assert.equal(await grant('slice', 5), 'granted')
      assert.equal((await admit(limits, { micro: 5 })).admitted, true)
      assert.equal(rejectionOf(await admit(limits, { micro: 5 })).reason, 'rpm')
    })

    inWorld(
      'books an answer that costs more than its estimate as debt, which blocks the next request',
      async (words) => {
        const { admit, settle, grant } = words
        const limits = limitsWith('key', {})
        await grant('slice', 10)
        await admit(limits, { id: 'dear', micro: 10 })
        await settle('dear', { micro: 12 })
        const rejected = await admit(limits, { micro: 0 })
        assert.deepEqual(rejected.credits?.leftMicro, -2)
        assert.equal(rejectionOf(rejected).reason, 'credits')
      },
    )

    inWorld(
      'raises a slice to its whole amount, however often and in whatever order the grants arrive',
      async (words) => {
        const { admit, grant, account } = words
        await grant('slice', 10)
        await admit(limitsWith('key', {}), { micro: 4 })
        assert.equal(await grant('slice', 30), 'granted')
        assert.equal(await grant('slice', 20), 'granted')
        assert.equal(await grant('slice', 30), 'granted')
        const { slice } = await account()
        assert.deepEqual([slice?.amountMicro, slice?.leftMicro], [30, 26])
      },
    )

    inWorld('does not raise an unknown slice, because the spending of it would be lost', async (words) => {
      const { grant, account } = words
      assert.equal(await grant('lost', 50, false), 'stale')
      await grant('other', 5)
      assert.equal(await grant('lost', 50, false), 'taken')
      assert.equal(await grant('other', 8, false), 'granted')
      assert.equal((await account()).slice?.leftMicro, 8)
    })

    inWorld(
      'has one slice at a time and none of another life of the store',
      async ({ grant, subject }, { store, epoch }) => {
        await grant('first', 10)
        assert.equal(await grant('second', 10), 'taken')
        const { organization } = subject
        assert.equal(
          await store.grant({ organization, epoch: 'another', sliceId: 'old', amountMicro: 10, opens: true }),
          'stale',
        )
        assert.equal(await store.close({ organization, epoch, sliceId: 'first' }), 'closed')
        assert.equal(await grant('second', 10), 'granted')
      },
    )

    inWorld('settles a hold of a closed slice without touching the next one', async (words, { store, epoch }) => {
      const { admit, settle, grant, account, subject } = words
      await grant('first', 10)
      await admit(limitsWith('key', {}), { id: 'slow', micro: 10 })
      await store.close({ organization: subject.organization, epoch, sliceId: 'first' })
      await grant('second', 10)
      assert.equal(await settle('slow', { micro: 3 }), 'settled')
      assert.equal((await account()).slice?.leftMicro, 10)
    })

    inWorld('keeps an overdue hold until the reconciler settles it', async (words) => {
      const { admit, settle, grant, account, pass } = words
      await grant('slice', 10)
      await admit(limitsWith('key', {}), { id: 'orphan', tokens: 3, micro: 7 })
      pass(900_000)
      const { slice, holds } = await account()
      assert.equal(slice?.leftMicro, 3)
      const hold = {
        requestId: 'orphan',
        project: 'project',
        key: 'key',
        tokens: 3,
        micro: 7,
        sliceId: 'slice',
        overdue: true,
      }
      assert.deepEqual(holds, [hold])
      assert.equal(await settle('orphan', { micro: 0 }), 'settled')
      assert.equal((await account()).slice?.leftMicro, 10)
    })

    inWorld(
      'holds, settles and releases what a request uses of budgets',
      async ({ admit, settle, begin, openWith }) => {
        const budgets = (amount: number) => [{ counter: 'bud_a', limit: 100, amount, phase: 0 }]
        assert.equal(budgetVerdict(await admit(noLimits, { budgets: budgets(1) })), 'unopened')
        await begin(1, 'bud_a')
        assert.equal(budgetVerdict(await admit(noLimits, { budgets: budgets(1) })), 'unopened')
        await openWith(1, 40, 'bud_a')
        assert.equal(budgetVerdict(await admit(noLimits, { id: 'first', budgets: budgets(50) })), 'admitted')
        assert.equal(budgetVerdict(await admit(noLimits, { budgets: budgets(11) })), 90)
        await settle('first', { budgets: [{ counter: 'bud_a', amount: 20 }] })
        assert.equal(budgetVerdict(await admit(noLimits, { id: 'second', budgets: budgets(40) })), 'admitted')
        assert.equal(budgetVerdict(await admit(noLimits, { budgets: budgets(1) })), 100)
        await settle('second', { budgets: [] })
        assert.equal(budgetVerdict(await admit(noLimits, { budgets: budgets(40) })), 'admitted')
      },
    )

    inWorld('holds a request in no budget if one of them rejects it', async ({ admit, begin, openWith }) => {
      await begin(1, 'bud_a', 'bud_b')
      await openWith(1, 0, 'bud_a', 'bud_b')
      const demand = (counter: string, limit: number) => ({ counter, limit, amount: 5, phase: 0 })
      const both = [demand('bud_a', 5), demand('bud_b', 4)]
      const rejected = await admit(noLimits, { budgets: both })
      assert.ok(!rejected.admitted)
      assert.deepEqual([rejected.budget?.index, rejected.budget?.used], [1, 0])
      assert.equal(budgetVerdict(await admit(noLimits, { budgets: [demand('bud_a', 5)] })), 'admitted')
    })

    inWorld('counts nothing in any limit if a budget rejects the request', async ({ admit, begin, openWith }) => {
      await begin(1, 'bud_a')
      await openWith(1, 0, 'bud_a')
      const limits = limitsWith('key', { rpm: 5, tpm: 50 })
      const rejected = await admit(limits, {
        tokens: 9,
        budgets: [{ counter: 'bud_a', limit: 1, amount: 2, phase: 0 }],
      })
      assert.equal(rejected.admitted, false)
      assert.deepEqual([rejected.limitStatus.key.rpm?.remaining, rejected.limitStatus.key.tpm?.remaining], [5, 50])
    })

    inWorld('never rejects a request for a budget that only counts', async ({ admit, begin, openWith }) => {
      await begin(1, 'bud_a')
      await openWith(1, 90, 'bud_a')
      const demand = (limit: number) => [{ counter: 'bud_a', limit, amount: 20, phase: 0 }]
      assert.equal(budgetVerdict(await admit(noLimits, { budgets: demand(countOnly) })), 'admitted')
      assert.equal(budgetVerdict(await admit(noLimits, { budgets: demand(100) })), 110)
    })

    inWorld('adds what is settled while the ledger is read', async ({ admit, settle, begin, openWith }) => {
      const budgets = [{ counter: 'bud_a', limit: 100, amount: 10, phase: 0 }]
      await begin(1, 'bud_a')
      await openWith(1, 0, 'bud_a')
      await admit(noLimits, { id: 'first', budgets })
      await settle('another', { budgets: [{ counter: 'bud_a', amount: 0 }] })
      await begin(2, 'bud_a')
      await settle('first', { budgets: [{ counter: 'bud_a', amount: 7 }] })
      await openWith(2, 80, 'bud_a')
      assert.equal(
        budgetVerdict(await admit(noLimits, { budgets: [{ counter: 'bud_a', limit: 100, amount: 14, phase: 0 }] })),
        87,
      )
    })

    inWorld('keeps what is held when a counter is opened again', async ({ admit, settle, begin, openWith }) => {
      const budgets = [{ counter: 'bud_a', limit: 100, amount: 30, phase: 0 }]
      await begin(1, 'bud_a')
      await openWith(1, 0, 'bud_a')
      await admit(noLimits, { id: 'first', budgets })
      await settle('another', { budgets: [{ counter: 'bud_a', amount: 0 }] })
      await begin(2, 'bud_a')
      await openWith(2, 60, 'bud_a')
      assert.equal(budgetVerdict(await admit(noLimits, { budgets })), 90)
      await settle('first', { budgets: [{ counter: 'bud_a', amount: 1 }] })
      assert.equal(
        budgetVerdict(await admit(noLimits, { budgets: [{ counter: 'bud_a', limit: 100, amount: 40, phase: 0 }] })),
        61,
      )
    })

    inWorld('opens a counter with the later of two counts', async ({ admit, begin, openWith }) => {
      const budgets = [{ counter: 'bud_a', limit: 100, amount: 100, phase: 0 }]
      await begin(1, 'bud_a')
      await begin(2, 'bud_a')
      await openWith(1, 10, 'bud_a')
      assert.equal(budgetVerdict(await admit(noLimits, { budgets })), 'unopened')
      await openWith(2, 20, 'bud_a')
      assert.equal(budgetVerdict(await admit(noLimits, { budgets })), 20)
    })

    inWorld('opens a counter again for a request of a later phase of its budget', async (words, world) => {
      const { admit } = words
      const budgets = (phase: number) => [{ counter: 'bud_a', limit: 100, amount: 10, phase }]
      const count = async (phase: number, spent: number | null) =>
        world.store.countBudgets(countOf(world, { token: phase, phase, names: ['bud_a'], spent }))
      await count(4, null)
      await count(4, 0)
      assert.equal(budgetVerdict(await admit(noLimits, { budgets: budgets(4) })), 'admitted')
      assert.equal(budgetVerdict(await admit(noLimits, { budgets: budgets(3) })), 'admitted')
      assert.equal(budgetVerdict(await admit(noLimits, { budgets: budgets(5) })), 'unopened')
      await count(5, null)
      await count(5, 75)
      assert.equal(budgetVerdict(await admit(noLimits, { budgets: budgets(5) })), 95)
    })

    inWorld('knows what requests hold of a counter', async ({ admit, settle, begin, openWith, held }) => {
      await begin(1, 'bud_a', 'bud_b')
      await openWith(1, 0, 'bud_a', 'bud_b')
      const of = (counter: string, amount: number) => ({ counter, limit: 1_000, amount, phase: 0 })
      await admit(noLimits, { id: 'first', budgets: [of('bud_a', 70), of('bud_b', 5)] })
      await admit(noLimits, { id: 'second', budgets: [of('bud_a', 30)] })
      assert.deepEqual(await held('bud_b', 'bud_none', 'bud_a'), [5, 0, 100])
      await settle('first', {
        budgets: [
          { counter: 'bud_a', amount: 12 },
          { counter: 'bud_b', amount: 1 },
        ],
      })
      assert.deepEqual(await held('bud_a', 'bud_b'), [30, 0])
    })

    inWorld('does not open a counter again that is open', async ({ admit, begin, openWith }) => {
      const budgets = [{ counter: 'bud_a', limit: 100, amount: 100, phase: 0 }]
      await begin(1, 'bud_a')
      await openWith(1, 10, 'bud_a')
      await begin(2, 'bud_a')
      await openWith(2, 20, 'bud_a')
      assert.equal(budgetVerdict(await admit(noLimits, { budgets })), 10)
    })

    inWorld(
      'closes a counter if a request settles that it did not hold',
      async ({ admit, settle, begin, openWith }) => {
        const budgets = [{ counter: 'bud_a', limit: 100, amount: 1, phase: 0 }]
        await begin(1, 'bud_a')
        await openWith(1, 0, 'bud_a')
        await admit(noLimits, { id: 'without' })
        await settle('without', { budgets: [{ counter: 'bud_a', amount: 7 }] })
        assert.equal(budgetVerdict(await admit(noLimits, { budgets })), 'unopened')
        await settle('unknown', { budgets: [{ counter: 'bud_a', amount: 7 }] })
        await begin(2, 'bud_a')
        await settle('other', { budgets: [{ counter: 'bud_a', amount: 7 }] })
        await openWith(2, 14, 'bud_a')
        assert.equal(
          budgetVerdict(await admit(noLimits, { budgets: [{ counter: 'bud_a', limit: 100, amount: 80, phase: 0 }] })),
          21,
        )
      },
    )

    inWorld('closes a counter if nobody knows what its request used', async ({ admit, settle, begin, openWith }) => {
      const budgets = [{ counter: 'bud_a', limit: 100, amount: 50, phase: 0 }]
      await begin(1, 'bud_a')
      await openWith(1, 0, 'bud_a')
      await admit(noLimits, { id: 'first', budgets })
      await settle('first')
      assert.equal(budgetVerdict(await admit(noLimits, { budgets })), 'unopened')
      await begin(2, 'bud_a')
      await openWith(2, 50, 'bud_a')
      assert.equal(budgetVerdict(await admit(noLimits, { budgets })), 'admitted')
    })

    inWorld('does not advance after the clock moved back a little', async ({ admit, pass }) => {
      const limits = limitsWith('key', { rpm: 1 })
      await admit(limits)
      pass(-4_000)
      assert.equal(rejectionOf(await admit(limits)).retryAfterMs, 61_000)
    })

    inWorld('makes no request wait for a day that a wrong clock had skipped', async ({ admit, pass }) => {
      const limits = limitsWith('project', { rpm: 1 })
      pass(86_400_000)
      await admit(limits)
      pass(-86_400_000)
      assert.equal(rejectionOf(await admit(limits)).retryAfterMs, 61_000)
      pass(61_000)
      assert.equal((await admit(limits)).admitted, true)
    })
  })
}

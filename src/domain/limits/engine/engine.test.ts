import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { LimitSettings, AdmissionResult } from '../admission.ts'
import { createLimitEngine } from './engine.ts'
import { limitScopes, unlimited, type Limits, type ScopeLimits } from '../scopes.ts'

const startMs = 1_760_000_000_000
const settings: LimitSettings = { leaseMs: 30_000, holdMs: 900_000, countRejectedIn: 'key' }

const scopeLimits: fc.Arbitrary<ScopeLimits> = fc.record({
  rpm: fc.integer({ min: 0, max: 6 }),
  rpd: fc.constantFrom(0, 10, 20),
  tpm: fc.constantFrom(0, 10, 40),
  tpd: fc.constantFrom(0, 60),
  concurrent: fc.integer({ min: 0, max: 4 }),
})
const limitsArbitrary: fc.Arbitrary<Limits> = fc.record({
  key: scopeLimits,
  project: scopeLimits,
  organization: scopeLimits,
})

const noLimits: Limits = { key: unlimited, project: unlimited, organization: unlimited }

type Attempt = { readonly key: number; readonly tokens: number; readonly afterMs: number; readonly settles: boolean }
const attempts: fc.Arbitrary<Attempt[]> = fc.array(
  fc.record({
    key: fc.nat(2),
    tokens: fc.nat(12),
    // Small steps and steps about a window long; at times the clock steps back.
    afterMs: fc.oneof(fc.nat(3_000), fc.integer({ min: 55_000, max: 62_000 }), fc.integer({ min: -5_000, max: -1 })),
    settles: fc.boolean(),
  }),
  { minLength: 5, maxLength: 60, size: 'max' },
)

/** A manual clock, an engine, and a function that requests admission. */
function createScene(limits: Limits, rules: LimitSettings = settings) {
  const time = { nowMs: startMs }
  const engine = createLimitEngine({ nowMs: () => time.nowMs, epoch: 'life', settings: rules })
  const admit = ({ key, tokens }: Pick<Attempt, 'key' | 'tokens'>, requestId: string): AdmissionResult =>
    engine.admit({ ...subjectOf(key), limits, mode: 'full', requestId, tokens, micro: null })
  const leave = ({ key, tokens }: Pick<Attempt, 'key' | 'tokens'>, requestId: string) =>
    engine.settle({ ...subjectOf(key), requestId, tokens, micro: 0 })
  return { time, engine, admit, leave }
}

const subjectOf = (key: number) => ({ organization: 'org', project: `project_${key % 2}`, key: `key_${key}` })

describe('the engine', () => {
  it('never admits more than the limit in any 60 seconds of any scope', () => {
    fc.assert(
      fc.property(limitsArbitrary, attempts, (limits, list) => {
        const { time, admit, leave } = createScene(limits)
        const admitted: (Attempt & { readonly atMs: number })[] = []
        let clockMs = 0 // the organization's own clock: the highest time seen
        for (const [at, attempt] of list.entries()) {
          time.nowMs += attempt.afterMs
          clockMs = Math.max(clockMs, time.nowMs)
          if (!admit(attempt, `request_${at}`).admitted) continue
          admitted.push({ ...attempt, atMs: clockMs })
          if (attempt.settles) leave(attempt, `request_${at}`)
          for (const scope of limitScopes) {
            const recent = admitted.filter(
              (other) =>
                other.atMs >= clockMs - 60_000 && subjectOf(other.key)[scope] === subjectOf(attempt.key)[scope],
            )
            const { rpm, tpm } = limits[scope]
            if (rpm > 0) assert.ok(recent.length <= rpm)
            if (tpm > 0 && attempt.tokens > 0) assert.ok(recent.reduce((sum, other) => sum + other.tokens, 0) <= tpm)
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  it('never admits more than the limit in any 24 hours, and counts nothing that is older than 25', () => {
    const hourMs = 3_600_000
    const attempt = fc.record({
      tokens: fc.nat(12),
      settles: fc.boolean(),
      // Bursts, hours, and about a day to the millisecond.
      afterMs: fc.oneof(
        fc.nat(60_000),
        fc.integer({ min: 0, max: 5 * hourMs }),
        fc.constantFrom(24 * hourMs - 1, 24 * hourMs, 24 * hourMs + 1, 25 * hourMs),
      ),
    })
    const days = fc.record({ rpd: fc.integer({ min: 1, max: 6 }), tpd: fc.constantFrom(0, 15, 40) })
    fc.assert(
      fc.property(
        days,
        fc.nat(hourMs),
        fc.array(attempt, { minLength: 10, maxLength: 80, size: 'max' }),
        (limit, at, list) => {
          const limits = { key: unlimited, project: unlimited, organization: { ...unlimited, ...limit } }
          const { time, admit, leave } = createScene(limits, { ...settings, countRejectedIn: 'none' })
          time.nowMs += at // the window does not start on the hour
          const admitted: { readonly atMs: number; readonly tokens: number }[] = []
          const within = (ms: number) => {
            const recent = admitted.filter(({ atMs }) => atMs >= time.nowMs - ms)
            return { requests: recent.length, tokens: recent.reduce((sum, { tokens }) => sum + tokens, 0) }
          }
          for (const [number, { tokens, settles, afterMs }] of list.entries()) {
            time.nowMs += afterMs
            const verdict = admit({ key: 0, tokens }, `request_${number}`)
            if (verdict.admitted) {
              admitted.push({ atMs: time.nowMs, tokens })
              const { requests, tokens: used } = within(24 * hourMs)
              assert.ok(requests <= limit.rpd)
              assert.ok(limit.tpd === 0 || tokens === 0 || used <= limit.tpd)
              if (settles) leave({ key: 0, tokens }, `request_${number}`)
            } else {
              const { requests, tokens: used } = within(25 * hourMs)
              assert.ok(requests + 1 > limit.rpd || used + tokens > limit.tpd)
            }
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it('reports the shortest wait after which the same request is admitted', () => {
    const countRejectedSettings = fc.constantFrom<LimitSettings['countRejectedIn']>('none', 'key', 'all')
    fc.assert(
      fc.property(limitsArbitrary, attempts, countRejectedSettings, (limits, list, countRejectedIn) => {
        const replay = () => {
          const scene = createScene(limits, { ...settings, countRejectedIn: countRejectedIn })
          for (const [at, attempt] of list.entries()) {
            scene.time.nowMs += Math.abs(attempt.afterMs)
            const verdict = scene.admit(attempt, `request_${at}`)
            if (!verdict.admitted) return { ...scene, attempt, waitMs: verdict.retryAfterMs }
            if (attempt.settles) scene.leave(attempt, `request_${at}`)
          }
          return null
        }
        for (const [earlierMs, passes] of [
          [0, true],
          [1, false],
        ] as const) {
          const rejected = replay()
          if (rejected === null || rejected.waitMs === null) return
          rejected.time.nowMs += rejected.waitMs - earlierMs
          assert.equal(rejected.admit(rejected.attempt, 'again').admitted, passes)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('never has more requests in flight than a scope has slots, and frees all slots once their leases expire', () => {
    fc.assert(
      fc.property(limitsArbitrary, attempts, (limits, list) => {
        const { time, engine, admit } = createScene(limits)
        for (const [at, attempt] of list.entries()) {
          time.nowMs += Math.abs(attempt.afterMs)
          const { limitStatus } = admit(attempt, `request_${at}`)
          for (const scope of limitScopes) assert.ok((limitStatus[scope].concurrent?.remaining ?? 0) >= 0)
        }
        time.nowMs += settings.leaseMs
        for (const key of [0, 1, 2]) {
          const { limitStatus } = engine.admit({ ...subjectOf(key), limits, mode: 'count' })
          for (const scope of limitScopes) {
            const slots = limitStatus[scope].concurrent
            assert.equal(slots?.remaining, slots?.limit)
          }
        }
      }),
      { numRuns: 200 },
    )
  })

  it('accounts for every micro-credit: all granted credits are left, held or spent', () => {
    const step = fc.record({ id: fc.nat(9), micro: fc.nat(20), used: fc.nat(25), grant: fc.nat(60), move: fc.nat(3) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
        const { time, engine } = createScene({ key: unlimited, project: unlimited, organization: unlimited })
        const limits = { key: unlimited, project: unlimited, organization: unlimited }
        let granted = 0
        let spent = 0
        for (const { id, micro, used, grant, move } of steps) {
          const request = { ...subjectOf(0), requestId: `request_${id}` }
          time.nowMs += move * 400_000
          if (move === 0) {
            granted += grant
            engine.grant({ organization: 'org', epoch: 'life', sliceId: 'slice', amountMicro: granted, opens: true })
          } else if (move === 1) {
            if (engine.settle({ ...request, tokens: 0, micro: used }) === 'settled') spent += used
          } else {
            engine.admit({ ...request, limits, mode: 'full', tokens: 0, micro })
          }
          const [account] = engine.accounts('org')
          const held = account?.holds.reduce((sum, hold) => sum + (hold.micro ?? 0), 0) ?? 0
          assert.equal((account?.slice?.leftMicro ?? 0) + held + spent, granted)
        }
      }),
      { numRuns: 200 },
    )
  })

  it('keeps a bounded number of counters of budgets, and those with holds', () => {
    const { engine } = createScene(noLimits)
    const subject = { organization: 'org', project: 'p', key: 'k', limits: noLimits, tokens: 0, micro: null }
    const demand = (user: number) => ({ budgets: [{ counter: `bud_1=${user}`, limit: 9, amount: 1, phase: 0 }] })
    const isOpen = (user: number): boolean =>
      engine.admit({ ...subject, ...demand(user), mode: 'check', requestId: '' }).admitted
    const batch = 1_000
    for (let from = 0; from < 150_000; from += batch) {
      const names = Array.from({ length: batch }, (_, at) => `bud_1=${from + at}`)
      for (const spent of [null, 0]) {
        const counters = names.map((counter) => ({ counter, spent, phase: 0, expiresAtMs: Infinity }))
        engine.countBudgets({ organization: 'org', epoch: 'life', token: from, counters })
      }
      if (from === 0) engine.admit({ ...subject, ...demand(7), mode: 'full', requestId: 'held' })
    }
    const open = Array.from({ length: 150_000 }, (_, user) => user).filter(isOpen)
    assert.ok(open.length > 90_000 && open.length <= 101_000, `${open.length}`)
    assert.ok(open.includes(7) && open.includes(149_999))
  })

  it('rejects amounts that are not whole, before anything is counted', () => {
    const { admit } = createScene({ key: { ...unlimited, rpm: 1 }, project: unlimited, organization: unlimited })
    assert.throws(() => admit({ key: 0, tokens: 1.5 }, 'half'), RangeError)
    assert.throws(() => admit({ key: 0, tokens: -1 }, 'negative'), RangeError)
    assert.equal(admit({ key: 0, tokens: 1 }, 'whole').admitted, true)
  })
})

import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import type { DeliveryStore } from '../../src/domain/audit/export/delivery-store.ts'
import type { DeliveryOutcome } from '../../src/domain/audit/export/sink.ts'
import { createSenders } from '../../src/pipeline/export/senders.ts'
import { engines } from '../support/engines.ts'
import { leaseMs, openExportStore } from '../support/export-store.ts'
import { memorySink } from '../support/memory-sink.ts'

/** Actions in any order: events are written, a destination gives any response, a sender is killed at any point. */
type Step =
  | { readonly kind: 'append'; readonly count: number }
  | {
      readonly kind: 'send'
      readonly answers: readonly DeliveryOutcome['kind'][]
      readonly dies: 'never' | 'before it sends' | 'before it settles'
    }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('append' as const), count: fc.integer({ min: 1, max: 12 }) }),
  fc.record({
    kind: fc.constant('send' as const),
    answers: fc.array(fc.constantFrom('delivered' as const, 'retry' as const, 'reject' as const, 'pause' as const), {
      maxLength: 8,
    }),
    dies: fc.constantFrom('never' as const, 'before it sends' as const, 'before it settles' as const),
  }),
)

const outcomeOf = (kind: DeliveryOutcome['kind']): DeliveryOutcome =>
  kind === 'delivered'
    ? { kind }
    : kind === 'pause'
      ? { kind, state: 'auth_error', reason: 'p' }
      : { kind, reason: 'r' }

it('every event arrives in order or becomes a dead letter, and no cursor is ahead of the delivered events', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), runScript), { numRuns: 25 })
})

async function runScript(script: readonly Step[]): Promise<void> {
  const [sqlite] = engines
  await using database = await (sqlite ?? assert.fail()).open()
  const scene = await openExportStore(database)
  const { id } = await scene.addSink()
  const taken = new Set<number>()
  const rejected = new Set<number>()
  const firstSeen: number[] = []
  for (const each of [...script, { kind: 'append', count: 1 } as const]) {
    if (each.kind === 'append') await scene.log.append(each.count)
    else await sendOnce(each)
    await assertBehind()
  }
  for (let round = 0; round < 5; round++) await sendOnce({ kind: 'send', answers: [], dies: 'never' })
  await assertAllThere()

  async function sendOnce({ answers, dies }: Extract<Step, { kind: 'send' }>): Promise<void> {
    let next = 0
    const sink = memorySink({
      goal: { events: 5 },
      answer: (batch) =>
        upToFirstStop(
          batch.map(({ metadata }) => {
            const outcome = outcomeOf(answers[next++] ?? 'delivered')
            return { sequence: metadata.sequence, outcome }
          }),
        ),
    })
    scene.log.clock.passMs(2 * 60 * 60 * 1000 + leaseMs) // past every wait and every lease
    await using senders = createSenders({
      store: dying(scene.node(`node ${scene.log.clock.nowMs()}`), dies),
      clock: scene.log.clock,
      random: { bytes: (count) => new Uint8Array(count), fraction: () => 0.5 },
      watermarks: { alarmAfterMs: Infinity, alarmAfterEvents: Infinity },
      leaseMs,
      open: () => sink,
      onOutcome: () => {},
      onError: () => {},
    })
    await senders.sendDue()
  }

  /** Like a sink: events after the first retry were not sent. */
  function upToFirstStop(tried: readonly { sequence: number; outcome: DeliveryOutcome }[]): DeliveryOutcome[] {
    const stop = tried.find(({ outcome }) => outcome.kind === 'retry' || outcome.kind === 'pause')
    return tried.map(({ sequence, outcome }) => {
      if (stop && sequence >= stop.sequence) return stop.outcome
      if (!firstSeen.includes(sequence)) firstSeen.push(sequence)
      ;(outcome.kind === 'delivered' ? taken : rejected).add(sequence)
      return outcome
    })
  }

  async function cursorAndDeadLetters() {
    const [row] = await database.read<{ sequence: number }>('select sequence from export_cursor where sink_id = $1', [
      id,
    ])
    const letters = await database.read<{ sequence: number }>('select sequence from export_dead_letter')
    return { cursor: row?.sequence ?? 0, letters: new Set(letters.map(({ sequence }) => sequence)) }
  }

  async function assertBehind(): Promise<void> {
    const { cursor, letters } = await cursorAndDeadLetters()
    for (let at = 1; at <= cursor; at++)
      assert.ok(taken.has(at) || (rejected.has(at) && letters.has(at)), `event ${at}`)
    assert.deepEqual(
      firstSeen,
      firstSeen.toSorted((left, right) => left - right),
    )
  }

  async function assertAllThere(): Promise<void> {
    const { head } = (await scene.log.reads.chainState('org_1')) ?? assert.fail()
    const { cursor, letters } = await cursorAndDeadLetters()
    assert.equal(cursor, head.sequence)
    for (let at = 1; at <= head.sequence; at++) assert.ok(taken.has(at) || letters.has(at), `event ${at} is lost`)
    assert.equal((await scene.log.verify()).finding, undefined)
  }
}

/** A store whose process is killed at this call. */
function dying(store: DeliveryStore, dies: 'never' | 'before it sends' | 'before it settles'): DeliveryStore {
  const dead = async (): Promise<never> => Promise.reject(new Error('killed'))
  if (dies === 'never') return store
  const gone = { release: dead, renew: dead }
  return dies === 'before it sends' ? { ...store, ...gone, plan: dead } : { ...store, ...gone, settle: dead }
}

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { publishKeys, signDueChains } from '../../src/adapters/stores/sql/audit/checkpoints.ts'
import { trimChains } from '../../src/adapters/stores/sql/audit/retention.ts'
import type { DeliveryOutcome } from '../../src/domain/audit/export/sink.ts'
import { createSenders, type SenderParts } from '../../src/pipeline/export/senders.ts'
import { engines } from '../support/engines.ts'
import { leaseMs, openExportStore } from '../support/export-store.ts'
import { delivered, memorySink, sequencesOf, type MemorySink } from '../support/memory-sink.ts'

const dayMs = 24 * 60 * 60 * 1000
const retry: DeliveryOutcome = { kind: 'retry', reason: 'busy' }

describe('senders', () => {
  it('gather until the sink’s wait or goal is reached, and send in order', async () => {
    await using scene = await openScene()
    const { sink } = await scene.add(memorySink({ goal: { events: 4 } }))
    await scene.log.append(3)
    await scene.send()
    assert.deepEqual(sequencesOf(sink.batches), [])
    scene.log.clock.passMs(1_000)
    await scene.send()
    await scene.log.append(9)
    await scene.send()
    assert.deepEqual(
      sink.batches.map((batch) => sequencesOf([batch])),
      [
        [1, 2, 3],
        [4, 5, 6, 7],
        [8, 9, 10, 11],
      ],
    )
    scene.log.clock.passMs(1_000)
    await scene.send()
    assert.deepEqual(sequencesOf(sink.batches), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  })

  it('bound the texts of a batch, and read none for a sink without texts', async () => {
    await using scene = await openScene()
    const prompt = 'x'.repeat(3_000_000)
    const withTexts = await scene.add(memorySink({ choice: { content: 'full' } }))
    const without = await scene.add(memorySink())
    await scene.log.append(6, { content: { full: { prompt } } })
    await scene.sendLater()
    await scene.sendLater()
    assert.deepEqual(
      withTexts.sink.batches.map((batch) => batch.map(({ message_context: context }) => context?.prompt_text?.length)),
      [Array(3).fill(3_000_000), Array(3).fill(3_000_000)],
    )
    assert.deepEqual(
      without.sink.batches.map((batch) => batch.length),
      [6],
    )
  })

  it('repeat a batch exactly after an outage, even if events were appended meanwhile', async () => {
    await using scene = await openScene()
    let isDown = true
    const { sink } = await scene.add(memorySink({ answer: (batch) => batch.map(() => (isDown ? retry : delivered)) }))
    await scene.log.append(5)
    await scene.sendLater()
    await scene.log.append(5)
    await scene.sendLater(dayMs)
    isDown = false
    await scene.sendLater(dayMs)
    assert.deepEqual(
      sink.batches.slice(0, 3).map((batch) => batch.length),
      [5, 5, 5],
    )
    assert.deepEqual(sequencesOf(sink.batches.slice(2)).slice(0, 10), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('continue after the clock was set back', async () => {
    await using scene = await openScene()
    const { sink } = await scene.add(memorySink())
    await scene.log.append(1)
    await scene.send()
    scene.log.clock.passMs(-10 * dayMs)
    await scene.log.append(1)
    await scene.sendLater()
    assert.deepEqual(sequencesOf(sink.batches), [1, 2])
  })

  it('wait for the requested delay, and show it', async () => {
    await using scene = await openScene()
    const { sink, health } = await scene.add(
      memorySink({
        answer: (batch) => batch.map(() => ({ kind: 'retry', reason: 'slow down', retryAfterMs: 60_000 })),
      }),
    )
    await scene.log.append(1)
    await scene.sendLater()
    await scene.sendLater(59_000)
    assert.equal(sink.batches.length, 1)
    const { state, nextAttemptAtMs, lastError, backlogEvents } = await health()
    assert.deepEqual([state, nextAttemptAtMs !== null, lastError, backlogEvents], ['throttled', true, 'slow down', 1])
    await scene.sendLater(2_000)
    assert.equal(sink.batches.length, 2)
  })

  it('make only a bad event a dead letter, report it, and replay it on request', async () => {
    await using scene = await openScene()
    let isMended = false
    const judge = (message: string): DeliveryOutcome =>
      message === 'event 2' && !isMended ? { kind: 'reject', reason: 'mapping' } : delivered
    const { sink, id, health } = await scene.add(
      memorySink({ answer: (batch) => batch.map(({ message }) => judge(message)) }),
    )
    await scene.log.append(5)
    await scene.sendLater()
    await scene.sendLater()
    assert.deepEqual(sequencesOf(sink.batches), [1, 2, 3, 4, 5, 6], 'the event that reports it is sent as well')
    assert.equal((await health()).deadLetters, 1)
    isMended = true
    await scene.within(async (store) => store.replay((await store.find('org_1', id)) ?? assert.fail(), undefined))
    await scene.sendLater()
    assert.deepEqual([(await health()).deadLetters, sequencesOf(sink.batches).at(-1)], [0, 3])
  })

  it('are not blocked by a dead letter that was damaged in the log', async () => {
    await using scene = await openScene()
    const { sink, id, health } = await scene.add(
      memorySink({
        answer: (batch) =>
          batch.map(({ message }) => (message === 'event 2' ? { kind: 'reject', reason: 'mapping' } : delivered)),
      }),
    )
    await scene.log.append(5)
    await scene.sendLater()
    await scene.database.write([{ sql: 'update audit_body set body = substr(body, 1, 99) where sequence = 3' }])
    await scene.within(async (store) => store.replay((await store.find('org_1', id)) ?? assert.fail(), undefined))
    await scene.log.append(1)
    await scene.sendLater()
    assert.deepEqual([sequencesOf(sink.batches).at(-1), (await health()).deadLetters, scene.errors], [7, 1, []])
  })

  it('pause without dropping anything, report it once, and report the recovery', async () => {
    await using scene = await openScene()
    let isWrong = true
    const { health } = await scene.add(
      memorySink({
        answer: (batch) =>
          batch.map(() => (isWrong ? { kind: 'pause', state: 'auth_error', reason: 'token' } : delivered)),
      }),
    )
    await scene.log.append(3)
    await scene.sendLater()
    await scene.sendLater(3_600_000)
    assert.deepEqual([(await health()).state, (await health()).backlogEvents], ['auth_error', 4])
    isWrong = false
    await scene.sendLater(3_600_000)
    await scene.sendLater()
    assert.deepEqual([(await health()).state, (await health()).backlogEvents], ['healthy', 0])
    assert.deepEqual(await scene.codes('export'), ['export.auth_error', 'export.recovered'])
  })

  it('report the recovery of a paused sink even if it was changed or unreachable in between', async () => {
    await using scene = await openScene()
    let outcome: DeliveryOutcome = { kind: 'pause', state: 'auth_error', reason: 'token' }
    const { id, health } = await scene.add(memorySink({ answer: (batch) => batch.map(() => outcome) }))
    await scene.log.append(1)
    await scene.sendLater()
    outcome = retry
    await scene.change(id)
    await scene.sendLater()
    assert.equal((await health()).state, 'retrying')
    outcome = delivered
    await scene.sendLater(dayMs / 2)
    await scene.sendLater()
    assert.deepEqual(await scene.codes('export'), ['export.auth_error', 'export.recovered'])
  })

  it('retry a changed sink at once, with its new configuration', async () => {
    await using scene = await openScene()
    const paused: DeliveryOutcome = { kind: 'pause', state: 'config_error', reason: 'index' }
    const { sink, id, health } = await scene.add(memorySink({ answer: (batch) => batch.map(() => paused) }))
    await scene.log.append(1)
    await scene.sendLater()
    await scene.change(id)
    await scene.send()
    assert.equal(sink.batches.length, 2)
    assert.equal(sink.closed, 1, 'what was open before the change is closed')
    assert.equal((await health()).state, 'config_error')
  })

  it('apply the filter, and add the configured texts', async () => {
    await using scene = await openScene()
    const plain = await scene.add(memorySink())
    const chosen = await scene.add(memorySink({ choice: { content: 'full', filter: { event_types: ['policy'] } } }))
    await scene.log.append(2)
    await scene.log.append(1, { code: 'policy.updated', content: { full: { rule: 'no', prompt: 'p' } } })
    await scene.sendLater()
    assert.deepEqual(sequencesOf(plain.sink.batches), [1, 2, 3])
    assert.deepEqual(sequencesOf(chosen.sink.batches), [3])
    assert.equal(plain.sink.batches[0]?.[2]?.unmapped.gatehouse['rule_text'], undefined)
    assert.equal(chosen.sink.batches[0]?.[0]?.unmapped.gatehouse['rule_text'], 'no')
    assert.equal((await chosen.health()).backlogEvents, 0)
  })

  it('continue after a gap of removed events, and report it', async () => {
    await using scene = await openScene()
    await publishKeys(scene.log.checkpoints)
    const { sink, id } = await scene.add(memorySink())
    await scene.change(id, { enabled: false })
    for (let day = 0; day < 5; day++) {
      await scene.log.append(2)
      await signDueChains(scene.log.checkpoints)
      scene.log.clock.passMs(dayMs)
    }
    const { clock, events, reads } = scene.log
    await trimChains({ database: scene.database, clock, events, keepMs: 2 * dayMs, maxBacklogMs: 14 * dayMs })
    const { firstSequence } = (await reads.chainState('org_1')) ?? assert.fail()
    await scene.change(id, { enabled: true })
    await scene.sendLater()
    assert.equal(sequencesOf(sink.batches)[0], firstSequence)
    const { items } = await reads.list('org_1', { code: 'export.gap' }, { limit: 9, order: 'desc' })
    const { first_sequence: first, last_sequence: last } = items[0]?.document.unmapped.gatehouse ?? {}
    assert.deepEqual([items.length, first, last], [1, 1, firstSequence - 1])
  })

  it('skip an event that was damaged in the log, and report it', async () => {
    await using scene = await openScene()
    const { sink, health } = await scene.add(memorySink({ choice: { content: 'full' } }))
    await scene.log.append(6)
    const damage = 'update audit_body set body = substr(body, 1, 99) where sequence in (1, 4)'
    const texts = `insert into audit_content (organization_id, sequence, content) values ('org_1', 5, '{')`
    await scene.database.write([{ sql: damage }, { sql: texts }])
    await scene.sendLater()
    await scene.sendLater()
    assert.deepEqual(sequencesOf(sink.batches), [2, 3, 6, 7, 8, 9])
    assert.deepEqual([(await health()).backlogEvents, scene.errors], [0, []])
    const alarms = sink.batches.flat().slice(-3)
    assert.deepEqual(
      alarms.map(({ metadata, severity_id: severity, unmapped }) => [
        metadata.event_code,
        severity,
        unmapped.gatehouse['sequence'],
      ]),
      [
        ['audit.tamper_found', 5, 1],
        ['audit.tamper_found', 5, 4],
        ['audit.tamper_found', 5, 5],
      ],
    )
  })

  it('raise one alarm when events have waited too long, and report when the backlog is delivered', async () => {
    await using scene = await openScene()
    let isDown = true
    await scene.add(memorySink({ answer: (batch) => batch.map(() => (isDown ? retry : delivered)) }))
    await scene.log.append(2)
    for (let hour = 0; hour < 30; hour++) await scene.sendLater(3_600_000)
    assert.deepEqual(await scene.codes('export'), ['export.backlog_alarm'])
    isDown = false
    for (let round = 0; round < 4; round++) await scene.sendLater(3_600_000)
    assert.deepEqual(await scene.codes('export'), ['export.backlog_alarm', 'export.recovered'])
  })

  it('do not let a slow destination delay another', async () => {
    await using scene = await openScene()
    const slow = Promise.withResolvers<readonly DeliveryOutcome[]>()
    const first = await scene.add(memorySink({ answer: () => slow.promise }))
    const second = await scene.add(memorySink())
    await scene.log.append(1)
    scene.log.clock.passMs(1_000)
    const running = scene.send()
    while (second.sink.batches.length === 0 || first.sink.batches.length === 0) await turn()
    await scene.log.append(1)
    scene.log.clock.passMs(1_000)
    const again = scene.send()
    while (second.sink.batches.length < 2) await turn()
    assert.equal(first.sink.batches.length, 1)
    slow.resolve([delivered])
    await Promise.all([running, again])
  })

  it('show an error of the gateway, and retry', async () => {
    await using scene = await openScene()
    let isBroken = true
    const { sink, health } = await scene.add(
      memorySink({
        answer(batch) {
          if (isBroken) throw new TypeError('a bug of ours')
          return batch.map(() => delivered)
        },
      }),
    )
    const unopened = await scene.addSink()
    await scene.log.append(2)
    await scene.sendLater()
    const stored = await scene.within((store) => store.find('org_1', unopened.id))
    for (const { state, lastError } of [await health(), stored?.health ?? assert.fail()]) {
      assert.deepEqual([state, lastError], ['retrying', 'The gateway could not send; see its own log.'])
    }
    assert.ok(scene.errors.some((error) => /a bug of ours/.test(String(error))))
    isBroken = false
    await scene.sendLater()
    assert.deepEqual(sequencesOf(sink.batches.slice(1)), [1, 2])
  })

  it('abort if another node has taken over, and store nothing', async () => {
    await using scene = await openScene({ after: realAfter })
    const { sink, id } = await scene.add(
      memorySink({
        answer: async (_batch, signal) => {
          scene.log.clock.passMs(leaseMs)
          await scene.node('other').claim(id)
          // The renewal may have detected it by now.
          if (!signal.aborted) await once(signal, 'abort')
          throw signal.reason
        },
      }),
    )
    await scene.log.append(1)
    scene.log.clock.passMs(1_000)
    await scene.send()
    assert.equal(sink.batches.length, 1)
    assert.match(String(scene.errors[0]), /another node/)
    scene.log.clock.passMs(leaseMs)
    assert.equal((await scene.node('third').claim(id))?.cursor.sequence, 0)
  })
})

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A clock that runs a thousand times as fast, so that leases are renewed during a test. */
const realAfter = (delayMs: number, callback: () => void): (() => void) => {
  const timer = setTimeout(callback, delayMs / 1_000)
  return () => clearTimeout(timer)
}

async function openScene(chosen: { after?: SenderParts['clock']['after'] } = {}) {
  const [sqlite] = engines
  const database = await (sqlite ?? assert.fail()).open()
  const store = await openExportStore(database)
  const { log } = store
  const sinks = new Map<string, MemorySink>()
  const errors: unknown[] = []
  const senders = createSenders({
    store: store.node('this'),
    clock: { ...log.clock, ...chosen },
    random: { bytes: (count) => new Uint8Array(count), fraction: () => 0.5 },
    watermarks: { alarmAfterMs: dayMs, alarmAfterEvents: 1_000 },
    leaseMs,
    open: ({ id }) => sinks.get(id) ?? assert.fail(),
    onOutcome: () => {},
    onError: (error) => void errors.push(error),
  })
  const health = async (id: string) =>
    (await store.within((exports) => exports.find('org_1', id)))?.health ?? assert.fail()
  return {
    ...store,
    database,
    errors,
    send: () => senders.sendDue(),
    /** Sends after all sinks have waited long enough for more events. */
    sendLater(ms = 1_000) {
      log.clock.passMs(ms)
      return senders.sendDue()
    },
    async add(sink: MemorySink) {
      const { id } = await store.addSink()
      sinks.set(id, sink)
      return { id, sink, health: () => health(id) }
    },
    change: (id: string, fields: { enabled?: boolean } = {}) =>
      store.within(async (exports) => {
        const { health: _health, ...sink } = (await exports.find('org_1', id)) ?? assert.fail()
        const changed = { ...sink, ...fields, version: sink.version + 1 }
        assert.ok(await exports.replace(changed, await exports.secretsOf(sink)))
      }),
    codes: async (family: string) =>
      (await log.reads.list('org_1', { family }, { limit: 99, order: 'asc' })).items.map(
        ({ document }) => document.metadata.event_code,
      ),
    async [Symbol.asyncDispose]() {
      await senders[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

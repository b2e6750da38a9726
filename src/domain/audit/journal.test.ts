import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Fault } from '../../base/fault.ts'
import type { AuditEvent } from './event/event.ts'
import { createEventMaker } from './event/event-maker.ts'
import type { EventFacts } from './event/facts.ts'
import { createJournal, type JournalParts } from './journal.ts'
import { rejectsWith } from '../../../test/support/rejects-with.ts'

type Append = { readonly organizationId: string; readonly messages: readonly string[]; readonly mayRepeat: boolean }

/** A journal over a log with scripted results, one for each append; `release` lets the oldest held append finish. */
function scene(results: readonly (Error | 'ok' | 'held')[] = [], parts: Partial<JournalParts> = {}) {
  const appends: Append[] = []
  const held: (() => void)[] = []
  const lost: number[] = []
  let nowMs = 1_000
  let setBackMs = 0
  let made = 0
  const clock = { nowMs: () => nowMs - setBackMs, monotonicMs: () => nowMs, after: () => () => {} }
  const journal = createJournal({
    appender: {
      async append(organizationId, events, mayRepeat = false) {
        const result = results[appends.length] ?? 'ok'
        appends.push({ organizationId, messages: messagesOf(events), mayRepeat })
        if (result === 'held') await new Promise<void>((resolve) => held.push(resolve))
        if (result instanceof Error) throw result
      },
    },
    events: createEventMaker({
      clock,
      ids: () => `evt_${made++}`,
      authorities: () => [{ uid: 'installation', textsKey: new Uint8Array(32) }],
      productVersion: '0',
    }),
    clock,
    isAuditRequired: () => true,
    backlog: null,
    onLost: (count) => void lost.push(count),
    ...parts,
  })
  return {
    appends,
    lost,
    record: (message: string, organizationId = 'org_1') =>
      journal.record(organizationId, () => facts(message, organizationId)),
    journal,
    release: () => held.shift()?.(),
    passMs: (ms: number) => void (nowMs += ms),
    setBack: (ms: number) => void (setBackMs += ms),
  }
}

const facts = (message: string, organizationId = 'org_1'): EventFacts => ({
  code: 'gateway.request.decided',
  organizationId,
  timeMs: 1,
  message,
})

const outage = new Fault('unavailable', 'storage_unavailable', 'gone')
const messagesOf = (events: readonly AuditEvent[]) => events.map(({ document }) => document.message)
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('the journal', () => {
  it('writes events that arrive together with one append, and events that arrive meanwhile with the next', async () => {
    const { record, release, appends } = scene(['held'])
    const first = [record('a'), record('b')]
    await turn()
    const second = [record('c'), record('d')]
    await turn()
    assert.deepEqual(
      appends.map(({ messages }) => messages),
      [['a', 'b']],
    )
    release()
    await Promise.all([...first, ...second])
    assert.deepEqual(
      appends.map(({ messages }) => messages),
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    )
  })

  it('includes events that are recorded because the group before has finished', async () => {
    const { record, release, appends } = scene(['held'])
    const first = record('a')
    await turn()
    const rest = [record('b'), first.then(() => record('c'))]
    release()
    await Promise.all(rest)
    assert.deepEqual(
      appends.map(({ messages }) => messages),
      [['a'], ['b', 'c']],
    )
  })

  it('resolves only after the append', async () => {
    const { record, release } = scene(['held'])
    let isDurable = false
    const recorded = record('a').then(() => (isDurable = true))
    await turn()
    assert.equal(isDurable, false)
    release()
    await recorded
  })

  it('does not let a slow append of one organization delay another', async () => {
    const { record, release, appends } = scene(['held'])
    const slow = record('a', 'org_1')
    await record('b', 'org_2')
    assert.deepEqual(
      appends.map(({ organizationId }) => organizationId),
      ['org_1', 'org_2'],
    )
    release()
    await slow
  })

  it('builds an event when it is written, not before', async () => {
    const { journal, record, release } = scene(['held'])
    const first = record('a')
    await turn()
    let isBuilt = false
    const second = journal.record('org_1', () => ((isBuilt = true), facts('b')))
    await turn()
    assert.equal(isBuilt, false)
    release()
    await Promise.all([first, second])
  })

  it('retries a failed append once, with mayRepeat', async () => {
    const { record, appends, lost } = scene([outage, 'ok'])
    await record('a')
    assert.deepEqual(
      appends.map(({ messages, mayRepeat }) => [messages, mayRepeat]),
      [
        [['a'], false],
        [['a'], true],
      ],
    )
    assert.deepEqual(lost, [])
  })

  it('does not extend the cooldown if the clock is set back meanwhile', async () => {
    const { record, passMs, setBack } = scene([outage, outage])
    await assert.rejects(record('a'))
    setBack(3_600_000)
    passMs(1_000)
    await record('b')
  })

  it('rejects while the log cannot be written, counts lost events, and records their number afterwards', async () => {
    const { record, appends, lost, passMs } = scene([outage, outage])
    const group = [record('a'), record('b')]
    for (const recorded of group) await assert.rejects(recorded, rejectsWith('audit_unavailable'))
    assert.deepEqual(lost, [2])
    passMs(1_000)
    await record('c')
    await record('d')
    assert.deepEqual(appends.at(-2)?.messages, ['2 events could not be written to the audit log.', 'c'])
    assert.deepEqual(appends.at(-1)?.messages, ['d'])
  })

  it('resolves and counts the loss if audit is not required', async () => {
    const { record, lost } = scene([outage, outage], { isAuditRequired: () => false })
    await record('a')
    assert.deepEqual(lost, [1])
  })

  it('spools events if audit is not required, and loses those that cannot be spooled', async () => {
    const kept: string[][] = []
    const keep = async (events: readonly AuditEvent[]): Promise<void> => {
      if (kept.length === 1) throw new Error('full')
      kept.push(messagesOf(events))
    }
    const isAuditRequired = (organizationId: string): boolean => organizationId === 'strict'
    const { record, lost } = scene([outage, outage], { isAuditRequired, backlog: { keep } })
    await Promise.all([record('a'), record('b')])
    assert.deepEqual([kept, lost], [[['a', 'b']], []])
    await assert.rejects(record('c', 'strict'), rejectsWith('audit_unavailable'))
    assert.deepEqual([kept.length, lost], [1, [1]])
    await record('d')
    assert.deepEqual(lost, [1, 1])
  })

  it('does not try storage for every request while it is unavailable', async () => {
    const { record, appends, passMs } = scene([outage, outage], { isAuditRequired: () => false })
    await record('a')
    await record('b')
    assert.equal(appends.length, 2)
    passMs(1_000)
    await record('c')
    assert.equal(appends.length, 3)
  })

  it('skips storage only for the organization whose rows are locked, and tries a locked append once', async () => {
    const locked = new Fault('unavailable', 'storage_locked', 'locked')
    const { record, appends } = scene([locked], { isAuditRequired: () => false })
    await record('a')
    await record('b')
    await record('c', 'org_2')
    assert.deepEqual(
      appends.map(({ organizationId }) => organizationId),
      ['org_1', 'org_2'],
    )
  })

  it('rejects isRequired after a failed write, until the log can be written again', async () => {
    const { journal, record, appends, lost, passMs } = scene([outage, outage, outage, outage])
    assert.equal(journal.isRequired('org_1'), true)
    await assert.rejects(record('a'), rejectsWith('audit_unavailable'))
    await assert.rejects(async () => journal.isRequired('org_1'), rejectsWith('audit_unavailable'))
    assert.equal(appends.length, 2) // storage was not tried again
    passMs(1_000)
    await assert.rejects(async () => journal.isRequired('org_2'), rejectsWith('audit_unavailable'))
    assert.deepEqual([appends.length, lost], [4, [1]]) // a test of the log loses no event
    passMs(1_000)
    assert.equal(await journal.isRequired('org_1'), true)
    assert.deepEqual(appends.at(-1)?.messages, ['1 event could not be written to the audit log.'])
    assert.equal(journal.isRequired('org_1'), true)
  })

  it('rejects isRequired during an outage that another component detected, and tries storage when it ends', async () => {
    let known: Fault | undefined = outage
    const { journal, record, appends } = scene([], { outage: () => known })
    await assert.rejects(async () => journal.isRequired('org_1'), rejectsWith('audit_unavailable'))
    await assert.rejects(record('a'), rejectsWith('audit_unavailable'))
    assert.equal(appends.length, 0)
    known = undefined
    assert.equal(await journal.isRequired('org_1'), true)
    assert.deepEqual(appends[0]?.messages, ['1 event could not be written to the audit log.'])
  })

  it('rejects isRequired only for the organization whose chain cannot be extended', async () => {
    const { journal, record } = scene([new Error('broken chain'), new Error('broken chain')])
    await assert.rejects(record('a'), rejectsWith('audit_unavailable'))
    assert.equal(journal.isRequired('org_2'), true)
    assert.equal(await journal.isRequired('org_1'), true) // writable again
  })

  it('uses the requirement that was known when the answer began', async () => {
    const isAuditRequired = () => Promise.reject(new Error('cannot be read'))
    const { journal, lost } = scene([outage, outage], { isAuditRequired })
    const begun = await Promise.allSettled([
      journal.record('org_1', () => facts('a'), { isRequired: false }),
      journal.record('org_1', () => facts('b'), { isRequired: true }),
      journal.record('org_1', () => facts('c')),
    ])
    assert.deepEqual(
      begun.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected'],
    )
    assert.deepEqual(lost, [3])
  })

  it('spools the event of a request that failed before the requirement could be read', async () => {
    const isAuditRequired = () => Promise.reject(new Error('cannot be read'))
    const spooled: string[] = []
    const backlog = { keep: async (events: readonly AuditEvent[]) => void spooled.push(...messagesOf(events)) }
    const { record, lost } = scene([outage, outage], { isAuditRequired, backlog })
    assert.equal(await record('a'), true)
    assert.deepEqual([spooled, lost], [['a'], []])
  })

  it('counts an event that cannot be built as lost if audit is not required', async () => {
    const { journal, lost } = scene()
    const make = () => {
      throw new Error('no facts')
    }
    assert.equal(await journal.record('org_1', make, { isRequired: false }), false)
    assert.deepEqual(lost, [1])
  })

  it('writes the other events of the group if one cannot be built', async () => {
    const { journal, record, appends } = scene()
    const broken = journal.record('org_1', () => {
      throw new Error('no facts')
    })
    const valid = record('a')
    await assert.rejects(broken, /no facts/)
    await valid
    assert.deepEqual(
      appends.map(({ messages }) => messages),
      [['1 event could not be written to the audit log.', 'a']],
    )
  })
})

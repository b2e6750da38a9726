import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Fault } from '../../base/fault.ts'
import type { AuditEvent } from './event/event.ts'
import { createEventMaker } from './event/event-maker.ts'
import type { EventFacts } from './event/facts.ts'
import { createJournal, type JournalParts } from './journal.ts'
import { rejectsWith } from '../../../test/support/rejects-with.ts'

type Append = { readonly organizationId: string; readonly messages: readonly string[]; readonly mayRepeat: boolean }

/** A journal over a log that answers each append as it is told to; `release` lets the oldest one finish. */
function scene(answers: readonly (Error | 'ok' | 'held')[] = [], parts: Partial<JournalParts> = {}) {
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
        const answer = answers[appends.length] ?? 'ok'
        appends.push({ organizationId, messages: messagesOf(events), mayRepeat })
        if (answer === 'held') await new Promise<void>((resolve) => held.push(resolve))
        if (answer instanceof Error) throw answer
      },
    },
    events: createEventMaker({
      clock,
      ids: () => `evt_${made++}`,
      authorities: () => [{ uid: 'house', textsKey: new Uint8Array(32) }],
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
  it('writes what is recorded together with one append, and what arrives meanwhile with the next', async () => {
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

  it('takes along what the end of the group before has set free', async () => {
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

  it('resolves only once the append has', async () => {
    const { record, release } = scene(['held'])
    let isDurable = false
    const recorded = record('a').then(() => (isDurable = true))
    await turn()
    assert.equal(isDurable, false)
    release()
    await recorded
  })

  it('keeps organizations apart: one that waits holds up no other', async () => {
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

  it('tries a failed append once more, and says that it may be a repetition', async () => {
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

  it('rests no longer where the clock is set back meanwhile', async () => {
    const { record, passMs, setBack } = scene([outage, outage])
    await assert.rejects(record('a'))
    setBack(3_600_000)
    passMs(1_000)
    await record('b')
  })

  it('refuses where the log cannot be written, counts what is lost, and tells of it when it can', async () => {
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

  it('goes on and counts where that was decided', async () => {
    const { record, lost } = scene([outage, outage], { isAuditRequired: () => false })
    await record('a')
    assert.deepEqual(lost, [1])
  })

  it('keeps events on its own disk where answers do not need the log, and loses those that this disk does not take', async () => {
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

  it('does not ask storage that is away for every request anew', async () => {
    const { record, appends, passMs } = scene([outage, outage], { isAuditRequired: () => false })
    await record('a')
    await record('b')
    assert.equal(appends.length, 2)
    passMs(1_000)
    await record('c')
    assert.equal(appends.length, 3)
  })

  it('says before an answer is begun that it would be refused, until the log can be written again', async () => {
    const { journal, record, appends, lost, passMs } = scene([outage, outage, outage, outage])
    assert.equal(journal.isRequired('org_1'), true)
    await assert.rejects(record('a'), rejectsWith('audit_unavailable'))
    await assert.rejects(async () => journal.isRequired('org_1'), rejectsWith('audit_unavailable'))
    assert.equal(appends.length, 2) // storage was not asked again
    passMs(1_000)
    await assert.rejects(async () => journal.isRequired('org_2'), rejectsWith('audit_unavailable'))
    assert.deepEqual([appends.length, lost], [4, [1]]) // asking loses nothing
    passMs(1_000)
    assert.equal(await journal.isRequired('org_1'), true)
    assert.deepEqual(appends.at(-1)?.messages, ['1 events could not be written to the audit log.'])
    assert.equal(journal.isRequired('org_1'), true)
  })

  it('says so too where others have found out that storage is away, and asks it as soon as they say otherwise', async () => {
    let known: Fault | undefined = outage
    const { journal, record, appends } = scene([], { outage: () => known })
    await assert.rejects(async () => journal.isRequired('org_1'), rejectsWith('audit_unavailable'))
    await assert.rejects(record('a'), rejectsWith('audit_unavailable'))
    assert.equal(appends.length, 0)
    known = undefined
    assert.equal(await journal.isRequired('org_1'), true)
    assert.deepEqual(appends[0]?.messages, ['1 events could not be written to the audit log.'])
  })

  it('says so for the one organization whose chain cannot be extended', async () => {
    const { journal, record } = scene([new Error('broken chain'), new Error('broken chain')])
    await assert.rejects(record('a'), rejectsWith('audit_unavailable'))
    assert.equal(journal.isRequired('org_2'), true)
    assert.equal(await journal.isRequired('org_1'), true) // found to be writable by now
  })

  it('holds an event to what was said when its answer began, whatever is wished for since', async () => {
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

  it('loses an event that cannot be built where its answer does not need it', async () => {
    const { journal, lost } = scene()
    const make = () => {
      throw new Error('no facts')
    }
    assert.equal(await journal.record('org_1', make, { isRequired: false }), false)
    assert.deepEqual(lost, [1])
  })

  it('loses no neighbour of an event that cannot be built', async () => {
    const { journal, record, appends } = scene()
    const broken = journal.record('org_1', () => {
      throw new Error('no facts')
    })
    const sound = record('a')
    await assert.rejects(broken, /no facts/)
    await sound
    assert.deepEqual(
      appends.map(({ messages }) => messages),
      [['1 events could not be written to the audit log.', 'a']],
    )
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMemorySpool } from '../../../test/support/memory-spool.ts'
import { Fault } from '../../base/fault.ts'
import { createAuditBacklog } from './backlog.ts'
import { createEvent, type AuditEvent } from './event/event.ts'

const eventOf = (id: string, organizationId = 'org_1'): AuditEvent =>
  createEvent(
    { code: 'gateway.request.decided', organizationId, timeMs: 1, message: id },
    { id, loggedMs: 2, productVersion: '0' },
  )

const idOf = ({ document }: AuditEvent): string => document.metadata.uid

/** A backlog over a spool in memory, and a log that rejects every append until `isBack`. */
async function scene(left: readonly AuditEvent[] = []) {
  const log: [organizationId: string, ids: string[], mayRepeat: boolean | undefined][] = []
  const state = { isBack: false, broken: '' }
  const spool = createMemorySpool(idOf, left)
  const backlog = await createAuditBacklog({
    spool,
    clock: { monotonicMs: () => 0 },
    onSetAside: () => {},
    appender: {
      async append(organizationId, events, mayRepeat) {
        if (!state.isBack) throw new Fault('unavailable', 'storage_unavailable', 'unavailable')
        if (organizationId === state.broken) throw new Error('broken chain')
        log.push([organizationId, events.map(idOf), mayRepeat])
      },
    },
  })
  return { backlog, log, state, spool }
}

describe('the backlog of the audit log', () => {
  it('keeps events until the log can be written, and appends them with mayRepeat', async () => {
    const { backlog, log, state, spool } = await scene()
    await backlog.keep([eventOf('a'), eventOf('b')])
    await backlog.keep([eventOf('c', 'org_2')])
    assert.equal(await backlog.flush(), false)
    assert.equal(backlog.waiting(), 3)
    state.isBack = true
    assert.equal(await backlog.flush(), true)
    assert.deepEqual(log, [
      ['org_1', ['a', 'b'], true],
      ['org_2', ['c'], true],
    ])
    assert.deepEqual([backlog.waiting(), await spool.count()], [0, 0])
  })

  it('writes what an earlier process left at the first retry that succeeds', async () => {
    const { backlog, log, state } = await scene([eventOf('left')])
    assert.equal(backlog.waiting(), 1)
    await assert.rejects(backlog.retry(), /unavailable/)
    state.isBack = true
    await backlog.retry()
    assert.equal(backlog.waiting(), 0)
    assert.deepEqual(log, [['org_1', ['left'], true]])
    await backlog.retry()
    assert.equal(log.length, 1)
  })

  it('appends the events of other organizations if the log of one rejects its events', async () => {
    const { backlog, log, state } = await scene([eventOf('bad', 'org_0'), eventOf('a')])
    state.isBack = true
    state.broken = 'org_0'
    await assert.rejects(backlog.retry(), /broken chain/)
    assert.deepEqual([log, backlog.waiting()], [[['org_1', ['a'], true]], 1])
  })

  it('is bounded: it rejects events above its limit', async () => {
    const { backlog, spool } = await scene()
    const many = Array.from({ length: 1_000 }, (_, at) => eventOf(`event ${at}`))
    for (let round = 0; round < 100; round++) await backlog.keep(many)
    await assert.rejects(backlog.keep([eventOf('one too many')]), /100000 events already wait/)
    assert.equal(await spool.count(), 1_000)
  })
})

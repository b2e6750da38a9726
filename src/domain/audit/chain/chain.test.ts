import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { anyFacts } from '../../../../test/support/event-facts.ts'
import { canonicalize } from '../event/canonical.ts'
import { appendToChain, startOfChain } from './chain.ts'
import { withContent } from '../event/content.ts'
import type { AuditDocument } from '../event/document.ts'
import { createEvent } from '../event/event.ts'
import { readChained, rowOfExport, type ChainedEvent } from './chained-event.ts'
import { verifyChain } from './verify.ts'

const from = startOfChain('org_1')

const documents = (count: number, word = 'event'): AuditDocument[] =>
  Array.from({ length: count }, (_, at) => {
    const facts = {
      code: 'gateway.request.decided',
      organizationId: 'org_1',
      timeMs: 1_000 + at,
      message: `${word} ${at}`,
      model: { provider: 'local', name: 'm' },
    } as const
    return createEvent(facts, { id: `evt_${at}`, loggedMs: 2_000, productVersion: '0.1.0' }).document
  })

const chainOf = (count: number) => appendToChain(from, documents(count), 'installation')
const rowAt = (rows: readonly ChainedEvent[], sequence: number): ChainedEvent => {
  const row = rows[sequence - 1]
  assert.ok(row)
  return row
}
const replaced = (rows: readonly ChainedEvent[], sequence: number, change: Partial<ChainedEvent>): ChainedEvent[] =>
  rows.map((row) => (row.sequence === sequence ? { ...row, ...change } : row))

describe('a chain', () => {
  it('is the same whether appended at once or one by one', () => {
    const [first, ...rest] = documents(3)
    assert.ok(first)
    const one = appendToChain(from, [first], 'installation')
    const two = appendToChain(one.head, rest, 'installation')
    assert.deepEqual([...one.rows, ...two.rows], chainOf(3).rows)
    assert.deepEqual(two.head, chainOf(3).head)
  })

  it('is valid with events whose fields are too long, and with events that were spooled as JSON', async () => {
    const facts = {
      code: 'gateway.request.decided',
      organizationId: 'org_1',
      timeMs: 1,
      message: 'long',
      call: { method: 'POST', path: '/v1/messages', userAgent: 'x'.repeat(5_000) },
    } as const
    const { document } = createEvent(facts, { id: 'evt_long', loggedMs: 2, productVersion: '0.1.0' })
    const kept = documents(2).map((each): AuditDocument => JSON.parse(JSON.stringify(each)))
    const { rows } = appendToChain(from, [document, ...kept], 'installation')
    assert.equal((await verifyChain(rows, { from })).finding, undefined)
    for (const { body } of rows) assert.equal(canonicalize(JSON.parse(body)), body)
  })

  it('numbers its events from 1 without a gap', () => {
    assert.deepEqual(
      chainOf(4).rows.map((row) => row.sequence),
      [1, 2, 3, 4],
    )
  })

  it('fingerprints the whole event but its own fingerprint, as OCSF defines it', () => {
    const { body, fingerprint } = rowAt(chainOf(2).rows, 2)
    const document = JSON.parse(body)
    const { prev_event: previous } = document.attestation_list[0]
    assert.equal(previous.fingerprint.value, rowAt(chainOf(2).rows, 1).fingerprint)
    assert.equal(previous.uid, 'evt_0')
    delete document.attestation_list[0].fingerprint
    assert.equal(createHash('sha256').update(canonicalize(document)).digest('hex'), fingerprint)
  })

  it('consists of canonical JSON with the fingerprint that OCSF defines, for any facts', () => {
    const parts = { id: 'evt_1', loggedMs: 2_000, productVersion: '0.1.0' }
    const factsLists = fc.array(anyFacts, { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(factsLists, (all) => {
        const events = all.map((facts) => createEvent(facts, parts).document)
        for (const { body, fingerprint } of appendToChain(from, events, 'installation').rows) {
          const document = JSON.parse(body)
          assert.equal(body, canonicalize(document))
          assert.equal(document.attestation_list[0].fingerprint.value, fingerprint)
          delete document.attestation_list[0].fingerprint
          assert.equal(createHash('sha256').update(canonicalize(document)).digest('hex'), fingerprint)
        }
      }),
    )
  })

  it('verifies from its start and from any event in it', async () => {
    const { rows, head } = chainOf(20)
    const whole = await verifyChain(rows, { from })
    assert.deepEqual(whole, { checked: 20, end: pointOf(head) })
    const tail = await verifyChain(rows.slice(12), { from: rowAt(rows, 12) })
    assert.deepEqual([tail.checked, tail.finding], [8, undefined])
  })

  it('stays valid when texts are erased, because it never contains them', async () => {
    const { rows } = chainOf(3)
    const exported = rows.map((row) => {
      const document = readChained(row.body)
      assert.ok(document)
      return JSON.stringify(withContent(document, { full: { prompt: 'p', response: 'r', rule: 'x' } }, 'full'))
    })
    const read = exported.map((line) => rowOfExport(line) ?? assert.fail(line))
    assert.deepEqual(read, rows)
    assert.equal((await verifyChain(read, { from })).finding, undefined)
  })
})

const pointOf = ({ chainUid, sequence, fingerprint }: ChainedEvent | ReturnType<typeof startOfChain>) => ({
  chainUid,
  sequence,
  fingerprint,
})

describe('verification names the first bad row', () => {
  const { rows, head } = chainOf(10)
  const finding = async (bad: readonly ChainedEvent[]) => (await verifyChain(bad, { from })).finding

  it('when a byte was flipped', async () => {
    const { body } = rowAt(rows, 6)
    const bad = replaced(rows, 6, { body: body.replace('event 5', 'event 4') })
    assert.deepEqual(await finding(bad), { sequence: 6, reason: 'altered' })
  })

  it('when a column differs from the body', async () => {
    assert.deepEqual(await finding(replaced(rows, 3, { code: 'policy.deleted' })), { sequence: 3, reason: 'altered' })
  })

  it('when only the format of the body was changed', async () => {
    const { body } = rowAt(rows, 4)
    assert.deepEqual(await finding(replaced(rows, 4, { body: body.replace(':', ': ') })), {
      sequence: 4,
      reason: 'altered',
    })
  })

  it('when a row was deleted, the first one included', async () => {
    for (const sequence of [1, 5]) {
      const bad = rows.filter((row) => row.sequence !== sequence)
      assert.deepEqual(await finding(bad), { sequence, reason: 'missing' })
    }
  })

  it('when two rows were swapped, in place or by content', async () => {
    const [three, seven] = [rowAt(rows, 3), rowAt(rows, 7)]
    const moved = rows.map((row) => (row === three ? seven : row === seven ? three : row))
    assert.deepEqual(await finding(moved), { sequence: 3, reason: 'misplaced' })
    const dressed = replaced(replaced(rows, 3, { body: seven.body }), 7, { body: three.body })
    assert.deepEqual(await finding(dressed), { sequence: 3, reason: 'misplaced' })
  })

  it('when a row was rebuilt with a new fingerprint, because its successor names the old one', async () => {
    const [forged] = appendToChain({ ...head, ...pointOf(rowAt(rows, 4)) }, documents(1, 'forged'), 'installation').rows
    const bad = rows.map((row) => (row.sequence === 5 ? (forged ?? row) : row))
    assert.deepEqual(await finding(bad), { sequence: 6, reason: 'unlinked' })
  })

  it('when a row of another chain was put in', async () => {
    const other = appendToChain(startOfChain('org_2'), documents(10), 'installation').rows
    const bad = rows.map((row) => (row.sequence === 1 ? rowAt(other, 1) : row))
    assert.deepEqual(await finding(bad), { sequence: 1, reason: 'unlinked' })
  })

  it('with any number of checkpoints', async () => {
    const { rows: two } = chainOf(2)
    const checkpoints = Array.from({ length: 300_000 }, (_, at) => ({ ...from, sequence: at + 3 }))
    assert.deepEqual((await verifyChain(two, { from, checkpoints })).finding, { sequence: 3, reason: 'cut' })
  })

  it('when the end was cut off after a checkpoint', async () => {
    const checkpoints = [pointOf(head)]
    const report = await verifyChain(rows.slice(0, 7), { from, checkpoints })
    assert.deepEqual(report.finding, { sequence: 8, reason: 'cut' })
    assert.equal((await verifyChain(rows.slice(0, 7), { from })).finding, undefined, 'nothing else can show it')
  })

  it('when the whole chain was rebuilt, at the first checkpoint that contradicts it', async () => {
    const forged = appendToChain(from, documents(10, 'forged'), 'installation').rows
    const checkpoints = [pointOf(rowAt(rows, 4)), pointOf(head)]
    const report = await verifyChain(forged, { from, checkpoints })
    assert.deepEqual(report.finding, { sequence: 4, reason: 'rewritten' })
  })

  it('for any single character changed in any body', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(9),
        fc.nat(),
        fc.string({ minLength: 1, maxLength: 1, unit: 'binary' }),
        async (at, place, character) => {
          const row = rowAt(rows, at + 1)
          const index = place % row.body.length
          fc.pre(row.body[index] !== character)
          const body = row.body.slice(0, index) + character + row.body.slice(index + 1)
          assert.deepEqual(await finding(replaced(rows, row.sequence, { body })), {
            sequence: row.sequence,
            reason: 'altered',
          })
        },
      ),
      { numRuns: 500 },
    )
  })

  it('for any row deleted, duplicated or moved', async () => {
    const edit = fc.record({ at: fc.nat(9), to: fc.nat(9), how: fc.constantFrom('delete', 'double', 'move') })
    await fc.assert(
      fc.asyncProperty(edit, async ({ at, to, how }) => {
        fc.pre(at !== to)
        const bad = [...rows]
        if (how !== 'double') bad.splice(at, 1)
        if (how !== 'delete') bad.splice(to, 0, rowAt(rows, at + 1))
        const checkpoints = [pointOf(head)]
        const report = await verifyChain(bad, { from, checkpoints })
        const firstBad = bad.findIndex((row, index) => row.sequence !== index + 1)
        assert.equal(report.finding?.sequence, (firstBad === -1 ? bad.length : firstBad) + 1)
      }),
    )
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SubjectQuery } from '../rollup/subject-sums.ts'
import type { TrafficQuery } from '../traffic/traffic.ts'
import { createKeyUseReader, readKeyUse, type KeyUseParts } from './key-use.ts'

const nowMs = Date.UTC(2026, 10, 18, 12, 30)

const sum = (group: string, fields: { requests: number; errors?: number; inputTokens?: number }) =>
  ({ group, errors: 0, inputTokens: 0, outputTokens: 0, ...fields }) as never

const parts: KeyUseParts = {
  traffic: {
    sums: async () => [
      sum('key_full', { requests: 1_900, errors: 900 }),
      sum('key_near', { requests: 850 }),
      sum('key_tokens', { requests: 10, inputTokens: 90_000 }),
      sum('key_calm', { requests: 10, errors: 5 }),
      sum('user_1', { requests: 1_000 }),
    ],
  },
  subjects: async ({ subjects }) => {
    assert.deepEqual(subjects, ['rate_limited key_full', 'rate_limited key_calm'])
    return [
      { startTime: 0, subject: 'rate_limited key_full', requests: 900, denials: 0 },
      { startTime: 0, subject: 'rate_limited key_calm', requests: 2, denials: 0 },
    ]
  },
  limitsOf: () => ({ rpd: 1_000, tpd: 100_000 }),
  findKey: async (id) => (id.startsWith('key_') ? { name: id.slice('key_'.length) } : undefined),
}

describe('the use of keys', () => {
  it('names keys at or near the limit of a day, without counting what was rejected as used', async () => {
    const uses = await readKeyUse(parts, 'org_1', nowMs)
    assert.deepEqual(
      uses.map(({ name, percent, rejected }) => [name, percent, rejected]),
      [
        ['full', 100, 900],
        ['tokens', 90, 0],
        ['near', 85, 0],
      ],
    )
  })

  it('covers the current hour and the 24 before it, as the limits do', async () => {
    const asked: (TrafficQuery | SubjectQuery)[] = []
    await readKeyUse(
      {
        ...parts,
        traffic: { sums: async (query) => (asked.push(query), []) },
        subjects: async (query) => (asked.push(query), []),
      },
      'org_1',
      nowMs,
    )
    const [from, to] = [Date.UTC(2026, 10, 17, 12) / 1000, Date.UTC(2026, 10, 18, 13) / 1000]
    assert.deepEqual(
      asked.map((query) => [query.from, query.to]),
      [
        [from, to],
        [from, to],
      ],
    )
  })

  it('is read once for all consoles within half a minute', async () => {
    let [now, reads] = [nowMs, 0]
    const read = createKeyUseReader({ nowMs: () => now } as never)
    const counted = { ...parts, traffic: { sums: async () => (reads++, []) }, subjects: async () => [] }
    await read('org_1', async () => counted)
    now += 29_000
    await read('org_1', async () => counted)
    assert.equal(reads, 1)
    now += 2_000
    await read('org_1', async () => counted)
    assert.equal(reads, 2)
  })
})

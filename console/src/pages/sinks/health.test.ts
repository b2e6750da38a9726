import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { destinationOf, healthSentence, lagOf, nameOf } from './health.ts'
import type { Sink } from './queries.ts'

const sink = (health: Partial<Sink['health']>, other: object = {}): Sink =>
  ({
    id: 'sink_1',
    label: '',
    config: {},
    health: { state: 'healthy', backlog_events: 0, next_attempt_at: null, oldest_unsent_at: null, ...health },
    ...other,
  }) as Sink

describe('the age of the oldest event that is not sent', () => {
  const nowMs = Date.parse('2026-03-04T12:00:00Z')
  const lag = (at: string | null): string => lagOf(sink({ oldest_unsent_at: at }), nowMs)
  it('is in the largest unit that is complete', () =>
    assert.deepEqual(
      [
        '2026-03-04T11:59:59Z',
        '2026-03-04T11:59:01Z',
        '2026-03-04T11:57:30Z',
        '2026-03-04T09:00:01Z',
        '2026-03-02T11:00:00Z',
      ].map(lag),
      ['1 s', '59 s', '2 min', '2 h', '2 d'],
    ))
  it('is a dash if everything is sent', () => assert.equal(lag(null), '–'))
  it('is not negative if the clocks differ', () => assert.equal(lag('2026-03-04T12:00:09Z'), '0 s'))
})

describe('the sentence about a sink', () => {
  it('says only the state if nothing waits', () => {
    const healthy = healthSentence(sink({}))
    assert.match(healthy, /\.$/)
    assert.equal(healthSentence(sink({ backlog_events: 3 })).startsWith(healthy), true)
  })
  it('says when the next attempt is, and how many events wait', () =>
    assert.match(
      healthSentence(sink({ state: 'retrying', backlog_events: 3, next_attempt_at: '2026-03-04T12:00:00Z' })),
      /:00.*\b3\b/,
    ))
})

it('a sink is told apart by its address, or by its bucket', () => {
  assert.equal(destinationOf(sink({}, { config: { bucket: 'logs', region: 'eu' } })), 'logs')
  assert.equal(destinationOf(sink({}, { config: { bucket: 'logs', url: 'https://a' } })), 'https://a')
  assert.equal(destinationOf(sink({}, { config: { url: 5 } })), '–')
})

it('a sink without a label is called by its id', () => {
  assert.equal(nameOf(sink({})), 'sink_1')
  assert.equal(nameOf(sink({}, { label: 'SIEM' })), 'SIEM')
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Costs } from './queries.ts'
import { barsOf, restId, seriesOf, spendersOf } from './spend.ts'

const day = 86_400
type Row = Costs['data'][number]

const none = {
  requests: 0,
  input_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  cost_usd: 0,
}
const row = (changed: Partial<Row>): Row => ({
  day: null,
  project_id: null,
  project_name: null,
  api_key_id: null,
  api_key_name: null,
  model: null,
  user_id: null,
  tags: {},
  ...none,
  ...changed,
})
const costs = (data: readonly Row[], more: Partial<Costs> = {}): Costs => ({
  object: 'organization.costs',
  from: 10 * day + 60,
  to: 12 * day + 60,
  data: [...data],
  has_more: false,
  other: null,
  total: {
    ...none,
    cost_usd: data.reduce((sum, { cost_usd: cost }) => sum + cost, 0),
    requests: data.reduce((sum, { requests }) => sum + requests, 0),
  },
  ...more,
})

describe('who spends most', () => {
  it('is named, with the share of the whole cost and those that are summed up as the last', () => {
    const listed = [
      row({ project_id: 'proj_1', project_name: 'Web', cost_usd: 3, requests: 2, input_tokens: 4, output_tokens: 1 }),
      row({ project_id: 'proj_2', cost_usd: 4 }),
    ]
    const total = { ...none, cost_usd: 8 }
    const spenders = spendersOf(costs(listed, { has_more: true, other: { ...none, cost_usd: 1 }, total }), 'project')
    assert.deepEqual(
      spenders.map(({ id, name, share, tone }) => [id, name, share, tone]),
      [
        ['proj_2', 'proj_2', 0.5, 'series1'],
        ['proj_1', 'Web', 0.375, 'series2'],
        [restId, 'All others', 0.125, 'rest'],
      ],
    )
    assert.equal(spenders[1]?.tokens, 5)
  })

  it('is who sends most requests where nothing has a price', () => {
    const spenders = spendersOf(
      costs([row({ user_id: 'ada', requests: 1 }), row({ user_id: 'ben', requests: 3 }), row({})]),
      'user',
    )
    assert.deepEqual(
      spenders.map(({ name, share }) => [name, share]),
      [
        ['ben', 0.75],
        ['ada', 0.25],
        ['no end user', 0],
      ],
    )
  })

  it('can be the value of a tag, or requests without it', () => {
    const spenders = spendersOf(
      costs([row({ tags: { team: 'red' }, cost_usd: 2 }), row({ tags: { team: null }, cost_usd: 1 })]),
      'tag:team',
    )
    assert.deepEqual(
      spenders.map(({ id, name }) => [id, name]),
      [
        ['red', 'red'],
        ['', 'no tag team'],
      ],
    )
  })

  it('has a colour of its own among the first five, and shares one beyond', () => {
    const rows = Array.from({ length: 7 }, (_, at) => row({ model: `m${at}`, cost_usd: 7 - at }))
    const series = seriesOf(spendersOf(costs(rows), 'model'))
    assert.deepEqual(
      series.map(({ id }) => id),
      ['m0', 'm1', 'm2', 'm3', 'm4', restId],
    )
    assert.equal(new Set(series.map(({ tone }) => tone)).size, 6)
  })
})

describe('the bars of costs', () => {
  it('are days of UTC, of which the rest is what the shown series leave', () => {
    const all = costs([row({ day: 10 * day, cost_usd: 5 }), row({ day: 12 * day, cost_usd: 1 })])
    const byGroup = costs([
      row({ day: 10 * day, model: 'a', cost_usd: 3 }),
      row({ day: 10 * day, model: 'b', cost_usd: 2 }),
      row({ day: 12 * day, model: 'a', cost_usd: 1 }),
    ])
    const bars = barsOf({ all, byGroup }, 'model', [
      { id: 'a', name: 'a', tone: 'series1' },
      { id: restId, name: 'All others', tone: 'rest' },
    ])
    assert.deepEqual(
      bars.map(({ startMs, values }) => [startMs / 1_000 / day, values]),
      [
        [10.5, { a: 3, [restId]: 2 }],
        [11.5, {}],
        [12.5, { a: 1, [restId]: 0 }],
      ],
    )
  })
})

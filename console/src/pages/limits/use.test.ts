import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Usage } from './queries.ts'
import { barsOf, usersOf } from './use.ts'

type Result = Usage['data'][number]['results'][number]

const result = (changed: Partial<Result>): Result =>
  ({
    requests: 0,
    input_tokens: 0,
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    cost_usd: 0,
    credits: 0,
    ...changed,
  }) as Result
const usage = (steps: readonly (readonly [start: number, results: readonly Result[]])[]): Usage =>
  ({
    start_time: 100,
    end_time: 400,
    data: steps.map(([start, results]) => ({ start_time: start, end_time: start + 60, results })),
  }) as unknown as Usage
const names = { projects: new Map([['proj_1', 'Web']]), keys: new Map([['key_1', 'Bot']]) }

describe('who used most', () => {
  it('is who costs most, over all steps', () => {
    const users = usersOf(
      usage([
        [
          120,
          [
            result({ project_id: 'proj_1', cost_usd: 1, requests: 1 }),
            result({ project_id: 'proj_2', cost_usd: 2, requests: 50 }),
          ],
        ],
        [
          180,
          [
            result({
              project_id: 'proj_1',
              cost_usd: 5,
              requests: 1,
              input_tokens: 3,
              cache_read_tokens: 4,
              cache_write_tokens: 5,
              output_tokens: 6,
            }),
          ],
        ],
      ]),
      'project',
      names,
    )
    assert.deepEqual(users, [
      { id: 'proj_1', name: 'Web', requests: 2, tokens: 18, cost: 6, share: 0.75 },
      { id: 'proj_2', name: 'proj_2', requests: 50, tokens: 0, cost: 2, share: 0.25 },
    ])
  })
  it('is who sends most requests where nothing costs anything', () => {
    const users = usersOf(
      usage([[120, [result({ api_key_id: 'key_1', requests: 1 }), result({ api_key_id: 'key_2', requests: 3 })]]]),
      'api_key',
      names,
    )
    assert.deepEqual(
      users.map(({ name, share }) => [name, share]),
      [
        ['key_2', 0.75],
        ['Bot', 0.25],
      ],
    )
  })
  it('can be requests without an end user', () => {
    const [user] = usersOf(usage([[120, [result({ user_id: null, requests: 1 })]]]), 'user', names)
    assert.equal(user?.id, '')
    assert.notEqual(user?.name, '')
  })
  it('is nobody without use', () => assert.deepEqual(usersOf(usage([]), 'model', names), []))
})

describe('the bars of use', () => {
  it('fill the steps without use, from the step in which the range begins', () =>
    assert.deepEqual(
      barsOf(
        usage([
          [180, [result({ credits: 4, requests: 1 })]],
          [300, [result({ credits: 2 }), result({ credits: 1 })]],
        ]),
      ).map(({ startMs, values }) => [startMs, values['use']]),
      [
        [60_000, 0],
        [120_000, 0],
        [180_000, 4],
        [240_000, 0],
        [300_000, 3],
        [360_000, 0],
      ],
    ))
  it('count requests where nothing costs anything', () =>
    assert.equal(
      barsOf(usage([[120, [result({ requests: 7 })]]])).find(({ startMs }) => startMs === 120_000)?.values['use'],
      7,
    ))
  it('are none without use', () => assert.deepEqual(barsOf(usage([])), []))
})

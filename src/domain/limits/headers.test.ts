import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Admitted, Rejected } from './admission.ts'
import { duration, inferenceHeaders } from './headers.ts'
import type { WindowUsage, ScopeStatus, LimitStatus } from './status.ts'

const gauge = (limit: number, remaining: number, resetMs = 1_000): WindowUsage => ({ limit, remaining, resetMs })
const nothing: ScopeStatus = { rpm: null, rpd: null, tpm: null, tpd: null, concurrent: null }
const standing = (given: Partial<Record<keyof LimitStatus, Partial<ScopeStatus>>>): LimitStatus => ({
  key: { ...nothing, ...given.key },
  project: { ...nothing, ...given.project },
  organization: { ...nothing, ...given.organization },
})
const admitted = (given: Parameters<typeof standing>[0]): Admitted => ({
  admitted: true,
  atMs: 0,
  duplicate: false,
  standing: standing(given),
  credits: null,
})
const refused = (
  reason: Rejected['reason'],
  retryAfterMs: number | null,
  given: Parameters<typeof standing>[0],
): Rejected => ({
  admitted: false,
  atMs: 0,
  reason,
  scope: 'key',
  retryAfterMs,
  standing: standing(given),
  credits: null,
})

describe('the headers of an inference answer', () => {
  it('report the scope with the least remaining, over minute and day', () => {
    const headers = inferenceHeaders(
      admitted({
        key: { rpm: gauge(60, 40), tpm: gauge(1_000, 900) },
        organization: { rpm: gauge(120, 100), rpd: gauge(20_000, 12, 90_000), tpm: gauge(2_000, 300, 61_000) },
      }),
    )
    assert.deepEqual(headers, {
      'x-ratelimit-limit-requests': '20000',
      'x-ratelimit-remaining-requests': '12',
      'x-ratelimit-reset-requests': '1m30s',
      'x-ratelimit-limit-tokens': '2000',
      'x-ratelimit-remaining-tokens': '300',
      'x-ratelimit-reset-tokens': '1m1s',
    })
  })

  it('report the later reset of two scopes with as much remaining', () => {
    const headers = inferenceHeaders(admitted({ key: { rpm: gauge(5, 3, 200) }, project: { rpm: gauge(9, 3, 6_000) } }))
    assert.equal(headers['x-ratelimit-limit-requests'], '9')
    assert.equal(headers['x-ratelimit-reset-requests'], '6s')
  })

  it('add the project’s tokens when those are the constraint', () => {
    const headers = inferenceHeaders(
      admitted({
        key: { tpm: gauge(100, 90) },
        project: { tpm: gauge(150, 20, 250) },
        organization: { tpm: gauge(200, 70) },
      }),
    )
    assert.equal(headers['x-ratelimit-limit-project-tokens'], '150')
    assert.equal(headers['x-ratelimit-remaining-project-tokens'], '20')
    assert.equal(headers['x-ratelimit-reset-project-tokens'], '250ms')
  })

  it('say nothing about what has no limit', () => {
    assert.deepEqual(inferenceHeaders(admitted({})), {})
  })

  it('tell a refused caller whole seconds to wait, rounded up, at least one', () => {
    const wait = (ms: number) => inferenceHeaders(refused('rpm', ms, {}))['retry-after']
    assert.deepEqual([wait(1), wait(1_000), wait(1_001), wait(60_999)], ['1', '1', '2', '61'])
  })

  it('tell a request larger than the limit when the window is empty', () => {
    const headers = inferenceHeaders(refused('tpm', null, { key: { tpm: gauge(10, 3, 42_000) } }))
    assert.equal(headers['retry-after'], '42')
  })

  it('name no wait where credits are missing', () => {
    assert.equal('retry-after' in inferenceHeaders(refused('credits', null, {})), false)
  })
})

describe('a duration', () => {
  const cases: readonly (readonly [ms: number, text: string])[] = [
    [0, '0s'],
    [1, '1ms'],
    [250, '250ms'],
    [999, '999ms'],
    [1_000, '1s'],
    [5_001, '6s'],
    [59_000, '59s'],
    [59_001, '1m0s'],
    [90_000, '1m30s'],
    [3_599_001, '1h0m0s'],
    [86_348_000, '23h59m8s'],
  ]
  for (const [ms, text] of cases) it(`of ${ms} ms reads ${text}`, () => assert.equal(duration(ms), text))
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LimitStatus, ScopeStatus, WindowUsage } from '../domain/limits/status.ts'
import { duration, rateLimitHeaders } from './rate-limit-headers.ts'

const usage = (limit: number, remaining: number, resetMs = 1_000): WindowUsage => ({ limit, remaining, resetMs })
const unlimited: ScopeStatus = { rpm: null, rpd: null, tpm: null, tpd: null, concurrent: null }
const status = (given: Partial<Record<keyof LimitStatus, Partial<ScopeStatus>>>): LimitStatus => ({
  key: { ...unlimited, ...given.key },
  project: { ...unlimited, ...given.project },
  organization: { ...unlimited, ...given.organization },
})

describe('the rate-limit headers', () => {
  it('report the scope with the least remaining, over minute and day', () => {
    const headers = rateLimitHeaders(
      status({
        key: { rpm: usage(60, 40), tpm: usage(1_000, 900) },
        organization: { rpm: usage(120, 100), rpd: usage(20_000, 12, 90_000), tpm: usage(2_000, 300, 61_000) },
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

  it('report the later reset of two scopes with the same remaining', () => {
    const headers = rateLimitHeaders(status({ key: { rpm: usage(5, 3, 200) }, project: { rpm: usage(9, 3, 6_000) } }))
    assert.equal(headers['x-ratelimit-limit-requests'], '9')
    assert.equal(headers['x-ratelimit-reset-requests'], '6s')
  })

  it('add the project’s tokens when those are the constraint', () => {
    const headers = rateLimitHeaders(
      status({
        key: { tpm: usage(100, 90) },
        project: { tpm: usage(150, 20, 250) },
        organization: { tpm: usage(200, 70) },
      }),
    )
    assert.equal(headers['x-ratelimit-limit-project-tokens'], '150')
    assert.equal(headers['x-ratelimit-remaining-project-tokens'], '20')
    assert.equal(headers['x-ratelimit-reset-project-tokens'], '250ms')
  })

  it('leave out what has no limit', () => {
    assert.deepEqual(rateLimitHeaders(status({})), {})
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

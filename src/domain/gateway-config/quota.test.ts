import assert from 'node:assert/strict'
import test, { describe, it } from 'node:test'
import fc from 'fast-check'
import { defaultConfiguration, quotaWindows, type GatewayConfiguration } from './configuration.ts'
import { claimsOf, overQuota, remainingFor, windowAt } from './quota.ts'

const day = { requests: 10, tokens: 500, window: 'day' } as const
const hour = { requests: 0, tokens: 900, window: 'hour' } as const

const withControls = (controls: Partial<GatewayConfiguration['org_controls']>): GatewayConfiguration => ({
  ...defaultConfiguration,
  org_controls: { ...defaultConfiguration.org_controls, ...controls },
})

const request = (controls: Partial<GatewayConfiguration['org_controls']>, userId?: string) => ({
  organizationId: 'org_1',
  projectId: 'proj_1',
  userId,
  config: withControls(controls),
  version: 4,
  inputTokens: 20,
  outputTokens: 100,
  leastOutputTokens: 16,
})

describe('windows of quotas', () => {
  const moments = [
    ['minute', '2026-03-01T12:34:56.789Z', '2026-03-01T12:34:00.000Z', '2026-03-01T12:35:00.000Z'],
    ['hour', '2026-03-01T12:34:56.789Z', '2026-03-01T12:00:00.000Z', '2026-03-01T13:00:00.000Z'],
    ['day', '2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z'],
    ['week', '2026-03-01T23:59:59.999Z', '2026-02-23T00:00:00.000Z', '2026-03-02T00:00:00.000Z'], // a Sunday
    ['week', '2026-03-02T00:00:00.000Z', '2026-03-02T00:00:00.000Z', '2026-03-09T00:00:00.000Z'], // a Monday
    ['month', '2028-02-29T12:00:00.000Z', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    ['month', '2026-12-31T23:59:59.999Z', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
  ] as const
  for (const [window, now, start, end] of moments) {
    it(`the ${window} of ${now} begins at ${start}`, () => {
      const { startMs, endMs } = windowAt(window, Date.parse(now))
      assert.deepEqual([new Date(startMs).toISOString(), new Date(endMs).toISOString()], [start, end])
    })
  }

  it('cover all time without gap or overlap', () => {
    const moment = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) })
    fc.assert(
      fc.property(fc.constantFrom(...quotaWindows), moment, (window, nowMs) => {
        const { startMs, endMs } = windowAt(window, nowMs)
        assert.ok(startMs <= nowMs && nowMs < endMs)
        assert.equal(windowAt(window, startMs).startMs, startMs)
        assert.equal(windowAt(window, endMs - 1).startMs, startMs)
        assert.equal(windowAt(window, endMs).startMs, endMs)
      }),
    )
  })
})

describe('the quotas that apply to a request', () => {
  const kindsOf = (...args: Parameters<typeof request>) =>
    claimsOf(request(...args), 1).map(({ subjectKind, subjectId }) => `${subjectKind} ${subjectId}`)
  const cases = [
    { title: 'none if none is set', controls: {}, user: 'ann', expected: [] },
    { title: 'none if all limits are 0', controls: { user_quotas: true }, user: 'ann', expected: [] },
    {
      title: 'the quota of its user',
      controls: { user_quotas: true, user_quota: day },
      user: 'ann',
      expected: ['user ann'],
    },
    { title: 'no user quota if user quotas are disabled', controls: { user_quota: day }, user: 'ann', expected: [] },
    {
      title: 'no user quota if the request names no user',
      controls: { user_quotas: true, user_quota: day },
      expected: [],
    },
    {
      title: 'the quota of its project, with or without a user',
      controls: { project_quota: hour },
      expected: ['project proj_1'],
    },
    {
      title: 'both quotas, that of the user first',
      controls: { user_quotas: true, user_quota: day, project_quota: hour },
      user: 'ann',
      expected: ['user ann', 'project proj_1'],
    },
  ]
  for (const { title, controls, user, expected } of cases)
    it(title, () => assert.deepEqual(kindsOf(controls, user), expected))
})

test('the error of an exhausted quota names its subject, and the wait lasts until the end of the window', () => {
  const quotaRequest = request({ user_quotas: true, user_quota: day, project_quota: hour }, 'ann')
  const nowMs = Date.parse('2026-03-01T22:59:59.001Z')
  const [user, project] = claimsOf(quotaRequest, nowMs)
  assert.ok(user && project)
  const at = { nowMs, eventId: 'evt_1' }
  const usedUp = { claim: user, isHeld: false }
  const [ofUser, ofProject] = [
    overQuota(usedUp, quotaRequest, at),
    overQuota({ claim: project, isHeld: false }, quotaRequest, at),
  ]
  assert.deepEqual([ofUser.kind, ofUser.code], ['rate_limit', 'rate_limit_exceeded'])
  assert.deepEqual([ofUser.details.retryAfterSeconds, ofProject.details.retryAfterSeconds], [3601, 1])
  assert.deepEqual(ofUser.details.policy, {
    decision: 'refuse',
    effective_decision: 'refuse',
    enforced: true,
    rollout_mode: 'enforced',
    reason_code: 'USER_QUOTA_EXCEEDED',
    policy_id: 'default',
    version: 4,
    triggered_categories: [],
    event_id: 'evt_1',
  })
  assert.equal(ofProject.details.policy?.['reason_code'], 'PROJECT_QUOTA_EXCEEDED')
  assert.deepEqual([ofUser.details.isPermanent, ofProject.details.isPermanent], [undefined, undefined])
  assert.match(ofUser.message, /10 requests and 500 tokens per day, and what is left does not suffice/)
  const tooLarge = overQuota(usedUp, { ...quotaRequest, inputTokens: 485 }, at)
  assert.match(tooLarge.message, /485 tokens for its input and 16 for an/)
  assert.equal(tooLarge.details.isPermanent, true)
  const held = overQuota({ claim: user, isHeld: true }, quotaRequest, at)
  assert.match(held.message, /requests in flight have reserved the rest/)
  assert.deepEqual([held.details.retryAfterSeconds, held.details.isPermanent], [5, undefined])
})

describe('the tokens that quotas have left for a request', () => {
  const claims = claimsOf(request({ user_quotas: true, user_quota: day, project_quota: hour }, 'ann'), 1)
  const needed = { inputTokens: 20, leastOutputTokens: 16 }
  const use = (tokens: number, requests = 1, reservedTokens = 0) => ({ tokens, requests, reservedTokens })
  const fullOf = (...uses: ReturnType<typeof use>[]) => {
    const remaining = remainingFor(needed, claims, uses)
    return 'full' in remaining ? [remaining.full.claim.subjectKind, remaining.full.isHeld] : remaining.tokens
  }

  it('is the smallest remainder of all quotas', () => {
    assert.equal(fullOf(use(100), use(880 - 20)), 40)
    assert.equal(fullOf(use(450), use(0)), 50)
  })

  it('is exhausted if less is left than the input and the shortest answer need', () => {
    assert.equal(fullOf(use(464), use(0)), 36)
    assert.deepEqual(fullOf(use(465), use(0)), ['user', false])
    assert.deepEqual(fullOf(use(0), use(865)), ['project', false])
  })

  it('is held, not used up, if requests in flight may release it', () => {
    assert.deepEqual(fullOf(use(465, 1, 1), use(0)), ['user', true])
    assert.deepEqual(fullOf(use(466, 1, 1), use(0)), ['user', false])
  })

  it('is exhausted if the number of requests is used up', () => {
    assert.deepEqual(fullOf(use(400, 10, 400), use(0)), ['user', false])
  })
})

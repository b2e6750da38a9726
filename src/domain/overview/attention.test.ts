import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dayMs } from '../../base/clock.ts'
import type { WatchedSink } from '../audit/export/export-sink.ts'
import type { Permission } from '../identity/permissions.ts'
import { attentionOf, type AttentionFacts, type EndingException } from './attention.ts'
import type { Spend } from './overview.ts'

const nowMs = Date.UTC(2026, 10, 16, 12)
const wellFunded: Spend = { todayUsd: 1, monthUsd: 2, balanceUsd: 100, daysLeft: 50 }
const all = () => true

const nothing: AttentionFacts = {
  nowMs,
  pausedPolicies: [],
  recentSpikes: [],
  unjudgedPolicies: [],
  judgeAlarms: [],
  endingExceptions: [],
  configuration: undefined,
  sinks: [],
  expiringKeys: [],
  keyUse: [],
  upstreams: [],
  closedAppeals: [],
  openAppeals: 0,
  spend: wellFunded,
}

function sink(health: Partial<WatchedSink['health']>): WatchedSink {
  return {
    id: 'sink_1',
    organizationId: 'org_1',
    type: 'webhook',
    label: 'archive',
    enabled: true,
    config: {},
    version: 1,
    createdAtMs: 0,
    updatedAtMs: 0,
    health: {
      state: 'healthy',
      backlogEvents: 0,
      oldestUnsentAtMs: null,
      nextAttemptAtMs: null,
      deadLetters: 0,
      lastSuccessAtMs: null,
      lastErrorAtMs: null,
      lastError: null,
      costFiles: null,
      ...health,
    },
  }
}

const paused = { id: 'pol_1', name: 'No code names', sinceMs: 5, isBySpike: false }

const textsOf = (facts: Partial<AttentionFacts>, mayRead: (permission: Permission) => boolean = all) =>
  attentionOf({ ...nothing, ...facts }, mayRead).map(({ kind, severity, text }) => [kind, severity, text])

describe('what needs attention', () => {
  it('is nothing while everything works', () => {
    assert.deepEqual(textsOf({ sinks: [sink({})], configuration: { isRolledBack: false } }), [])
  })

  it('lists what a person must repair before what repairs without one', () => {
    const sinks = [sink({ state: 'retrying', deadLetters: 2 }), sink({ state: 'auth_error', lastError: 'HTTP 403' })]
    assert.deepEqual(textsOf({ pausedPolicies: [paused], sinks, spend: { ...wellFunded, daysLeft: 2.6 } }), [
      ['sink_failing', 'error', 'The export archive is failing: HTTP 403'],
      ['sink_failing', 'warning', 'The export archive is failing'],
      ['dead_letters', 'warning', 'The export archive has 2 events that its destination rejected'],
      ['credit_low', 'warning', 'The credit lasts for 2.6 days'],
      ['policy_paused', 'info', 'The policy No code names is paused'],
    ])
  })

  it('says which exception of which policy ends, and warns on its last day', () => {
    const policy = { id: 'pol_1', name: 'No code names' }
    const ending = (days: number, subject: EndingException['subject']): EndingException => ({
      policy,
      subject,
      expiresAtMs: nowMs + days * dayMs,
    })
    const endingExceptions = [
      ending(0.5, { kind: 'user', id: 'ada' }),
      ending(2.5, { kind: 'text', digests: ['sha256:1'] }),
    ]
    assert.deepEqual(textsOf({ endingExceptions }), [
      ['exception_ending', 'warning', 'The exception of the policy No code names for the user ada ends within a day'],
      ['exception_ending', 'info', 'The exception of the policy No code names for a text ends in 2 days'],
    ])
    const [item] = attentionOf({ ...nothing, endingExceptions }, all)
    assert.equal(item?.objectId, 'pol_1')
    assert.deepEqual(
      textsOf({ endingExceptions }, (permission) => permission !== 'policies:read'),
      [],
    )
  })

  it('says that denials rose while the policy or the configuration is still enforced', () => {
    const recentSpikes = [
      { policy: { id: 'pol_1', name: 'No code names' }, sinceMs: 5 },
      { policy: undefined, sinceMs: 6 },
    ]
    assert.deepEqual(attentionOf({ ...nothing, recentSpikes }, all), [
      {
        kind: 'policy_denials_spiked',
        severity: 'warning',
        text: 'The denials of the policy No code names rose sharply; it is still enforced',
        objectId: 'pol_1',
        sinceMs: 5,
      },
      {
        kind: 'gateway_denials_spiked',
        severity: 'warning',
        text: 'The denials of the gateway configuration rose sharply; it is still enforced',
        objectId: null,
        sinceMs: 6,
      },
    ])
    assert.deepEqual(
      textsOf({ recentSpikes }, (permission) => permission === 'keys:read'),
      [],
    )
  })

  it('says that the service paused a policy or switched off the gateway configuration', () => {
    assert.deepEqual(
      textsOf({ pausedPolicies: [{ ...paused, isBySpike: true }], configuration: { isRolledBack: true } }),
      [
        ['policy_stopped_by_spike', 'error', 'The policy No code names was paused, because its denials rose sharply'],
        [
          'gateway_rolled_back',
          'error',
          'The gateway configuration is off until the next save, because its denials rose sharply',
        ],
      ],
    )
  })

  it('names rules that nothing judges, and keys that expire soon', () => {
    const key = (id: string, days: number) => ({ id, name: id, expiresAtMs: nowMs + days * dayMs })
    const expiringKeys = [key('adk_1', 6.5), key('key_1', 0.5), key('key_2', 1)]
    assert.deepEqual(textsOf({ unjudgedPolicies: [{ id: 'pol_1', name: 'Tone', updatedAtMs: 1 }], expiringKeys }), [
      [
        'rule_not_judged',
        'warning',
        'Nothing evaluates the policy Tone: its rule is in plain language, and no model judges it',
      ],
      ['key_expiring', 'warning', 'The key key_1 expires within a day'],
      ['key_expiring', 'warning', 'The key key_2 expires in 1 day'],
      ['key_expiring', 'info', 'The key adk_1 expires in 6 days'],
    ])
  })

  it('names upstreams that rest after failures', () => {
    const lastError = { code: 'upstream_timeout', atMs: 3 }
    const upstreams = [
      { name: 'openai', state: 'resting', lastError } as const,
      { name: 'echo', state: 'failing', lastError } as const,
    ]
    assert.deepEqual(textsOf({ upstreams }), [
      [
        'upstream_resting',
        'warning',
        'The upstream openai fails with upstream_timeout, and is skipped for some seconds',
      ],
    ])
  })

  it('names keys at or near their limit of a day, with what was rejected', () => {
    const keyUse = [
      { keyId: 'key_1', name: 'Batch', percent: 100, rejected: 900 },
      { keyId: 'key_2', name: 'Chat', percent: 85.7, rejected: 0 },
      { keyId: 'key_3', name: 'Bursts', percent: 3, rejected: 12 },
    ]
    assert.deepEqual(textsOf({ keyUse }), [
      ['key_near_limit', 'warning', 'The key Batch has used 100 % of its day limit; limits rejected 900 requests'],
      ['key_near_limit', 'warning', 'Limits rejected 12 requests of the key Bursts in a day'],
      ['key_near_limit', 'info', 'The key Chat has used 85 % of its day limit'],
    ])
  })

  it('says that there is no credit left', () => {
    assert.deepEqual(textsOf({ spend: { ...wellFunded, balanceUsd: 0 } }), [
      ['credit_low', 'error', 'There is no credit left'],
    ])
  })

  it('leaves out what the caller may not see', () => {
    const facts = { pausedPolicies: [paused], sinks: [sink({ state: 'retrying' })] }
    const kinds = textsOf(facts, (permission) => permission === 'exports:read').map(([kind]) => kind)
    assert.deepEqual(kinds, ['sink_failing'])
  })
})

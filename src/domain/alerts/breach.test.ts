import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { shareBreaches, spendBreaches, type FigureParts } from './breach.ts'
import { completeRule, type NewRule } from './rule-mutations.ts'
import type { AlertRule } from './rule.ts'

const nowMs = Date.UTC(2026, 10, 18, 12)

const ruleOf = ({ kind, ...settings }: NewRule): AlertRule => ({
  id: 'rule_1',
  organizationId: 'org_1',
  kind,
  ...completeRule(kind, settings),
  version: 1,
  createdAtMs: 0,
  updatedAtMs: 0,
})

const partsOf = (figures: Partial<FigureParts['figures']>): FigureParts => ({
  figures: {
    spent: async () => 0,
    requests: async () => ({ requests: 0, denials: 0, failures: 0 }),
    keys: async () => [],
    ...figures,
  },
  creditUsd: 0.001,
  nowMs,
  nameOf: async (filter) => (filter === null ? 'The organization Acme' : `The project ${filter.id}`),
})

const spending = (micro: number) => partsOf({ spent: async () => micro })
const traffic = (requests: number, denials: number, failures = 0) =>
  partsOf({ requests: async () => ({ requests, denials, failures }) })

describe('a rule about spending', () => {
  const rule = ruleOf({ kind: 'spend', name: 'S', threshold: 100 })

  it('applies above its threshold, and names the figure, the threshold and the period', async () => {
    assert.deepEqual(await spendBreaches(rule, spending(100_000_000_000)), [])
    const [breach] = await spendBreaches(rule, spending(120_500_000_000))
    assert.deepEqual(breach, {
      subject: '',
      title: 'The organization Acme spent more than 100 USD today',
      text: 'The organization Acme spent 120.5 USD today (UTC). The threshold is 100 USD a day.',
      figure: 120.5,
      link: { page: 'limits', search: { from: Date.UTC(2026, 10, 18) / 1000, to: nowMs / 1000 + 1 } },
    })
  })

  it('counts credits, and a month from its first day', async () => {
    const month = ruleOf({ kind: 'spend', name: 'S', threshold: 5, unit: 'credits', window: 'month' })
    const [breach] = await spendBreaches(month, spending(6_000_000))
    assert.equal(
      breach?.text,
      'The organization Acme spent 6 credits this month (UTC). The threshold is 5 credits a month.',
    )
    assert.equal(breach?.link.search?.['from'], Date.UTC(2026, 10, 1) / 1000)
  })
})

describe('a rule about denials or errors', () => {
  it('compares the share of the requests, and links to them', async () => {
    const rule = ruleOf({ kind: 'denials', name: 'D', filter: { name: 'project_id', id: 'proj_1' } })
    assert.deepEqual(await shareBreaches(rule, traffic(100, 20)), [])
    const [breach] = await shareBreaches(rule, traffic(200, 60))
    const to = nowMs / 1000 + 1
    assert.deepEqual(breach, {
      subject: 'proj_1',
      title: 'Denials are over 20 % for the project proj_1',
      text: 'The project proj_1: 60 of 200 requests in the last 15 minutes were denied (30 %). The threshold is 20 %.',
      figure: 30,
      link: { page: 'requests', search: { status: 'denied', from: to - 900, to, project_id: 'proj_1' } },
    })
  })

  it('says nothing about a share of few requests', async () => {
    const rule = ruleOf({ kind: 'errors', name: 'E', minRequests: 50 })
    assert.deepEqual(await shareBreaches(rule, traffic(49, 0, 49)), [])
    assert.equal((await shareBreaches(rule, traffic(50, 0, 49))).length, 1)
  })

  it('compares the number if the rule has one', async () => {
    const rule = ruleOf({ kind: 'errors', name: 'E', unit: 'count', threshold: 3, window: '1h' })
    assert.deepEqual(await shareBreaches(rule, traffic(4, 4, 3)), [])
    const [breach] = await shareBreaches(rule, traffic(4, 0, 4))
    assert.equal(
      breach?.text,
      'The organization Acme: 4 of 4 requests in the last hour failed because of an upstream or of the service. The threshold is 3.',
    )
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../../../support/administration.ts'
import { gatewaySuite } from '../../../support/gateway-suite.ts'

type Case = { readonly title: string; readonly body: object; readonly expected: Json }

const hateful = { rules: { flagged_categories: ['hate'] } }
const denying = { rules: { denylist: ['project x'] } }

const call = { id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"what":"project x"}' } }

const cases: readonly Case[] = [
  {
    title: 'allows a text that no rule denies',
    body: {},
    expected: {
      decision: 'allow',
      effective_decision: 'allow',
      reason_code: 'ALLOW',
      triggered_categories: [],
      rollout_mode: 'enforced',
      policy_id: 'default',
      enforced: true,
      allowlist_hits: [],
      denylist_hits: [],
      redactions: {},
    },
  },
  {
    title: 'treats given categories as found',
    body: { config: hateful, categories: ['hate'] },
    expected: { decision: 'refuse', reason_code: 'REFUSE', triggered_categories: ['hate'] },
  },
  {
    title: 'prefers the categories of the scenario',
    body: { config: hateful, scenario: { categories: [] }, categories: ['hate'] },
    expected: { decision: 'allow', triggered_categories: [] },
  },
  {
    title: 'prefers the policy to the config',
    body: { policy: { policy_id: 'tried' }, config: hateful, categories: ['hate'] },
    expected: { decision: 'allow', policy_id: 'tried' },
  },
  {
    title: 'ignores an unknown category',
    body: { config: hateful, categories: ['astrology'] },
    expected: { decision: 'allow', triggered_categories: [] },
  },
  {
    title: 'denies an always-blocked category even in shadow mode',
    body: { config: { ...hateful, rollout: { shadow: { enabled: true } } }, categories: ['self-harm', 'hate'] },
    expected: {
      decision: 'refuse',
      effective_decision: 'refuse',
      enforced: true,
      triggered_categories: ['self-harm', 'hate'],
      rollout_mode: 'shadow',
    },
  },
  {
    title: 'finds denied terms as whole words, in any case',
    body: { config: denying, scenario: { text: 'Tell me about PROJECT  X.' } },
    expected: { decision: 'refuse', denylist_hits: ['project x'] },
  },
  {
    title: 'finds no denied term inside of words',
    body: { config: denying, scenario: { text: 'project xylophone' } },
    expected: { decision: 'allow', denylist_hits: [] },
  },
  {
    title: 'finds patterns',
    body: { config: { rules: { denylist: ['/ACME-\\d{4}/'] } }, scenario: { text: 'ref ACME-1234' } },
    expected: { decision: 'refuse', denylist_hits: ['/ACME-\\d{4}/'] },
  },
  {
    title: 'scans messages with text and with blocks',
    body: {
      config: denying,
      scenario: {
        messages: [
          { role: 'user', content: 'hello' },
          { role: 'user', content: [{ type: 'text', text: 'project x' }] },
        ],
      },
    },
    expected: { decision: 'refuse', denylist_hits: ['project x'] },
  },
  {
    title: 'scans the joined text of blocks',
    body: {
      config: denying,
      scenario: { messages: [{ role: 'user', content: ['proj', 'ect x'].map((text) => ({ type: 'text', text })) }] },
    },
    expected: { decision: 'refuse', denylist_hits: ['project x'] },
  },
  {
    title: 'scans the arguments of a tool',
    body: {
      config: denying,
      scenario: {
        messages: [
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 'toolu_1', name: 'find', input: { what: 'project x' } }],
          },
        ],
      },
    },
    expected: { decision: 'refuse' },
  },
  {
    title: 'scans other fields of messages, with and without a text',
    body: {
      config: { rules: { denylist: ['project x', 'project y'] } },
      scenario: {
        messages: [
          { role: 'assistant', content: null, tool_calls: [call] },
          { role: 'assistant', content: [{ type: 'text', text: 'hello', citations: [{ cited_text: 'project y' }] }] },
        ],
      },
    },
    expected: { denylist_hits: ['project x', 'project y'] },
  },
  {
    title: 'requires an allowed term in a request',
    body: { config: { rules: { allowlist: ['tea'] } }, scenario: { text: 'coffee' } },
    expected: { decision: 'refuse', allowlist_hits: [] },
  },
  {
    title: 'accepts one of several allowed terms',
    body: { config: { rules: { allowlist: ['tea', 'milk'] } }, scenario: { text: 'tea, please' } },
    expected: { decision: 'allow', allowlist_hits: ['tea'] },
  },
  {
    title: 'requires no allowed term in an answer',
    body: { config: { rules: { allowlist: ['tea'] } }, scenario: { text: 'coffee', direction: 'response' } },
    expected: { decision: 'allow' },
  },
  {
    title: 'counts the redactions by kind',
    body: {
      config: { rules: { redact: true } },
      scenario: { text: 'a@example.org, b@example.org, 4111 1111 1111 1111' },
    },
    expected: { decision: 'redact', effective_decision: 'redact', redactions: { email: 2, card: 1 } },
  },
  {
    title: 'redacts nothing if redaction is not configured',
    body: { scenario: { text: 'a@example.org' }, config: {} },
    expected: { decision: 'allow', redactions: {} },
  },
  {
    title: 'escalates if configured, with the organization’s reason code',
    body: {
      config: { rules: { denylist: ['rum'], response_pattern: 'escalate', reason_codes: ['ESCALATE_DESK'] } },
      scenario: { text: 'rum' },
    },
    expected: { decision: 'escalate', reason_code: 'ESCALATE_DESK' },
  },
  {
    title: 'uses the organization’s reason code for allowed requests as well',
    body: { config: { rules: { reason_codes: ['ALLOW_HOUSE_RULES'] } } },
    expected: { decision: 'allow', reason_code: 'ALLOW_HOUSE_RULES' },
  },
  {
    title: 'reports the decision of shadow mode without enforcing it',
    body: { config: { ...denying, rollout: { shadow: { enabled: true } } }, scenario: { text: 'project x' } },
    expected: { decision: 'refuse', effective_decision: 'allow', enforced: false, rollout_mode: 'shadow' },
  },
  {
    title: 'assigns every user to a canary of 100 percent',
    body: { config: { ...denying, rollout: { canary: { enabled: true } } }, scenario: { text: 'project x' } },
    expected: { decision: 'refuse', effective_decision: 'refuse', enforced: true, rollout_mode: 'canary' },
  },
  {
    title: 'assigns no user to a canary of 0 percent',
    body: {
      config: { ...denying, rollout: { canary: { enabled: true, sample_percent: 0 } } },
      scenario: { text: 'project x' },
    },
    expected: { decision: 'refuse', effective_decision: 'allow', enforced: false, rollout_mode: 'canary' },
  },
  {
    title: 'evaluates as shadow a request outside the targets of a shadow',
    body: {
      config: { ...denying, rollout: { shadow: { enabled: true, targets: ['eu'] } } },
      scenario: { text: 'project x', target: 'us' },
    },
    expected: { effective_decision: 'allow', enforced: false, rollout_mode: 'shadow' },
  },
  {
    title: 'evaluates as shadow a request outside the targets of a canary',
    body: {
      config: { ...denying, rollout: { canary: { enabled: true, targets: ['eu'] } } },
      scenario: { text: 'project x' },
    },
    expected: { effective_decision: 'allow', enforced: false, rollout_mode: 'shadow' },
  },
  {
    title: 'enforces a canary for its targets',
    body: {
      config: { ...denying, rollout: { canary: { enabled: true, targets: ['eu'] } } },
      scenario: { text: 'project x', target: 'eu' },
    },
    expected: { effective_decision: 'refuse', enforced: true, rollout_mode: 'canary' },
  },
]

describe('a simulation', () => {
  const { send } = gatewaySuite()
  const simulate = async (body: object): Promise<Json> => {
    const answer = await send('POST', '/simulate', { body })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body
  }

  for (const { title, body, expected } of cases) {
    it(title, async () => {
      const seen = await simulate(body)
      assert.deepEqual({ ...seen, ...expected }, seen)
    })
  }

  it('scans a text with the real classifier', async () => {
    const text = "I can't do this anymore. I want to kill myself tonight."
    const { decision, triggered_categories: triggered, scores } = await simulate({ scenario: { text } })
    assert.deepEqual([decision, triggered], ['refuse', ['self-harm']])
    const { 'self-harm': high, hate: low } = scores as Record<string, number>
    assert.ok(high !== undefined && low !== undefined && high >= 0.5 && low < 0.5)
  })

  it('assigns the same user to the same side of a canary', async () => {
    const sides = async () => {
      const seen: unknown[] = []
      for (let user = 0; user < 20; user++) {
        const config = { rollout: { canary: { enabled: true, sample_percent: 50 } } }
        seen.push((await simulate({ config, scenario: { user: `user-${user}` } }))['enforced'])
      }
      return seen
    }
    const first = await sides()
    assert.deepEqual(await sides(), first)
    assert.equal(new Set(first).size, 2)
  })
})

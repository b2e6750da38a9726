import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../../../support/administration.ts'
import { gatewaySuite } from '../../../support/gateway-suite.ts'

type Case = { readonly says: string; readonly body: object; readonly wants: Json }

const hateful = { rules: { flagged_categories: ['hate'] } }
const denying = { rules: { denylist: ['project x'] } }

const cases: readonly Case[] = [
  {
    says: 'allows a text that no rule denies',
    body: {},
    wants: {
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
    says: 'treats given categories as found',
    body: { config: hateful, categories: ['hate'] },
    wants: { decision: 'refuse', reason_code: 'REFUSE', triggered_categories: ['hate'] },
  },
  {
    says: 'prefers the categories of the scenario',
    body: { config: hateful, scenario: { categories: [] }, categories: ['hate'] },
    wants: { decision: 'allow', triggered_categories: [] },
  },
  {
    says: 'prefers the policy to the config',
    body: { policy: { policy_id: 'tried' }, config: hateful, categories: ['hate'] },
    wants: { decision: 'allow', policy_id: 'tried' },
  },
  {
    says: 'ignores an unknown category',
    body: { config: hateful, categories: ['astrology'] },
    wants: { decision: 'allow', triggered_categories: [] },
  },
  {
    says: 'denies an always-blocked category even in shadow mode',
    body: { config: { ...hateful, rollout: { shadow: { enabled: true } } }, categories: ['self-harm', 'hate'] },
    wants: {
      decision: 'refuse',
      effective_decision: 'refuse',
      enforced: true,
      triggered_categories: ['self-harm', 'hate'],
      rollout_mode: 'shadow',
    },
  },
  {
    says: 'finds denied terms as whole words, in any case',
    body: { config: denying, scenario: { text: 'Tell me about PROJECT  X.' } },
    wants: { decision: 'refuse', denylist_hits: ['project x'] },
  },
  {
    says: 'finds no denied term inside of words',
    body: { config: denying, scenario: { text: 'project xylophone' } },
    wants: { decision: 'allow', denylist_hits: [] },
  },
  {
    says: 'finds patterns',
    body: { config: { rules: { denylist: ['/ACME-\\d{4}/'] } }, scenario: { text: 'ref ACME-1234' } },
    wants: { decision: 'refuse', denylist_hits: ['/ACME-\\d{4}/'] },
  },
  {
    says: 'scans messages with text and with blocks',
    body: {
      config: denying,
      scenario: {
        messages: [
          { role: 'user', content: 'hello' },
          { role: 'user', content: [{ type: 'text', text: 'project x' }] },
        ],
      },
    },
    wants: { decision: 'refuse', denylist_hits: ['project x'] },
  },
  {
    says: 'scans the joined text of blocks',
    body: {
      config: denying,
      scenario: { messages: [{ role: 'user', content: ['proj', 'ect x'].map((text) => ({ type: 'text', text })) }] },
    },
    wants: { decision: 'refuse', denylist_hits: ['project x'] },
  },
  {
    says: 'scans the arguments of a tool',
    body: {
      config: denying,
      scenario: {
        messages: [{ role: 'assistant', content: [{ type: 'tool_use', name: 'find', input: { what: 'project x' } }] }],
      },
    },
    wants: { decision: 'refuse' },
  },
  {
    says: 'scans other fields of messages, with and without a text',
    body: {
      config: { rules: { denylist: ['project x', 'project y'] } },
      scenario: {
        messages: [
          { role: 'assistant', content: null, tool_calls: [{ function: { arguments: '{"what":"project x"}' } }] },
          { role: 'assistant', content: [{ type: 'text', text: 'hello', citations: [{ cited_text: 'project y' }] }] },
        ],
      },
    },
    wants: { denylist_hits: ['project x', 'project y'] },
  },
  {
    says: 'requires an allowed term in a request',
    body: { config: { rules: { allowlist: ['tea'] } }, scenario: { text: 'coffee' } },
    wants: { decision: 'refuse', allowlist_hits: [] },
  },
  {
    says: 'accepts one of several allowed terms',
    body: { config: { rules: { allowlist: ['tea', 'milk'] } }, scenario: { text: 'tea, please' } },
    wants: { decision: 'allow', allowlist_hits: ['tea'] },
  },
  {
    says: 'requires no allowed term in an answer',
    body: { config: { rules: { allowlist: ['tea'] } }, scenario: { text: 'coffee', direction: 'response' } },
    wants: { decision: 'allow' },
  },
  {
    says: 'counts the redactions by kind',
    body: {
      config: { rules: { redact: true } },
      scenario: { text: 'a@example.org, b@example.org, 4111 1111 1111 1111' },
    },
    wants: { decision: 'redact', effective_decision: 'redact', redactions: { email: 2, card: 1 } },
  },
  {
    says: 'redacts nothing if redaction is not configured',
    body: { scenario: { text: 'a@example.org' }, config: {} },
    wants: { decision: 'allow', redactions: {} },
  },
  {
    says: 'escalates if configured, with the organization’s reason code',
    body: {
      config: { rules: { denylist: ['rum'], response_pattern: 'escalate', reason_codes: ['ESCALATE_DESK'] } },
      scenario: { text: 'rum' },
    },
    wants: { decision: 'escalate', reason_code: 'ESCALATE_DESK' },
  },
  {
    says: 'uses the organization’s reason code for allowed requests as well',
    body: { config: { rules: { reason_codes: ['ALLOW_HOUSE_RULES'] } } },
    wants: { decision: 'allow', reason_code: 'ALLOW_HOUSE_RULES' },
  },
  {
    says: 'reports the decision of shadow mode without enforcing it',
    body: { config: { ...denying, rollout: { shadow: { enabled: true } } }, scenario: { text: 'project x' } },
    wants: { decision: 'refuse', effective_decision: 'allow', enforced: false, rollout_mode: 'shadow' },
  },
  {
    says: 'assigns every user to a canary of 100 percent',
    body: { config: { ...denying, rollout: { canary: { enabled: true } } }, scenario: { text: 'project x' } },
    wants: { decision: 'refuse', effective_decision: 'refuse', enforced: true, rollout_mode: 'canary' },
  },
  {
    says: 'assigns no user to a canary of 0 percent',
    body: {
      config: { ...denying, rollout: { canary: { enabled: true, sample_percent: 0 } } },
      scenario: { text: 'project x' },
    },
    wants: { decision: 'refuse', effective_decision: 'allow', enforced: false, rollout_mode: 'canary' },
  },
  {
    says: 'does not enforce a rollout outside of its targets',
    body: {
      config: { ...denying, rollout: { shadow: { enabled: true, targets: ['eu'] } } },
      scenario: { text: 'project x', target: 'us' },
    },
    wants: { effective_decision: 'refuse', rollout_mode: 'enforced' },
  },
  {
    says: 'enforces a rollout for its targets',
    body: {
      config: { ...denying, rollout: { shadow: { enabled: true, targets: ['eu'] } } },
      scenario: { text: 'project x', target: 'eu' },
    },
    wants: { effective_decision: 'allow', rollout_mode: 'shadow' },
  },
]

describe('a simulation', () => {
  const { ask } = gatewaySuite()
  const simulate = async (body: object): Promise<Json> => {
    const answer = await ask('POST', '/simulate', { body })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body
  }

  for (const { says, body, wants } of cases) {
    it(says, async () => {
      const seen = await simulate(body)
      assert.deepEqual({ ...seen, ...wants }, seen)
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

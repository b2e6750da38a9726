import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../../../support/administration.ts'
import { gatewaySuite } from '../../../support/gateway-suite.ts'

const configurations: readonly object[] = [
  {},
  { rules: { denylist: ['falcon', '/FAL-\\d+/'], redact: true } },
  { rules: { allowlist: ['tea'], reason_codes: ['REFUSE_TOPIC'] } },
  { rules: { denylist: ['falcon'], response_pattern: 'escalate' }, rollout: { canary: { enabled: true } } },
  { rules: { denylist: ['falcon'], rewrite_instead_of_refuse: true, redact: true } },
  { rules: { denylist: ['falcon'] }, rollout: { shadow: { enabled: true } } },
  { rules: { denylist: ['falcon'] }, rollout: { canary: { enabled: true, sample_percent: 0 } } },
]
const texts = [
  'tea, please',
  'What is Falcon?',
  'FAL-12, ada@example.org',
  'tea for ada@example.org',
  "I can't do this anymore. I want to kill myself tonight.",
]

describe('a simulation', () => {
  const { scene, send } = gatewaySuite()

  /** The `policy` field of the answer to a real request; absent if no rule applied. */
  async function enforced(text: string): Promise<Json> {
    const messages = [{ role: 'user', content: text }]
    const body = { model: 'gatehouse-echo', max_tokens: 50, messages }
    const response = await scene().post('/v1/messages', body, { authorization: `Bearer ${scene().apiKey}` })
    const answer = (await response.json()) as Json
    return { ...(answer['policy'] as Json | undefined), status: response.status }
  }

  for (const config of configurations) {
    it(`predicts the decision of a real request: ${JSON.stringify(config)}`, async () => {
      assert.equal((await send('PUT', '/config', { body: config })).status, 200)
      for (const text of texts) {
        const { body: simulated } = await send('POST', '/simulate', { body: { scenario: { text } } })
        const { status, ...policy } = await enforced(text)
        assert.equal(simulated['effective_decision'], policy['effective_decision'] ?? 'allow', text)
        assert.equal(simulated['decision'], policy['decision'] ?? 'allow', text)
        assert.equal(simulated['reason_code'], policy['reason_code'] ?? 'ALLOW', text)
        const isStopped = ['refuse', 'escalate'].includes(String(simulated['effective_decision']))
        assert.equal(status, isStopped ? 400 : 200, text)
      }
    })
  }
})

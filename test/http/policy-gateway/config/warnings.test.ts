import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Answer } from '../../../support/administration.ts'
import { gatewaySuite } from '../../../support/gateway-suite.ts'

const rewriting: readonly object[] = [
  { rules: { response_pattern: 'rewrite' } },
  { rules: { response_pattern: 'summary' } },
  { rules: { rewrite_instead_of_refuse: true } },
  { refusal_replacement: { mode: 'rewrite' } },
]

const warningsOf = ({ headers, body }: Answer): unknown[] => [
  headers.get('x-gatehouse-warning'),
  (body['warnings'] as { code: string }[]).map(({ code }) => code),
]

describe('saving a configuration without a judge', () => {
  const { send } = gatewaySuite()

  for (const body of rewriting) {
    it(`warns that ${JSON.stringify(body)} refuses, and saves it`, async () => {
      const saved = await send('PUT', '/config', { body })
      assert.equal(saved.status, 200)
      assert.deepEqual(warningsOf(saved), ['rewrite_without_judge', ['rewrite_without_judge']])
      const read = await send('GET', '/config')
      assert.deepEqual(read.body, saved.body)
    })
  }

  it('gives no warning about one that rewrites nothing', async () => {
    const rules = { response_pattern: 'escalate', rewrite_instead_of_refuse: true }
    assert.deepEqual(warningsOf(await send('PUT', '/config', { body: { rules } })), [null, []])
  })
})

describe('simulating a configuration without a judge', () => {
  const { send } = gatewaySuite()
  const scenario = { text: 'What is project x?' }

  for (const config of rewriting) {
    it(`warns that ${JSON.stringify(config)} refuses`, async () => {
      const simulated = await send('POST', '/simulate', { body: { config, scenario } })
      assert.equal(simulated.status, 200)
      assert.deepEqual(warningsOf(simulated), ['rewrite_without_judge', ['rewrite_without_judge']])
    })
  }

  it('warns about the saved one, and about one that the simulation saves', async () => {
    const config = { rules: { response_pattern: 'rewrite' } }
    const persisted = await send('POST', '/simulate', { body: { config, scenario, persist: true } })
    assert.deepEqual(warningsOf(persisted), ['rewrite_without_judge', ['rewrite_without_judge']])
    const simulated = await send('POST', '/simulate', { body: { scenario } })
    assert.deepEqual(warningsOf(simulated), ['rewrite_without_judge', ['rewrite_without_judge']])
  })

  it('gives no warning about one that rewrites nothing', async () => {
    const body = { config: { rules: { denylist: ['project x'] } }, scenario }
    assert.deepEqual(warningsOf(await send('POST', '/simulate', { body })), [null, []])
  })
})

describe('saving a configuration with a judge', () => {
  const { send } = gatewaySuite({ config: { policies: { judge: { model: 'gatehouse-echo' } } } })

  it('gives no warning about one that rewrites', async () => {
    for (const body of rewriting) assert.deepEqual(warningsOf(await send('PUT', '/config', { body })), [null, []])
  })
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openInjectionScene } from './scene.ts'

describe('prompt injections in the gateway configuration', () => {
  it('are monitored everywhere by default', async () => {
    await using scene = await openInjectionScene()
    const { config } = (await scene.set({})) as { config: { rules: { prompt_injection: unknown } } }
    assert.deepEqual(config.rules.prompt_injection, {
      tool_results: 'monitor',
      documents: 'monitor',
      user_text: 'monitor',
    })
  })

  it('have a mode for each place, and those that are left out are monitored', async () => {
    await using scene = await openInjectionScene()
    const { config } = (await scene.set({ documents: 'block', user_text: 'off' })) as {
      config: { rules: { prompt_injection: unknown } }
    }
    assert.deepEqual(config.rules.prompt_injection, {
      tool_results: 'monitor',
      documents: 'block',
      user_text: 'off',
    })
  })

  it('reject a place or a mode that does not exist, and name the field', async () => {
    await using scene = await openInjectionScene()
    const headers = { authorization: `Bearer ${scene.adminKey}`, 'content-type': 'application/json' }
    for (const [given, field] of [
      [{ answers: 'block' }, /prompt_injection.*answers/],
      [{ user_text: 'deny' }, /prompt_injection.*user_text/],
    ] as const) {
      const body = JSON.stringify({ rules: { prompt_injection: given } })
      const response = await fetch(`${scene.url}/api/policy-gateway/config`, { method: 'PUT', headers, body })
      assert.equal(response.status, 422)
      assert.match(await response.text(), field)
    }
  })
})

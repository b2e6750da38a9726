import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { after, before, describe, it } from 'node:test'
import { attack, formats, openInjectionScene, type InjectionScene, type Place } from './scene.ts'

type Backtest = { readonly id: string; readonly status: string; readonly result: Readonly<Record<string, unknown>> }

const [chat] = formats

describe('a backtest of what is done about prompt injections', () => {
  let scene: InjectionScene
  before(async () => {
    scene = await openInjectionScene()
    assert.ok(chat !== undefined)
    for (const place of ['tool_results', 'user_text'] as const) await scene.send(chat.path, chat.with[place](attack))
    for (const content of ['Guided tours start at noon.', 'When does the shop close?'])
      await scene.send(chat.path, { messages: [{ role: 'user', content }] })
    const answered = [
      { role: 'system', content: attack },
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: attack },
      { role: 'user', content: 'Thanks' },
    ]
    await scene.send(chat.path, { messages: answered })
  })
  after(() => scene[Symbol.asyncDispose]())

  async function resultOf(path: string, order: object): Promise<Backtest['result']> {
    const { id } = await scene.change(path, order)
    for (;;) {
      const backtest = (await (
        await scene.get(`${path}/${String(id)}`, { authorization: `Bearer ${scene.adminKey}` })
      ).json()) as Backtest
      if (backtest.status === 'completed') return backtest.result
      assert.match(backtest.status, /queued|running/, JSON.stringify(backtest))
      await setTimeout(300)
    }
  }

  const configuration = (modes: Partial<Record<Place, string>>) =>
    resultOf('/api/policy-gateway/config/backtest', { config: { rules: { prompt_injection: modes } } })

  for (const [modes, denied] of [
    [{}, 0],
    [{ user_text: 'block' }, 1],
    [{ tool_results: 'block' }, 1],
    [{ user_text: 'block', tool_results: 'block' }, 2],
    [{ documents: 'block' }, 0],
  ] as const)
    it(`counts the requests that the configuration would deny: ${JSON.stringify(modes)}`, async () => {
      const { newly_blocked: blocked, unchanged } = await configuration(modes)
      assert.deepEqual([blocked, unchanged], [denied, 5 - denied])
    })

  for (const [rule, denied] of [
    ['cel:prompt_injection.user_text > 0.5', 1],
    ['cel:prompt_injection.tool_results > 0.5', 1],
    ['No prompt injections.', 2],
  ] as const)
    it(`counts the requests that a rule would deny: ${rule}`, async () => {
      const content = { name: rule, rule, direction: 'both', scope: 'organization' }
      const { id } = await scene.change('/v1/organization/policies', content)
      const counts = await resultOf(`/v1/organization/policies/${String(id)}/backtest`, {})
      assert.equal(counts['newly_blocked'], denied, JSON.stringify(counts))
    })

  it('counts what the configuration denied and would allow now', async () => {
    assert.ok(chat !== undefined)
    await scene.set({ user_text: 'block' })
    const { status } = await scene.send(chat.path, chat.with.user_text(attack))
    assert.equal(status, 400)
    const { newly_allowed: allowed, newly_blocked: blocked } = await configuration({})
    assert.deepEqual([allowed, blocked], [1, 0])
  })
})

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { attack, formats, openInjectionScene, type InjectionScene, type Place } from './scene.ts'

type Explanation = {
  readonly deciding: { readonly check: string; readonly threshold_bp: number } | null
  readonly evidence: readonly { readonly check: string; readonly name: string; readonly quote: string | null }[]
  readonly nearest: readonly { readonly change: string; readonly check: string | null }[]
  readonly differs: readonly unknown[]
}

describe('the explanation of a prompt injection', () => {
  let scene: InjectionScene
  before(async () => void (scene = await openInjectionScene()))
  after(() => scene[Symbol.asyncDispose]())

  const explain = async (place: Place): Promise<Explanation> => {
    const [chat] = formats
    assert.ok(chat !== undefined)
    const { detail } = await scene.send(chat.path, chat.with[place](attack))
    const headers = { authorization: `Bearer ${scene.adminKey}` }
    const path = `/v1/organization/requests/${detail.id}/explanation?include=content`
    return (await (await scene.get(path, headers)).json()) as Explanation
  }

  for (const place of ['tool_results', 'user_text'] as const)
    it(`names the passage in ${place}, and the check without which the request passes`, async () => {
      await scene.set({ [place]: 'block' })
      const { deciding, evidence, nearest, differs } = await explain(place)
      assert.deepEqual([deciding?.check, deciding?.threshold_bp], ['prompt_injection', 5_000])
      assert.deepEqual([evidence[0]?.check, evidence[0]?.name], ['prompt_injection', 'prompt_injection'])
      assert.ok(attack.startsWith(evidence[0]?.quote ?? '-'))
      assert.ok(nearest.some(({ change, check }) => change === 'without_check' && check === 'prompt_injection'))
      assert.deepEqual(differs, [])
    })

  it('is the same if the place is blocked and the configuration is only tried', async () => {
    await scene.set({ user_text: 'block' }, { rollout: { shadow: { enabled: true } } })
    const { deciding, evidence, differs } = await explain('user_text')
    assert.deepEqual([deciding?.check, evidence[0]?.check, differs], ['prompt_injection', 'prompt_injection', []])
  })

  it('has none where nothing was searched for', async () => {
    await scene.set({ user_text: 'off' })
    const { deciding, evidence, differs } = await explain('user_text')
    assert.deepEqual([deciding, evidence, differs], [null, [], []])
  })

  it('is the same for one that was only recorded', async () => {
    await scene.set({})
    const { deciding, evidence, differs } = await explain('tool_results')
    assert.deepEqual([deciding?.check, evidence[0]?.check, differs], ['prompt_injection', 'prompt_injection', []])
  })
})

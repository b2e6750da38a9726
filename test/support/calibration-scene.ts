import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { textOf, type Admin, type Json } from './administration.ts'
import type { TestAppOptions } from './app.ts'
import { publish, startScene, withJudge } from './judge-scene.ts'
import type { Script } from './upstream.ts'

/** The text between the marks of a prompt, and all of the prompt. */
export type Question = { readonly text: string; readonly system: string; readonly user: string }

/** A judge whose score depends on the text. The reported model is the one that is asked for unless another is named. */
export const judgeWith =
  (scoreOf: (question: Question) => number | Promise<number>, reported?: string): Script =>
  async (response, { body }) => {
    const { model, messages } = JSON.parse(body) as { model: string; messages: { content: string }[] }
    const [system = '', user = ''] = messages.map(({ content }) => content)
    const text = /BEGIN \w{32}\n([\s\S]*)\nEND \w{32}/.exec(user)?.[1] ?? ''
    const score = await scoreOf({ text, system, user })
    const choice = { index: 0, message: { role: 'assistant', content: `{"score": ${score}}` }, finish_reason: 'stop' }
    const usage = { prompt_tokens: 200, completion_tokens: 8, total_tokens: 208 }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: reported ?? model,
        choices: [choice],
        usage,
      }),
    )
  }

/** A judge that people agree with: labelled texts are rude if they say so, and every injection attempt is. */
export const agreeing = judgeWith(({ text }) => (isPolite(text) ? 0.1 : 0.9))

export const isPolite = (text: string): boolean => text.startsWith('polite')

export type CalibrationSceneOptions = TestAppOptions & { readonly judge?: object; readonly labels?: number }

/** An app with a judge in the configuration, a judge of the organization, and a policy with labels of both kinds. */
export async function startCalibrationScene({ judge = {}, labels = 60, ...app }: CalibrationSceneOptions = {}) {
  await using opened = new AsyncDisposableStack()
  // An answer costs 0.2 USD, so that costs can be read.
  const scene = opened.use(await startScene(withJudge({ max_usd_per_day: 100_000, ...judge }), app))
  const { admin } = scene.app
  scene.judge.answer(agreeing)
  const policy = textOf((await publish(scene.app, 'Be polite.')).body)
  await addLabels(admin, policy, labels)
  const kept = opened.move()
  return {
    ...scene,
    admin,
    policy,
    create: (body: object = {}): Promise<Json> =>
      admin.post('/judges', { name: 'Own', model: 'judge-model', max_usd_per_day: 10_000, ...body }),
    calibrate: (judgeId: string, body: object = {}) => calibrate(admin, judgeId, body),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Half of them should match. */
async function addLabels(admin: Admin, policyId: string, count: number): Promise<void> {
  for (let at = 0; at < count; at++) {
    const isMatch = at % 2 === 0
    const body = {
      says: `label ${at}`,
      given: { text: `${isMatch ? 'rude' : 'polite'} text ${at}` },
      expect: isMatch ? 'match' : 'no_match',
    }
    await admin.post(`/policies/${policyId}/cases`, body)
  }
}

export async function calibrate(admin: Admin, judgeId: string, body: object = {}): Promise<Json> {
  const { id } = await admin.post(`/judges/${judgeId}/calibrations`, body)
  return ended(admin, `/judges/${judgeId}/calibrations/${String(id)}`)
}

/** Waits until it is no longer running. */
async function ended(admin: Admin, path: string): Promise<Json> {
  for (let tries = 0; tries < 200; tries++) {
    const found = await admin.get(path)
    if (found['status'] !== 'running') return found
    await setTimeout(50)
  }
  assert.fail(`${path} did not end`)
}

import { randomUUID } from 'node:crypto'
import { startAdminApp, textOf, type AdminApp } from './administration.ts'
import { answerWith } from './paid-app.ts'
import type { TestAppOptions } from './app.ts'
import { startUpstream, type TestUpstream } from './upstream.ts'

/** An app with one model for callers and one for the judge. */
export async function startScene(policies: object = {}, { config, ...world }: TestAppOptions = {}) {
  await using opened = new AsyncDisposableStack()
  const upstream = opened.use(await startUpstream(answerWith('A plain answer.', { input: 5, output: 5 })))
  const judge = opened.use(await startUpstream(answerWith('{"score": 0}', { input: 200, output: 8 })))
  const at = (name: string, { url }: TestUpstream) => ({ name, kind: 'openai-chat', base_url: `${url}/v1` })
  const app = opened.use(
    await startAdminApp({
      ...world,
      config: {
        upstreams: [at('main', upstream), at('judge', judge)],
        models: [
          { name: 'default-model', targets: [{ upstream: 'main' }] },
          { name: 'judge-model', targets: [{ upstream: 'judge' }], price: { input: 1_000, output: 1_000 } },
        ],
        policies,
        ...config,
      },
    }),
  )
  const kept = opened.move()
  return { app, upstream, judge, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

export const withJudge = (settings: object = {}) => ({ judge: { model: 'judge-model', ...settings } })

/** Publishes a policy, enforcing and for requests unless the content says otherwise. */
export async function publish({ admin }: AdminApp, rule: string, content: object = {}) {
  const draft = await admin.post('/policies', {
    name: `Rule ${randomUUID()}`,
    rule,
    mode: 'enforcing',
    direction: 'request',
    ...content,
  })
  return admin.send('POST', `/policies/${textOf(draft)}/publish`, { body: { revision: 1 } })
}

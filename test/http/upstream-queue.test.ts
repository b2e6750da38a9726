import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startTestApp } from '../support/app.ts'
import { answerJson, startUpstream, type Script } from '../support/upstream.ts'

const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
}

/** An upstream that answers a call only when it is released. */
async function startScene(queueTimeoutMs: number) {
  await using built = new AsyncDisposableStack()
  const held: (() => void)[] = []
  const arrivals: PromiseWithResolvers<void>[] = [Promise.withResolvers()]
  const script: Script = async (response, request) => {
    await new Promise<void>((resolve) => {
      held.push(resolve)
      arrivals.at(-1)?.resolve()
      arrivals.push(Promise.withResolvers())
    })
    await answerJson(completion)(response, request)
  }
  const upstream = built.use(await startUpstream(script))
  const base = { kind: 'openai-chat', base_url: `${upstream.url}/v1`, max_concurrent: 1 }
  const app = built.use(
    await startTestApp({
      config: {
        upstreams: [{ ...base, name: 'busy', queue_timeout_ms: queueTimeoutMs }],
        models: [{ name: 'm', targets: [{ upstream: 'busy' }] }],
      },
    }),
  )
  const kept = built.move()
  return {
    app,
    upstream,
    /** Resolves when the upstream has received this many calls. */
    arrived: (count: number): Promise<void> | undefined => arrivals[count - 1]?.promise,
    /** Resolves when this many calls wait. */
    async waiting(count: number): Promise<void> {
      const line = new RegExp(`^gatehouse_upstream_queue_calls ${count}$`, 'm')
      while (!line.test(await (await app.get('/metrics')).text())) await new Promise(setImmediate)
    },
    release: (): void => held.shift()?.(),
    send: (path = '/v1/chat/completions', signal?: AbortSignal) =>
      fetch(app.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${app.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'm',
          ...(path === '/v1/responses' ? { input: 'Hi' } : { messages: [{ role: 'user', content: 'Hi' }] }),
        }),
        ...(signal && { signal }),
      }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

describe('an upstream with max_concurrent', () => {
  it('answers a call above it from the queue when another one has ended, and counts the wait', async () => {
    await using scene = await startScene(60_000)
    const first = scene.send()
    await scene.arrived(1)
    const second = scene.send()
    await scene.waiting(1)
    scene.release()
    assert.equal((await first).status, 200)
    await scene.arrived(2)
    scene.release()
    assert.equal((await second).status, 200)
    const metrics = await (await scene.app.get('/metrics')).text()
    assert.match(metrics, /gatehouse_upstream_queue_seconds_count\{upstream="busy",result="called"\} 1/)
  })

  for (const [path, status] of [
    ['/v1/chat/completions', 503],
    ['/v1/responses', 503],
    ['/v1/messages', 529],
  ] as const) {
    it(`answers ${status} with a time to wait at ${path} if no call ends in time`, async () => {
      await using scene = await startScene(1)
      const first = scene.send()
      await scene.arrived(1)
      const second = await scene.send(path)
      assert.deepEqual([second.status, second.headers.get('retry-after')], [status, '1'])
      assert.match(await second.text(), /Too many concurrent calls/)
      scene.release()
      assert.equal((await first).status, 200)
    })
  }

  it('forgets a caller that disconnects while it waits', async () => {
    await using scene = await startScene(60_000)
    const first = scene.send()
    await scene.arrived(1)
    const aborter = new AbortController()
    const second = scene.send('/v1/chat/completions', aborter.signal)
    await scene.waiting(1)
    const third = scene.send()
    await scene.waiting(2)
    aborter.abort()
    await assert.rejects(second)
    await scene.waiting(1)
    scene.release()
    assert.equal((await first).status, 200)
    await scene.arrived(2)
    scene.release()
    assert.equal((await third).status, 200)
  })
})

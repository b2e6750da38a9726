import assert from 'node:assert/strict'
import { question } from './paid-app.ts'

/** Concurrent callers that send one request after the other until stopped. */
export function startLoad(url: string, apiKey: string) {
  const acknowledged = new Set<string>()
  const waiting: { count: number; resolve: () => void }[] = []
  let isOver = false
  async function send(): Promise<void> {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` }
    const body = JSON.stringify(question)
    while (!isOver) {
      const answer = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body }).catch(() => undefined)
      if ((await answer?.text().catch(() => undefined)) === undefined) return
      assert.equal(answer?.status, 200)
      acknowledged.add(answer.headers.get('x-request-id') ?? '')
      for (const { count, resolve } of waiting) if (acknowledged.size >= count) resolve()
    }
  }
  const callers = Array.from({ length: 4 }, send)
  return {
    acknowledged,
    /** Resolves after this many further responses. */
    more(count: number): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push({ count: acknowledged.size + count, resolve })
      return promise
    },
    async stop(): Promise<void> {
      isOver = true
      await Promise.all(callers)
    },
  }
}

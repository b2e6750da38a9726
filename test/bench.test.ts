import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cases } from '../bench/cases.ts'
import { createTextWriter } from '../bench/load/text.ts'
import { createRequests, readInstruction, type Workload } from '../bench/load/workload.ts'
import { startUpstream } from '../bench/targets.ts'
import { freePort } from '../bench/targets/script.ts'
import { startTestApp } from './support/app.ts'

const requestCount = 20

describe('the bench', () => {
  it('calls the classifier for every request and answer of its default case', async () => {
    const calls = await classifiedTexts(workloadOf('whole, fresh'))
    assert.ok(calls.request >= requestCount, `${calls.request} calls for ${requestCount} requests`)
    assert.ok(calls.response >= requestCount, `${calls.response} calls for ${requestCount} answers`)
  })

  it('takes the verdicts of repeated requests from the cache', async () => {
    const calls = await classifiedTexts(workloadOf('whole, repeated'))
    assert.ok(calls.request < requestCount, `${calls.request} calls for ${requestCount} requests`)
  })

  it('writes no text twice, and the same texts for the same seed', () => {
    const write = createTextWriter(1)
    const texts = Array.from({ length: 1000 }, () => write(180))
    assert.equal(new Set(texts).size, texts.length)
    const again = createTextWriter(1)
    assert.deepEqual(
      Array.from({ length: 1000 }, () => again(180)),
      texts,
    )
  })

  it('tells the upstream in the prompt how to answer', () => {
    for (const { workload } of cases) {
      const { text, stream } = workload
      const { number, bytes } = createRequests({ workload, headers: [''], seed: 1 })()
      const read = { text, number: text === 'fresh' ? number : 0, ...(stream !== undefined && { stream }) }
      assert.deepEqual(readInstruction(bytes), read)
    }
  })
})

function workloadOf(name: string): Workload {
  const found = cases.find((benchCase) => benchCase.name === name)
  assert.ok(found)
  return found.workload
}

/** Sends the requests of a workload through a gateway, and returns how many texts its classifier read. */
async function classifiedTexts(workload: Workload): Promise<{ request: number; response: number }> {
  const upstream = await startUpstream(await freePort())
  try {
    await using app = await startTestApp({
      config: {
        upstreams: [{ name: 'c', kind: 'openai-chat', base_url: `http://127.0.0.1:${upstream.port}/v1` }],
        models: [{ name: 'chat', targets: [{ upstream: 'c', model: 'm' }] }],
      },
    })
    const next = createRequests({ workload, headers: [''], seed: 1 })
    for (let sent = 0; sent < requestCount; sent++) {
      const [, body = ''] = next().bytes.split('\r\n\r\n')
      const answer = await app.post('/v1/chat/completions', body)
      assert.equal(answer.status, 200)
      await answer.text()
    }
    const metrics = await (await app.get('/metrics')).text()
    const count = (direction: string): number =>
      Number(
        new RegExp(`^gatehouse_classified_texts_total\\{direction="${direction}"\\} (\\d+)$`, 'm').exec(metrics)?.[1],
      )
    return { request: count('request'), response: count('response') }
  } finally {
    upstream.stop()
  }
}

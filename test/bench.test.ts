import assert from 'node:assert/strict'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { cases } from '../bench/cases.ts'
import { chatFormat } from '../bench/load/answers.ts'
import { openConnection } from '../bench/load/connection.ts'
import { createTextWriter } from '../bench/load/text.ts'
import { createRequests, readInstruction, type Workload } from '../bench/load/workload.ts'
import type { Figure } from '../bench/measure.ts'
import { aimsOf } from '../bench/report/aims.ts'
import { rowsOf } from '../bench/report/rows.ts'
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

  it('finds the end of an answer and its text however the network cuts it', async () => {
    const text = ['One', ' word', ' after', ' another.']
    const frames = [chatFormat.beginning, ...text.map(chatFormat.chunk), chatFormat.end(text.length)].join('')
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
    const bytes = `${head}${frames.length.toString(16)}\r\n${frames}\r\n0\r\n\r\n`
    for (const size of [1, 7, 100, bytes.length]) {
      const answers = await answersOf(bytes, size)
      assert.deepEqual(answers, [{ isOk: true, characters: text.join('').length }])
    }
  })

  it('compares a target with the bare proxy of the same round', () => {
    const costs: [string, number][] = [
      ['bare', 100],
      ['gatehouse', 500],
      ['bare', 200],
      ['gatehouse', 1000],
      ['bare', 100],
      ['gatehouse', 900],
    ]
    const figures = costs.map(([target, cpuMicros]) => figureOf(target, cpuMicros))
    const [fresh] = rowsOf(figures)
    assert.deepEqual(
      fresh?.rows.map(({ target, timesBare }) => [target, timesBare]),
      [
        ['bare', 1],
        ['gatehouse', 5],
      ],
    )
  })

  it('shows only the aims whose cases ran, and whether they are met', () => {
    const figures = [figureOf('gatehouse', 300), figureOf('gatehouse, 20 policies', 400), figureOf('portkey', 600)]
    const run = { date: '', commit: '', cpu: '', cores: 2, node: '', rounds: 1, seconds: 1 }
    const aims = aimsOf({ ...run, durableWrite: { p50Ms: 1, p99Ms: 1 }, figures })
    assert.deepEqual(
      aims.map(({ what, measured, isMet }) => [what, measured, isMet]),
      [
        ['Whole request, fresh text, against Portkey', '0.50 times', true],
        ['20 policies, against none', '1.33 times', false],
      ],
    )
  })
})

const figureOf = (target: string, cpuMicros: number): Figure => ({
  case: 'whole, fresh',
  target,
  cpuMicros,
  requests: 1,
  failures: 0,
  p50Ms: 1,
  p99Ms: 1,
  threads: {},
  residentKb: 1,
  warmUpSeconds: 0,
  hasSettled: true,
  loadMicros: 1,
})

/** What a connection of the load generator reports if a server sends these bytes in parts of this size. */
async function answersOf(bytes: string, size: number): Promise<{ isOk: boolean; characters: number }[]> {
  const server = createServer((socket) => {
    socket.setNoDelay(true)
    socket.once('data', () => void sendInParts(socket, bytes, size))
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const answers: { isOk: boolean; characters: number }[] = []
  let characters = 0
  await new Promise<void>((resolve) => {
    let isSent = false
    const connection = openConnection(port, 'chat', {
      onIdle() {
        if (isSent) return connection.close()
        isSent = true
        connection.send({ number: 1, bytes: 'POST / HTTP/1.1\r\n\r\n' })
      },
      onAnswer: (isOk) => void answers.push({ isOk, characters }),
      onText: (_number, count) => void (characters = count),
      onClose: resolve,
    })
  })
  server.close()
  return answers
}

async function sendInParts(socket: Socket, bytes: string, size: number): Promise<void> {
  for (let at = 0; at < bytes.length; at += size) {
    socket.write(bytes.slice(at, at + size))
    await setImmediate()
  }
}

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

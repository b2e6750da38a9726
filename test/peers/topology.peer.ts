import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { parse } from 'yaml'
import { collectorProgram } from '../../scripts/peers/collector.ts'
import { startTopology, type Topology } from '../../scripts/peers/topology/start.ts'
import { answerWith, question, streamFrames } from '../support/paid-app.ts'
import { startUpstream, type Script, type TestUpstream } from '../support/upstream.ts'

const skip = process.env['PEER_TOPOLOGY'] ? false : 'the packages of the topology are not installed'
const withoutCollector = !existsSync(collectorProgram) && 'no OpenTelemetry Collector'

type Answer = { readonly status: number; readonly id: string }

const unlimited = { rpm: 0, rpd: 0, tpm: 0, tpd: 0, concurrent: { key: 0, project: 0, organization: 0 } }
const hello = answerWith('Hello', { input: 3, output: 2 })
const parallel = 8

/** Repeats a check that becomes true on a busy machine, too. */
async function until(what: string, isReached: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + 120_000
  while (!(await isReached())) {
    if (performance.now() > deadlineMs) assert.fail(`this did not happen: ${what}`)
    await sleep(200)
  }
}

describe('the cluster of the compose file, started from packages', { skip }, () => {
  const opened = new AsyncDisposableStack()
  let cluster: Topology
  let upstream: TestUpstream
  let tempo: Tempo
  let apiKey: string
  let limitedKey: string

  before(async () => {
    upstream = opened.use(await startUpstream(hello))
    tempo = opened.use(await startTempo())
    cluster = opened.use(
      await startTopology({
        tempoUrl: tempo.url,
        settings: {
          upstreams: [{ name: 'up', kind: 'openai-chat', base_url: `${upstream.url}/v1` }],
          models: [{ name: 'paid', targets: [{ upstream: 'up' }], price: { input: 1000, output: 1000 } }],
          limits: { tiers: { free: unlimited } },
          credits: { starting: 1_000_000 },
          storage: { redis_timeout_ms: 5_000, database_timeout_ms: 10_000 }, // for a busy machine
        },
      }),
    )
    apiKey = String(cluster.command('keys', 'create', '--name', 'unlimited')['value'])
    // Before the first request, so that no node has other limits of the organization in its cache.
    const limited = cluster.command('keys', 'create', '--name', 'limited')
    cluster.command('orgs', 'set-limits', '--key', String(limited['id']), '--rpd', '20')
    limitedKey = String(limited['value'])
  })
  after(() => opened.disposeAsync())

  type Options = { readonly headers?: Record<string, string>; readonly signal?: AbortSignal }
  const post = (body: object, key: string, { headers = {}, ...options }: Options = {}): Promise<Response> =>
    fetch(`${cluster.proxyUrl}/v1/messages`, {
      ...options,
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    })

  /** The status is 0 if the connection was closed without an answer. */
  async function send(key = apiKey): Promise<Answer> {
    try {
      const response = await post(question, key)
      await response.arrayBuffer()
      return { status: response.status, id: response.headers.get('x-request-id') ?? '' }
    } catch {
      return { status: 0, id: '' }
    }
  }

  /** Sends requests in parallel until `count` are answered, or `isDone`. */
  async function sendMany(count: number, isDone: (answered: number) => boolean = () => false): Promise<Answer[]> {
    const answers: Answer[] = []
    const worker = async (): Promise<void> => {
      while (answers.length < count && !isDone(answers.length)) {
        answers.push(await send())
        await sleep(10)
      }
    }
    await Promise.all(Array.from({ length: parallel }, worker))
    return answers
  }

  /** The answered requests that a node has counted since its start. */
  async function answeredBy(at: number): Promise<number> {
    const metrics = await (await fetch(cluster.nodes[at]?.metricsUrl ?? '')).text()
    const counts = metrics.matchAll(/^gatehouse_requests_total\{.*outcome="answered".*\} (\d+)$/gm)
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
  }

  async function fromPrometheus(path: string) {
    const { data } = (await (await fetch(`${cluster.prometheusUrl}/api/v1/${path}`)).json()) as { data: PrometheusData }
    return data
  }

  it('answers through the proxy, on both nodes', async () => {
    const answers = await sendMany(40)
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    const shares = [await answeredBy(0), await answeredBy(1)]
    assert.ok(!shares.includes(0), `answered by the nodes: ${shares.join(', ')}`)
  })

  it('serves no metrics through the proxy', async () => {
    assert.equal((await fetch(`${cluster.proxyUrl}/health/ready`)).status, 200)
    assert.equal((await fetch(`${cluster.proxyUrl}/metrics`)).status, 404)
  })

  it('sends a chunk of a stream on before the next one exists', async () => {
    const first = Promise.withResolvers<void>()
    const [begin = '', ...rest] = streamFrames(['One two three four. ', 'Five six.'], { input: 3, output: 9 })
    const script: Script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(begin)
      await first.promise
      for (const frame of rest) response.write(frame)
      response.end()
    }
    upstream.answer(script, hello)
    const response = await post({ ...question, stream: true }, apiKey)
    let text = ''
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      if (text.includes('One two')) first.resolve() // the upstream has sent nothing else yet
    }
    assert.match(text, /Five six.*message_stop/s)
  })

  it('ends the call to the upstream when the caller leaves', async () => {
    const reached = Promise.withResolvers<void>()
    let hasEnded = false
    const withoutAnswer: Script = async (_response, { hungUp }) => {
      reached.resolve()
      hasEnded = await hungUp
    }
    upstream.answer(withoutAnswer, hello)
    const caller = new AbortController()
    const left = assert.rejects(post(question, apiKey, { signal: caller.signal }), { name: 'AbortError' })
    await reached.promise
    caller.abort()
    await left
    await until('the call to the upstream ends', async () => hasEnded)
  })

  it('takes the address of a caller from the proxy, not from headers that the caller sends', async () => {
    const keyFor = (network: string): string =>
      String(cluster.command('keys', 'create', '--name', network, '--allow-ip', network)['value'])
    const headers = { 'x-forwarded-for': '203.0.113.7', forwarded: 'for=203.0.113.7', 'x-real-ip': '203.0.113.7' }
    const statusWith = async (key: string): Promise<number> => {
      const response = await post(question, key, { headers })
      await response.arrayBuffer()
      return response.status
    }
    assert.equal(await statusWith(keyFor('127.0.0.1/32')), 200)
    assert.notEqual(await statusWith(keyFor('203.0.113.0/24')), 200)
  })

  it('counts one limit over both nodes', async () => {
    // Until both nodes have contributed to the shared counters, each admits only its share.
    let admitted = 0
    for (let round = 0; round < 5 && admitted < 20; round++) {
      const answers = await Promise.all(Array.from({ length: 60 }, () => send(limitedKey)))
      admitted += answers.filter(({ status }) => status === 200).length
    }
    assert.equal(admitted, 20)
    assert.equal((await send(limitedKey)).status, 429)
  })

  it('is scraped by Prometheus, whose alerts have no problem', async () => {
    await until('both nodes are scraped', async () => {
      const { activeTargets } = await fromPrometheus('targets')
      return activeTargets.length === 2 && activeTargets.every(({ health }) => health === 'up')
    })
    const written: { groups: { rules: { alert: string }[] }[] } = parse(
      readFileSync('deploy/observability/alerts.yaml', 'utf8'),
    )
    const rulesIn = async () => (await fromPrometheus('rules')).groups.flatMap(({ rules }) => rules)
    await until('every alert is evaluated', async () => !(await rulesIn()).some(({ health }) => health === 'unknown'))
    assert.deepEqual([...new Set((await rulesIn()).map(({ health }) => health))], ['ok'])
    assert.deepEqual(
      (await rulesIn()).map(({ name }) => name),
      written.groups.flatMap(({ rules }) => rules.map(({ alert }) => alert)),
    )
  })

  it('sends the spans of a request through the collector', { skip: withoutCollector }, async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' // 01: recorded
    const response = await post(question, apiKey, { headers: { traceparent } })
    const id = response.headers.get('x-request-id') ?? ''
    assert.equal(response.status, 200, await response.text())
    await until('the spans of the request arrive', async () => {
      const received = tempo.received.filter((text) => text.includes(id))
      return received.some((text) => text.includes('POST /v1/messages') && text.includes('chat paid'))
    })
  })

  it('answers every request while a node shuts down', async () => {
    let exitCode: number | null | undefined
    void cluster.nodes[1]?.end('SIGTERM').then((code) => (exitCode = code))
    const answers = await sendMany(5_000, () => exitCode !== undefined)
    assert.equal(exitCode, 0)
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    await cluster.nodes[1]?.start()
    await until('the proxy uses the node again', async () => {
      await sendMany(parallel)
      return (await answeredBy(1)) > 0
    })
  })

  it('loses no answered request when a node is killed, and continues with the other', async () => {
    let killed: Promise<number | null> | undefined
    const answers = await sendMany(200, (count) => {
      if (count >= 40) killed ??= cluster.nodes[1]?.end('SIGKILL')
      return false
    })
    assert.equal(await killed, null)
    const answered = answers.filter(({ status }) => status === 200)
    assert.ok(answers.length - answered.length <= parallel, 'more requests failed than were in flight')
    assert.deepEqual([...new Set((await sendMany(40)).map(({ status }) => status))], [200])
    const recorded = new Set(requestsIn(cluster.command('requests', 'list', '--limit', '500')))
    assert.deepEqual(
      answered.filter(({ id }) => !recorded.has(id)),
      [],
    )
    assert.equal(cluster.command('ledger', 'verify')['broken'], null)
    await until('the alert about the node is pending', async () => {
      const rules = (await fromPrometheus('rules')).groups.flatMap((group) => group.rules)
      const { state = '' } = rules.find(({ name }) => name === 'GatehouseDown') ?? {}
      return ['pending', 'firing'].includes(state)
    })
  })
})

type Tempo = AsyncDisposable & { readonly url: string; readonly received: readonly string[] }

/** A server that gets the traces instead of Tempo. */
async function startTempo(): Promise<Tempo> {
  const received: string[] = []
  const receive = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(message)
    if (message.url === '/v1/traces') received.push(gunzipSync(body).toString('latin1'))
    response.end()
  }
  const server = createServer((message, response) => void receive(message, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type PrometheusData = {
  readonly activeTargets: readonly { readonly health: string }[]
  readonly groups: readonly { readonly rules: readonly { name: string; health: string; state: string }[] }[]
}

const requestsIn = (listed: Record<string, unknown>): string[] =>
  (listed['data'] as { readonly id: string }[]).map(({ id }) => id)

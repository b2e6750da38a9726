import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { longRun } from '../support/long-run.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/**
 * Rounds of mixed traffic, each followed by a pause and a full collection. What is left then is the idle memory. Caches
 * are bounded and fill up first, so growth is measured between the middle and the end.
 */
const minutes = longRun?.minutes ?? 0
const [minRounds, requestsPerRound] = longRun === undefined ? [9, 120] : [30, 3_000]
const toleratedBytes = 8 * 1024 * 1024

type Server = { readonly url: string; readonly apiKey: string; readonly adminKey: string }
type Call = (server: Server, text: string) => Promise<unknown>

const json = { 'content-type': 'application/json' }
const as = (key: string) => ({ ...json, authorization: `Bearer ${key}` })
const echo = 'gatehouse-echo'

const post = (path: string, bodyOf: (text: string) => object): Call => {
  return async ({ url, apiKey }, text) => {
    const answer = await fetch(url + path, { method: 'POST', headers: as(apiKey), body: JSON.stringify(bodyOf(text)) })
    return answer.text()
  }
}
const userMessage = (text: string) => [{ role: 'user', content: text }]

/** Valid and invalid requests. */
const calls: readonly Call[] = [
  post('/v1/messages', (text) => ({ model: echo, max_tokens: 60, messages: userMessage(text) })),
  post('/v1/messages', (text) => ({
    model: echo,
    max_tokens: 60,
    stream: true,
    messages: userMessage(text),
    user: text,
  })),
  post('/v1/chat/completions', (text) => ({ model: echo, messages: userMessage(text) })),
  post('/v1/chat/completions', (text) => ({ model: echo, stream: true, messages: userMessage(text) })),
  post('/v1/responses', (text) => ({ model: echo, input: text })),
  post('/v1/responses', (text) => ({ model: echo, stream: true, input: text, store: false })),
  post('/v1/messages/count_tokens', (text) => ({ model: echo, messages: userMessage(text.repeat(50)) })),
  post('/v1/moderations', (text) => ({ input: text })),
  post('/v1/messages', (text) => ({
    model: echo,
    max_tokens: 9,
    messages: userMessage(`${text} I want to kill myself`),
  })),
  post('/v1/messages', (text) => ({
    model: `unknown-${text.slice(0, 20)}`,
    max_tokens: 9,
    messages: userMessage(text),
  })),
  post('/v1/messages', (text) => ({ model: echo, max_tokens: -1, messages: userMessage(text) })),
  post('/v1/messages', (text) => ({ model: echo, max_tokens: 9, messages: userMessage(text.repeat(2_000)) })),
  async ({ url }, text) => {
    const answer = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: as(`ak_${text.slice(0, 30)}`),
      body: '{}',
    })
    return answer.text()
  },
  async ({ url, apiKey }, text) => {
    const body = JSON.stringify({
      model: echo,
      max_tokens: 4_000,
      stream: true,
      messages: userMessage(text.repeat(20)),
    })
    const abort = new AbortController()
    const init = { method: 'POST', headers: as(apiKey), body, signal: abort.signal }
    const answer = await fetch(`${url}/v1/messages`, init)
    await answer.body?.getReader().read()
    abort.abort()
  },
  async ({ url, adminKey }, text) => {
    const path = `${url}/v1/organization/policies`
    const rule = `cel: text.contains("${text.slice(0, 12)}")`
    const created = await fetch(path, {
      method: 'POST',
      headers: as(adminKey),
      body: JSON.stringify({ name: `soak ${text.slice(0, 60)}`, rule }),
    })
    const { id, revision } = (await created.json()) as { id: string; revision: number }
    const body = JSON.stringify({ revision })
    await (await fetch(`${path}/${id}/publish`, { method: 'POST', headers: as(adminKey), body })).text()
    const removal = { method: 'DELETE', headers: { authorization: `Bearer ${adminKey}` } }
    return (await fetch(`${path}/${id}?revision=${revision + 1}`, removal)).text()
  },
  async ({ url, adminKey }) => (await fetch(`${url}/v1/organization/audit_logs`, { headers: as(adminKey) })).text(),
  async ({ url }) => (await fetch(`${url}/metrics`)).text(),
]

const syllables = ['ka', 'lo', 'mi', 'ren', 'tu', 'sa', 'vel', 'dor', 'ne', 'pi', 'gra', 'hum']
let lastText = 0
/** A text that is not cached yet. */
function freshText(): string {
  let rest = ++lastText * 7_919
  return Array.from({ length: 12 }, () => {
    rest = (rest * 48_271 + 11) % 2_147_483_647
    return [1, 12, 144, 1728].map((step) => syllables[Math.floor(rest / step) % syllables.length]).join('')
  }).join(' ')
}

async function runRound(server: Server): Promise<void> {
  let next = 0
  const work = async (): Promise<void> => {
    while (next < requestsPerRound) await calls[next++ % calls.length]?.(server, freshText())
  }
  await Promise.all(Array.from({ length: 8 }, work))
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

it('mixed traffic does not increase the idle memory', async (t) => {
  await using folder = await temporaryFolder()
  const program = new URL('programs/soak-server.ts', import.meta.url)
  const child = fork(program, [folder.path], { execArgv: ['--expose-gc'] })
  try {
    const [server] = (await once(child, 'message')) as [Server]
    const endMs = performance.now() + minutes * 60_000
    const atRest: number[] = []
    while (atRest.length < minRounds || performance.now() < endMs) {
      await runRound(server)
      await sleep(longRun === undefined ? 50 : 2_000)
      child.send('measure')
      const [{ bytes }] = (await once(child, 'message')) as [{ bytes: number }]
      atRest.push(bytes)
    }
    const third = Math.floor(atRest.length / 3)
    const [middle, end] = [median(atRest.slice(third, 2 * third)), median(atRest.slice(-third))]
    const show = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`
    t.diagnostic(`${lastText} requests in ${atRest.length} rounds; at rest: ${atRest.map(show).join(', ')}`)
    assert.ok(end - middle < toleratedBytes, `memory at rest grew from ${show(middle)} to ${show(end)}`)
  } finally {
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
})

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answerWith, question } from '../support/paid-app.ts'
import { startProgram, type Program } from '../support/program.ts'
import { redisUrl, withoutRedis } from '../support/redis.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { startUpstream } from '../support/upstream.ts'

const program = new URL('programs/paid-app.ts', import.meta.url)
const cost = 15
const mostHeld = 150
const amount = 2_000
const atOnce = 4
/** Between a hold and its settlement: before the call, before the charge, and after it. */
const deaths = ['admitted', 'answered', 'recorded'] as const

type Keys = { readonly api_key: string; readonly admin_key: string }
type Started = { readonly url: string; readonly keys?: Keys }

async function nextLine(running: Program): Promise<Started> {
  for await (const line of running.lines) return JSON.parse(line) as Started
  throw new Error('the app did not start')
}

const headersOf = (key: string) => ({ 'content-type': 'application/json', authorization: `Bearer ${key}` })

/** A caller sends one request after the other until its budget rejects one, or the connection breaks. */
async function send(url: string, key: string): Promise<void> {
  const body = JSON.stringify({ ...question, max_tokens: 100 })
  for (;;) {
    const answer = await fetch(`${url}/v1/messages`, { method: 'POST', headers: headersOf(key), body }).catch(
      () => undefined,
    )
    const text = await answer?.text().catch(() => undefined)
    if (answer === undefined || text === undefined || answer.status === 429) return
    assert.equal(answer.status, 200, text)
  }
}

describe('a budget', () => {
  for (const { name, redis, skip } of [
    { name: 'counted in memory', redis: '', skip: false },
    { name: 'counted in Redis', redis: redisUrl ?? '', skip: withoutRedis },
  ]) {
    it(
      `${name} is never passed, and nothing of it is lost, if the app is killed with requests in flight`,
      { skip },
      async () => {
        await using folder = await temporaryFolder()
        await using upstream = await startUpstream(answerWith('Hello', { input: 12, output: 3 }))
        let keys: Keys | undefined
        for (const death of [...deaths, '']) {
          await using running = startProgram(program, [folder.path, upstream.url, redis, death, '20'])
          const started = await nextLine(running)
          if (keys === undefined) {
            keys = started.keys ?? assert.fail()
            const body = JSON.stringify({ name: 'Trial', tokens: amount, period: 'once' })
            const url = `${started.url}/v1/organization/budgets`
            const made = await fetch(url, { method: 'POST', headers: headersOf(keys.admin_key), body })
            assert.equal(made.status, 201, await made.text())
          }
          const { api_key: key, admin_key: adminKey } = keys
          await Promise.all(Array.from({ length: atOnce }, () => send(started.url, key)))
          if (death !== '') continue
          const costs = await fetch(`${started.url}/v1/organization/costs`, { headers: headersOf(adminKey) })
          const { total } = (await costs.json()) as { total: { input_tokens: number; output_tokens: number } }
          const spent = total.input_tokens + total.output_tokens
          // Redis keeps the holds of a process that was killed, until the ledger says what became of them.
          const held = redis === '' ? 0 : deaths.length * atOnce * mostHeld
          assert.ok(spent % cost === 0 && spent <= amount && spent > amount - held - atOnce * mostHeld, `${spent}`)
        }
      },
    )
  }
})

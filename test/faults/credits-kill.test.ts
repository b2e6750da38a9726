import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FailpointName } from '../../src/base/failpoint.ts'
import { checkConfig } from '../../src/config.ts'
import { openOperations } from '../../src/app/open.ts'
import { answerWith, question } from '../support/paid-house.ts'
import { startProgram, type Program } from '../support/program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { startUpstream } from '../support/upstream.ts'

const program = new URL('programs/paid-house.ts', import.meta.url)
const cost = 15

/** Where a life of the house ends. Each begins with what the one before left behind. */
const deaths: readonly (readonly [FailpointName, times: number])[] = [
  ['slice opened', 1],
  ['admitted', 3],
  ['answered', 5],
  ['recorded', 5],
  ['slice raised', 2],
]

type Started = { readonly url: string; readonly keys?: { readonly api_key: string } }

async function nextLine(running: Program): Promise<Started> {
  for await (const line of running.lines) return JSON.parse(line) as Started
  throw new Error('the house did not start')
}

describe('a house that is killed', () => {
  it('has every charge that a caller was told of, once, and loses no other credits', { timeout: 60_000 }, async () => {
    await using folder = await temporaryFolder()
    await using upstream = await startUpstream(answerWith('Hello', { input: 12, output: 3 }))
    const told = new Set<string>()
    let apiKey = ''

    /** Four callers ask one after the other until their connection breaks. */
    const askUntilKilled = async (url: string): Promise<void> => {
      for (;;) {
        const body = JSON.stringify({ ...question, max_tokens: 100 })
        const headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` }
        const answer = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body }).catch(() => undefined)
        const text = await answer?.text().catch(() => undefined)
        if (answer === undefined || text === undefined) return
        assert.equal(answer.status, 200, text)
        told.add(answer.headers.get('x-request-id') ?? '')
      }
    }

    for (const [name, times] of deaths) {
      await using running = startProgram(program, [folder.path, upstream.url, name, String(times)])
      const { url, keys } = await nextLine(running)
      apiKey = keys?.api_key ?? apiKey
      await Promise.all(Array.from({ length: 4 }, () => askUntilKilled(url)))
    }

    {
      await using last = startProgram(program, [folder.path, upstream.url, '', '0'])
      const { url } = await nextLine(last)
      const { data } = (await (
        await fetch(`${url}/v1/credits`, { headers: { authorization: `Bearer ${apiKey}` } })
      ).json()) as { data: { remaining_credits: number; total_usage: number } }
      assert.equal(data.remaining_credits, 10_000 - Math.round(data.total_usage * 1000))
    }
    await using house = await openOperations(checkConfig({ storage: { data_dir: folder.path } }))
    const { broken } = await house.operations['ledger.verify']({})
    assert.equal(broken, null)
    const entries = (await house.operations['credits.ledger']({ limit: 10_000 })).filter(({ kind }) => kind === 'usage')
    const charged = new Set(entries.map(({ ref }) => ref))
    assert.equal(charged.size, entries.length)
    assert.deepEqual(
      [...told].filter((id) => !charged.has(id)),
      [],
    )
    for (const { micro } of entries) assert.equal(micro, -cost * 1e6)
    // One answer of each of the four may have been charged and never arrived.
    assert.ok(entries.length - told.size <= deaths.length * 4)
    assert.ok(told.size > deaths.length)
  })
})

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Address } from '../client.ts'
import { startPairs, upstreamKinds } from '../scene.ts'
import { httpKinds, promptOf, refusalPrompt, startScripted } from '../scripted-upstream.ts'
import { note, runAgent, without } from './agent.ts'

const script = '@anthropic-ai/claude-code/cli-wrapper.cjs'
const timeout = 120_000

type AgentPrompt = { readonly model: string; readonly prompt: string; readonly signal?: AbortSignal }
type Result = { readonly is_error: boolean; readonly result: string; readonly num_turns: number }

const run = ({ url, apiKey }: Address, { model, prompt, signal }: AgentPrompt) =>
  runAgent({
    script,
    args: ['-p', prompt, '--model', model, '--output-format', 'json', '--allowedTools', 'Read,ToolSearch'],
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: apiKey,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '1',
    },
    ...(signal && { signal }),
  })

async function send(address: Address, options: AgentPrompt): Promise<Result> {
  const { output, complaints } = await run(address, options)
  assert.ok(output.startsWith('{'), output + complaints)
  return JSON.parse(output) as Result
}

describe('Claude Code', { skip: without(script), timeout: 15 * 60_000 }, () => {
  let pairs: Awaited<ReturnType<typeof startPairs>>
  let scripted: Awaited<ReturnType<typeof startScripted>>
  before(async () => {
    pairs = await startPairs()
    scripted = await startScripted()
  })
  after(async () => {
    await pairs[Symbol.asyncDispose]()
    await scripted[Symbol.asyncDispose]()
  })

  for (const model of upstreamKinds) {
    it(`completes a turn that uses a tool, over ${model}`, { timeout }, async () => {
      const prompt = `Please call Read {"file_path":"${note.name}"}`
      const { is_error: isError, result, num_turns: turns } = await send(pairs.near, { model, prompt })
      assert.deepEqual([isError, turns], [false, 2])
      assert.match(result, /The tool answered: .*heliotrope/)
    })
    it(`receives the tool that its tool search found, over ${model}`, { timeout }, async () => {
      const prompt = 'Please call ToolSearch {"query":"select:WebFetch","max_results":1}'
      const { is_error: isError, result } = await send(pairs.near, { model, prompt })
      assert.equal(isError, false)
      assert.match(result, /The tool answered: The tool WebFetch can be called now/)
    })
    it(`counts the tokens of its context, over ${model}`, { timeout }, async () => {
      const { is_error: isError, result } = await send(pairs.near, { model, prompt: '/context' })
      assert.equal(isError, false)
      assert.match(result, /System tools \| [\d.]+k/)
    })
  }

  it('gets its count requests answered, and never calls a model instead', { timeout }, async () => {
    const counts = await requestCounts(pairs.near, () => send(pairs.near, { model: 'anthropic', prompt: '/context' }))
    assert.ok((counts.get('/v1/messages/count_tokens 2xx') ?? 0) > 0)
    assert.deepEqual([...counts.keys()], ['/v1/messages/count_tokens 2xx'])
  })

  for (const [at, kind] of httpKinds.entries()) {
    it(`reports the error, over ${kind}`, { timeout }, async () => {
      const broken = promptOf({ recording: 'text', form: 'stream', at: 3, fault: 'cut' })
      for (const prompt of [broken, refusalPrompt(401)]) {
        const { is_error: isError, result } = await send(scripted.app, { model: kind, prompt })
        assert.equal(isError, true)
        assert.match(result, /API Error: 502 .*upstream/)
      }
    })
    it(`cancels the upstream call when it is interrupted, over ${kind}`, { timeout }, async () => {
      const prompt = `${promptOf({ recording: 'text', form: 'stream', at: 3, fault: 'hold' })} #${at}`
      const aborter = new AbortController()
      const running = run(scripted.app, { model: kind, prompt, signal: aborter.signal })
      const request = await scripted.receivedRequest(prompt)
      aborter.abort()
      await running
      assert.ok(await request.hungUp)
    })
  }

  it('reaches an Anthropic upstream with all its beta flags and cache markers', { timeout }, async () => {
    const prompt = `${promptOf({ recording: 'text', form: 'stream', at: 99, fault: 'end' })} #9`
    await send(scripted.app, { model: 'anthropic', prompt })
    const { headers, body } = await scripted.receivedRequest(prompt)
    assert.match(String(headers['anthropic-beta']), /claude-code-\d+/)
    assert.match(body, /"cache_control":/)
    assert.match(body, /"output_config":\{"effort"/)
    assert.match(body, /"role":"system"/)
  })
})

/** The increase of the gateway's request counter, by route and outcome. */
async function requestCounts(
  app: Awaited<ReturnType<typeof startPairs>>['near'],
  act: () => Promise<unknown>,
): Promise<Map<string, number>> {
  const read = async (): Promise<Map<string, number>> => {
    const page = await (await app.get('/metrics')).text()
    const lines = page.matchAll(/^gatehouse_http_request_seconds_count\{route="(.*?)",status="(.*?)"\} (\d+)$/gm)
    return new Map(Array.from(lines, ([, route, status, count]) => [`${route} ${status}`, Number(count)]))
  }
  const earlier = await read()
  await act()
  const later = [...(await read())].map(([key, count]) => [key, count - (earlier.get(key) ?? 0)] as const)
  return new Map(later.filter(([key, count]) => count > 0 && !key.startsWith('/metrics')))
}

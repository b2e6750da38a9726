import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startTestApp } from '../../support/app.ts'
import type { Address } from '../client.ts'
import { startPairs, upstreamKinds } from '../scene.ts'
import { httpKinds, promptOf, refusalPrompt, startScripted } from '../scripted-upstream.ts'
import { note, runAgent, without } from './agent.ts'

const script = '@openai/codex/bin/codex.js'
const timeout = 120_000

const configOf = (url: string, model: string): string => `
model = "${model}"
model_provider = "gatehouse"
check_for_update_on_startup = false

[model_providers.gatehouse]
name = "Gatehouse"
base_url = "${url}/v1"
env_key = "GATEHOUSE_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[features]
plugins = false

[analytics]
enabled = false
`

type AgentPrompt = { readonly model: string; readonly prompt: string; readonly signal?: AbortSignal }
type Event = {
  readonly type: string
  readonly message?: string
  readonly item?: {
    readonly type: string
    readonly text?: string
    readonly aggregated_output?: string
    readonly status?: string
  }
}

async function send({ url, apiKey }: Address, { model, prompt, signal }: AgentPrompt): Promise<Event[]> {
  const { output } = await runAgent({
    script,
    files: { '.codex/config.toml': configOf(url, model) },
    args: ['exec', '--skip-git-repo-check', '--json', '--dangerously-bypass-approvals-and-sandbox', prompt],
    env: { GATEHOUSE_KEY: apiKey, RUST_LOG: 'error' },
    ...(signal && { signal }),
  })
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Event)
}

describe('Codex', { skip: without(script), timeout: 15 * 60_000 }, () => {
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
      const prompt = `Please call exec_command {"cmd":"cat ${note.name}"}`
      const events = await send(pairs.near, { model, prompt })
      const items = events.flatMap(({ type, item }) => (type === 'item.completed' && item ? [item] : []))
      const ran = items.find(({ type }) => type === 'command_execution')
      assert.equal(ran?.aggregated_output, note.text, JSON.stringify(events))
      assert.match(items.findLast(({ type }) => type === 'agent_message')?.text ?? '', /heliotrope/)
      assert.equal(events.at(-1)?.type, 'turn.completed')
    })
  }

  for (const kind of httpKinds) {
    it(`patches a file with a free-text tool, over ${kind}`, { timeout }, async () => {
      // Codex offers its patch tool only to models that it knows by name.
      const model = 'gpt-5.5'
      const { url, apiKey } = pairs.far
      const upstream = { name: 'far', kind, base_url: kind === 'anthropic' ? url : `${url}/v1`, api_key: apiKey }
      const models = [{ name: model, targets: [{ upstream: 'far', model: 'gatehouse-echo' }] }]
      await using app = await startTestApp({ config: { upstreams: [upstream], models } })
      const patch = '*** Begin Patch\n*** Add File: made.txt\n+heliotrope\n*** End Patch\n'
      const events = await send(app, { model, prompt: `Please call apply_patch ${JSON.stringify({ input: patch })}` })
      const changed = events.find(({ type, item }) => type === 'item.completed' && item?.type === 'file_change')
      assert.equal(changed?.item?.status, 'completed', JSON.stringify(events))
    })
  }

  for (const [at, kind] of httpKinds.entries()) {
    it(`reports the error, over ${kind}`, { timeout }, async () => {
      const broken = promptOf({ recording: 'text', form: 'stream', at: 3, fault: 'cut' })
      for (const prompt of [broken, refusalPrompt(400)]) {
        const events = await send(scripted.app, { model: kind, prompt })
        assert.equal(events.at(-1)?.type, 'turn.failed', JSON.stringify(events))
      }
    })
    it(`cancels the upstream call when it is interrupted, over ${kind}`, { timeout }, async () => {
      const prompt = `${promptOf({ recording: 'text', form: 'stream', at: 3, fault: 'hold' })} #${at}`
      const aborter = new AbortController()
      const running = send(scripted.app, { model: kind, prompt, signal: aborter.signal })
      const request = await scripted.receivedRequest(prompt)
      aborter.abort()
      await running
      assert.ok(await request.hungUp)
    })
  }
})

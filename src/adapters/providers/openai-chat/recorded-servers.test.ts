import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createMemoryUpstream } from '../../../../test/support/memory-upstream.ts'
import { ask, jsonHeaders, testProvider } from '../../../../test/support/provider-kit.ts'
import { replayRecordings } from '../../../../test/support/replay.ts'
import { faultOfStatus } from '../failures.ts'
import type { ChatServer } from './servers.ts'

// `fixtures/servers/README.md` says which of these are recordings.

const folderOf = (server: ChatServer): string => join(import.meta.dirname, 'fixtures/servers', server)
const readJson = (server: ChatServer, file: string): unknown =>
  JSON.parse(readFileSync(join(folderOf(server), file), 'utf8'))

/** The streams of these servers whose frames an SDK of OpenAI could not read. */
const nonconforming: Readonly<Partial<Record<ChatServer, readonly string[]>>> = {
  'llama-cpp-python': ['tool-call'],
  sglang: ['tool-call'],
}

const openServers: readonly ChatServer[] = ['llama-cpp-python', 'llama.cpp', 'ollama', 'vllm', 'lm-studio', 'sglang']

for (const server of openServers)
  describe(server, () =>
    replayRecordings({
      kind: 'openai-chat',
      dialect: 'chat',
      folder: folderOf(server),
      errorFrame: 'data: {"error":{"message":"Slow down","type":"rate_limit_error","param":null,"code":429}}\n\n',
      nonconforming: nonconforming[server] ?? [],
    }),
  )

describe('the model list of a server', () => {
  const expected: Readonly<Partial<Record<ChatServer, readonly object[]>>> = {
    'llama-cpp-python': [{ name: 'smollm2' }],
    'llama.cpp': [{ name: 'smollm2', contextTokens: 4096 }],
    ollama: [{ name: 'qwen3:8b' }, { name: 'nomic-embed-text:latest' }],
    vllm: [{ name: 'Qwen/Qwen3-8B', contextTokens: 40_960 }],
    'lm-studio': [{ name: 'qwen/qwen3-8b' }, { name: 'text-embedding-nomic-embed-text-v1.5' }],
    sglang: [{ name: 'Qwen/Qwen3-8B', contextTokens: 40_960 }],
  }
  for (const server of openServers)
    it(`is read: ${server}`, async () => {
      const body = readFileSync(join(folderOf(server), 'models.json'))
      const upstream = createMemoryUpstream({ headers: jsonHeaders, chunks: [body] })
      const provider = testProvider({ kind: 'openai-chat' }, upstream.dispatcher)
      assert.deepEqual(await provider.listModels?.(AbortSignal.timeout(5_000)), expected[server])
    })
})

describe('an error of a server', () => {
  const cases: readonly [server: ChatServer, name: string, code: string, message: RegExp][] = [
    ['llama-cpp-python', 'request-id', 'upstream_rejected', /\(400\) without a reason/],
    ['llama-cpp-python', 'context', 'context_length_exceeded', /prompt is too long: 3031 tokens > 2048 maximum/],
    ['llama-cpp-python', 'null-content', 'upstream_error', /failed \(500\)/],
    ['llama-cpp-python', 'text-parts', 'upstream_error', /failed \(500\)/],
    ['llama-cpp-python', 'json-schema', 'upstream_error', /failed \(500\)/],
    ['llama.cpp', 'context', 'context_length_exceeded', /prompt is too long: 5000 tokens > 4096 maximum/],
    ['llama.cpp', 'loading', 'upstream_error', /failed \(503\)/],
    ['ollama', 'unknown-model', 'upstream_rejected', /model "missing" not found/],
    ['ollama', 'effort', 'upstream_rejected', /does not support thinking/],
    ['vllm', 'unknown-model', 'upstream_rejected', /does not exist/],
    ['vllm', 'no-tool-parser', 'upstream_rejected', /--enable-auto-tool-choice/],
    ['lm-studio', 'json-object', 'upstream_rejected', /must be 'json_schema' or 'text'/],
    ['lm-studio', 'named-choice', 'upstream_rejected', /Invalid tool_choice type/],
    ['sglang', 'context', 'context_length_exceeded', /prompt is too long: 50000 tokens > 40960 maximum/],
  ]
  for (const [server, name, code, message] of cases)
    it(`is mapped: ${server}, ${name}`, () => {
      const errors = readJson(server, 'errors.json') as Record<string, { status: number; body: string }>
      const answer = errors[name]
      assert.ok(answer)
      const fault = faultOfStatus(answer)
      assert.equal(fault.code, code)
      assert.match(fault.message, message)
    })
})

describe('llama-cpp-python, which reports usage only without streaming', () => {
  for (const name of ['text', 'length', 'tool-call'])
    it(`gives the same answer without streaming: ${name}`, async () => {
      const chunks = [readFileSync(join(folderOf('llama-cpp-python'), `${name}.whole.json`))]
      const { folded } = await ask({ kind: 'openai-chat', answer: { headers: jsonHeaders, chunks } })
      const streamed = readJson('llama-cpp-python', `${name}.expected.json`) as typeof folded
      const content = ({ blocks, stopReason }: typeof folded): object => ({
        blocks: blocks.map((block) => (block.type === 'tool-call' ? { ...block, id: '' } : block)),
        stopReason,
      })
      assert.deepEqual(content(JSON.parse(JSON.stringify(folded))), content(streamed))
      assert.equal(folded.end.usage.source, 'reported')
    })
})

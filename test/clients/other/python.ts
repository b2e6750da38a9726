import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Dialect } from '../../../src/domain/inference/request.ts'
import { modes, type Address, type ClientRequest, type Client, type Mode, type ClientResult } from '../client.ts'

/** Created by `npm run test:clients` if the machine has Python. */
const interpreter = join(import.meta.dirname, 'node_modules/.python/bin/python')

export const withoutPython = existsSync(interpreter) ? false : 'there is no Python with its clients on this machine'

const sdks: readonly { readonly name: string; readonly dialect: Dialect }[] = [
  { name: 'Anthropic for Python', dialect: 'messages' },
  { name: 'OpenAI for Python', dialect: 'responses' },
  { name: 'OpenAI for Python', dialect: 'chat' },
]

/** A Python process, started on first use. */
export function createPython(): AsyncDisposable & { readonly clients: readonly Client[] } {
  let child: ChildProcess | undefined
  let count = 0
  const conversations = new Map<number, (event: PythonEvent) => void>()
  const start = (): ChildProcess => {
    const python = spawn(interpreter, ['-B', join(import.meta.dirname, 'python/driver.py')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    createInterface({ input: python.stdout }).on('line', (line) => {
      const event = JSON.parse(line) as PythonEvent
      conversations.get(event.id)?.(event)
    })
    return python
  }
  const say = (message: object): void => {
    child ??= start()
    child.stdin?.write(`${JSON.stringify(message)}\n`)
  }

  const converse = (asked: ClientRequest, ask: object): Promise<ClientResult> =>
    new Promise((resolve, reject) => {
      const id = count++
      asked.signal?.addEventListener('abort', () => say({ id, abort: true }))
      conversations.set(id, ({ text, call, told, error }) => {
        if (text === true) asked.onText?.()
        if (call !== undefined) say({ id, result: asked.tool?.run(call) ?? '' })
        if (told !== undefined) resolve(told)
        if (error !== undefined) reject(Object.assign(new Error(error.message), { status: error.status }))
      })
      say({ id, ask })
    })

  return {
    clients: sdks.flatMap(({ name, dialect }) =>
      modes.map((mode) => ({
        name: `${name}, ${dialect}, ${mode}`,
        dialect,
        isStreaming: mode !== 'whole',
        showsThinking: true,
        // OpenAI's helpers report a filtered response as unreadable.
        onRefusal: mode === 'stream helper' && dialect !== 'messages' ? 'may raise' : 'tells',
        ask: (address, asked) => converse(asked, questionOf(dialect, mode, { ...asked, ...address })),
      })),
    ),
    async [Symbol.asyncDispose]() {
      if (child === undefined) return
      child.stdin?.end()
      await once(child, 'exit')
    },
  }
}

/** One output line of `driver.py`. */
type PythonEvent = {
  readonly id: number
  readonly text?: true
  readonly call?: unknown
  readonly told?: ClientResult
  readonly error?: { readonly status: number | null; readonly message: string }
}

const questionOf = (dialect: Dialect, mode: Mode, asked: ClientRequest & Address) => ({
  dialect,
  mode,
  url: asked.url,
  api_key: asked.apiKey,
  model: asked.model,
  text: asked.text,
  wants_thinking: asked.wantsThinking === true,
  ...(asked.tool && { tool: asked.tool }),
})

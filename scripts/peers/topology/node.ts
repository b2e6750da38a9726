import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'

const program = fileURLToPath(new URL('../../../bin/gatehouse.mjs', import.meta.url))

export type NodeEnvironment = Readonly<Record<string, string>>

/** Runs a command to its end and returns its output. */
export function runGatehouse(env: NodeEnvironment, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`gatehouse ${args.join(' ')} failed: ${stderr}`)
  return stdout
}

/** A node of the cluster, which tests stop and start again. */
export type TopologyNode = AsyncDisposable & {
  readonly url: string
  readonly metricsUrl: string
  /** Starts it and waits until it is ready. */
  start(): Promise<void>
  /** Sends a signal and returns the exit code, or null if the signal ended the process. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
}

export function createNode(env: NodeEnvironment, folder: string): TopologyNode {
  const url = `http://127.0.0.1:${env['GATEHOUSE_PORT']}`
  let running: ChildProcess | undefined
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> => {
    const child = running
    running = undefined
    if (child === undefined) return null
    const exited = once(child, 'exit')
    child.kill(signal)
    return (await exited)[0]
  }
  return {
    url,
    metricsUrl: `http://127.0.0.1:${env['GATEHOUSE_METRICS_PORT']}/metrics`,
    end,
    async start() {
      const data = join(folder, 'data')
      const keysFile = env['GATEHOUSE_KEYS_FILE']?.replace(/^\/data\//, `${data}/`)
      const settings = { ...env, GATEHOUSE_DATA_DIR: data, GATEHOUSE_KEYS_FILE: keysFile }
      const child = spawn(process.execPath, [program, 'serve'], {
        env: settings,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      running = child
      while (!(await isReady(url))) {
        if (child.exitCode !== null) throw new Error(`The node at ${url} ended with ${child.exitCode}.`)
        await sleep(100)
      }
    },
    [Symbol.asyncDispose]: async () => void (await end('SIGKILL')),
  }
}

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  )

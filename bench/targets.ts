import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { BenchCase } from './cases.ts'
import { parts, startGatehouse } from './gatehouse.ts'
import { cores, freePort, here, startScript, type Running } from './script.ts'

type Target = {
  readonly name: string
  readonly start: (port: number, upstreamPort: number) => Promise<Running>
  /** Which cases it can be asked; all but those for others when left out. */
  readonly answers?: (benchCase: BenchCase) => boolean
}

/** Everything that is measured, in the order of the table. */
export const targets: readonly Target[] = [
  { name: 'direct', start: startUpstream, answers: ({ perSecond }) => perSecond !== undefined },
  {
    name: 'bare',
    start: (port, upstream) =>
      startScript({ name: 'bare', file: here('targets/bare.ts'), port, words: [port, upstream] }),
  },
  {
    name: 'fastify',
    start: (port, upstream) =>
      startScript({ name: 'fastify', file: here('targets/fastify.ts'), port, words: [port, upstream] }),
  },
  ...ladder(),
  { name: 'gatehouse', start: (port, upstreamPort) => startGatehouse({ port, upstreamPort }) },
  {
    name: 'portkey',
    start: startPortkey,
    answers: ({ upstream, path, unit }) => path.includes(upstream) && unit === 'request',
  },
]

/** Gatehouse with nothing but screening, then with one part more on each rung; the last rung is everything. */
function ladder(): Target[] {
  return parts.map((part, at) => {
    const name = at === 0 ? 'screening alone' : `+ ${parts[at - 1]}`
    const on = parts.slice(0, at)
    return {
      name,
      start: (port, upstreamPort) => startGatehouse({ name, port, upstreamPort, on }),
      answers: ({ hasLadder }) => hasLadder === true,
    }
  })
}

export async function startTarget(target: Target, upstreamPort: number): Promise<Running> {
  const running = await target.start(await freePort(), upstreamPort)
  return target.answers ? { ...running, answers: target.answers } : running
}

export async function startUpstream(port: number): Promise<Running> {
  return startScript({ name: 'direct', file: here('load/upstream.ts'), port, core: cores.load, words: [port] })
}

/**
 * The TypeScript peer, as npm has it: passing through, no checks, no limits, no log. Only whole answers are compared: its
 * streams fail against a plain local upstream. Fetched into `bench/build` when first needed.
 */
async function startPortkey(port: number, upstreamPort: number): Promise<Running> {
  const folder = here('build')
  const file = `${folder}/node_modules/@portkey-ai/gateway/build/start-server.js`
  if (!existsSync(file))
    spawnSync('npm', ['install', '--prefix', folder, '--loglevel=error', '@portkey-ai/gateway@1.15.2'])
  const running = await startScript({ name: 'portkey', file, port, words: [`--port=${port}`, '--headless'] })
  const headers = ({ upstream }: BenchCase) => ({
    authorization: 'Bearer none',
    'x-portkey-provider': upstream === 'chat' ? 'openai' : 'anthropic',
    'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
  })
  return { ...running, headers }
}

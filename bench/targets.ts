import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { BenchCase } from './cases.ts'
import { parts, startGatehouse } from './gatehouse.ts'
import { cores, freePort, here, startScript, type Running } from './script.ts'

type Target = {
  readonly name: string
  readonly start: (port: number, upstreamPort: number) => Promise<Running>
  /** The cases that it supports. Default: all except those for other targets. */
  readonly answers?: (benchCase: BenchCase) => boolean
}

/** All targets, in the order of the table. */
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

/** Gatehouse with only content scanning, then with one more feature at each step, up to all features. */
function ladder(): Target[] {
  return parts.map((part, at) => {
    const name = at === 0 ? 'scanning only' : `+ ${parts[at - 1]}`
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
 * A comparable TypeScript gateway from npm: passthrough, no checks, no limits, no log. Only unstreamed responses are compared,
 * because its streams fail with a plain local upstream. Downloaded into `bench/build` on first use.
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

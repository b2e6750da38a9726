import { startLitellm, startNginx, startPortkey } from './targets/peers.ts'
import { features, startGatehouse, type GatehouseOptions } from './targets/gatehouse.ts'
import { cores, freePort, here, startScript, type Running } from './targets/script.ts'

export type Target = {
  readonly name: string
  /** What it does beside forwarding, for the table. */
  readonly switchedOn: string
  /** Undefined if it cannot be installed here. */
  readonly start: (port: number, upstreamPort: number) => Promise<Running | undefined>
}

const everything = 'scanning, log, limits, credits, audit'

const gatehouse = (name: string, switchedOn: string, options: GatehouseOptions): Target => ({
  name,
  switchedOn,
  start: (port, upstreamPort) => startGatehouse(options, port, upstreamPort),
})

const script = (name: string, switchedOn: string): Target => ({
  name,
  switchedOn,
  start: (port, upstream) => startScript({ name, file: here(`targets/${name}.ts`), port, words: [port, upstream] }),
})

/** Gatehouse with content scanning only, then with one more feature at each step. */
const ladder = features.map((_, at) =>
  gatehouse(at === 0 ? 'scanning only' : `+ ${features[at - 1]}`, ['scanning', ...features.slice(0, at)].join(', '), {
    on: features.slice(0, at),
  }),
)

/** All targets, in the order of the table. */
export const targets = [
  { name: 'direct', switchedOn: 'no gateway: the CPU time is the upstream’s', start: startUpstream },
  { name: 'nginx', switchedOn: 'nothing', start: startNginx },
  script('bare', 'nothing'),
  script('fastify', 'nothing'),
  { name: 'portkey', switchedOn: 'nothing', start: startPortkey },
  { name: 'litellm', switchedOn: 'a master key', start: startLitellm },
  ...ladder,
  gatehouse('gatehouse', everything, {}),
  gatehouse('gatehouse, 20 policies', `${everything}, 20 policies`, { policies: 20 }),
  gatehouse('gatehouse, 20 budgets', `${everything}, 20 budgets`, { budgets: 20 }),
  gatehouse('gatehouse, 200 policies', `${everything}, 200 policies`, { policies: 200 }),
  gatehouse('gatehouse, 1,000 keys', `${everything}, 1,000 keys of one project`, { keys: 1000 }),
  gatehouse('gatehouse, 1,000 organizations', `${everything}, 1,000 organizations with a key each`, {
    organizations: 1000,
  }),
  gatehouse('gatehouse, 10 % traced', `${everything}, traces of 10 % of the requests`, { traced: 0.1 }),
  gatehouse('gatehouse, all traced', `${everything}, traces of all requests`, { traced: 1 }),
] satisfies readonly Target[]

export const ladderNames: readonly string[] = ladder.map(({ name }) => name)

export const startTarget = async (target: Target, upstreamPort: number): Promise<Running | undefined> =>
  target.start(await freePort(), upstreamPort)

export async function startUpstream(port: number): Promise<Running> {
  return startScript({ name: 'direct', file: here('load/upstream.ts'), port, core: cores.load, words: [port] })
}

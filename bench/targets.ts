import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { features, startGatehouse, type GatehouseOptions } from './targets/gatehouse.ts'
import { cores, freePort, here, install, startScript, type Running } from './targets/script.ts'

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
  { name: 'direct', switchedOn: 'no gateway; the process measured is the upstream', start: startUpstream },
  { name: 'nginx', switchedOn: 'nothing', start: startNginx },
  script('bare', 'nothing'),
  script('fastify', 'nothing'),
  { name: 'portkey', switchedOn: 'nothing', start: startPortkey },
  { name: 'litellm', switchedOn: 'a master key', start: startLitellm },
  ...ladder,
  gatehouse('gatehouse', everything, {}),
  gatehouse('gatehouse, 20 policies', `${everything}, 20 policies`, { policies: 20 }),
  gatehouse('gatehouse, 200 policies', `${everything}, 200 policies`, { policies: 200 }),
  gatehouse('gatehouse, 1,000 organizations', `${everything}, 1,000 organizations with a key each`, {
    organizations: 1000,
  }),
] satisfies readonly Target[]

export const ladderNames: readonly string[] = ladder.map(({ name }) => name)

export const startTarget = async (target: Target, upstreamPort: number): Promise<Running | undefined> =>
  target.start(await freePort(), upstreamPort)

export async function startUpstream(port: number): Promise<Running> {
  return startScript({ name: 'direct', file: here('load/upstream.ts'), port, core: cores.load, words: [port] })
}

/** The package of the system, as one process. */
async function startNginx(port: number, upstreamPort: number): Promise<Running | undefined> {
  if (spawnSync('nginx', ['-v']).status !== 0) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(' ')
  writeFileSync(
    `${folder}/nginx.conf`,
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr error;
    events { worker_connections 4096; }
    http { access_log off; ${paths} keepalive_requests 100000000;
      upstream models { server 127.0.0.1:${upstreamPort}; keepalive 1024; keepalive_requests 100000000; }
      server { listen 127.0.0.1:${port}; client_body_buffer_size 256k;
        location / { proxy_pass http://models; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; } } }`,
  )
  const command = ['nginx', '-p', folder, '-c', `${folder}/nginx.conf`, '-e', 'stderr']
  return startScript({ name: 'nginx', port, command })
}

/** A comparable gateway in TypeScript, from npm. */
async function startPortkey(port: number, upstreamPort: number): Promise<Running | undefined> {
  const file = 'node_modules/@portkey-ai/gateway/build/start-server.js'
  const npm = ['npm', 'install', '--prefix', here('build'), '--loglevel=error', '@portkey-ai/gateway@1.15.2']
  if (!install(file, npm)) return undefined
  const running = await startScript({
    name: 'portkey',
    file: here(`build/${file}`),
    port,
    words: [`--port=${port}`, '--headless'],
  })
  const lines = (provider: string): string =>
    `authorization: Bearer none\r\nx-portkey-provider: ${provider}\r\nx-portkey-custom-host: http://127.0.0.1:${upstreamPort}/v1\r\n`
  return { ...running, headers: ({ model }) => [lines(model === 'chat' ? 'openai' : 'anthropic')] }
}

/** A comparable gateway in Python, from PyPI. */
async function startLitellm(port: number, upstreamPort: number): Promise<Running | undefined> {
  const venv = here('build/litellm')
  const commands = `python3 -m venv ${venv} && ${venv}/bin/pip install --quiet 'litellm[proxy]'`
  if (!install('litellm/bin/litellm', ['sh', '-c', commands])) return undefined
  const config = join(mkdtempSync(join(tmpdir(), 'gatehouse-bench-')), 'litellm.json')
  const model = { model: 'openai/m', api_base: `http://127.0.0.1:${upstreamPort}/v1`, api_key: 'none' }
  writeFileSync(
    config,
    JSON.stringify({
      model_list: [{ model_name: 'chat', litellm_params: model }],
      general_settings: { master_key: 'sk-bench' },
    }),
  )
  const command = [`${venv}/bin/litellm`, '--config', config, '--port', String(port), '--host', '127.0.0.1']
  const running = await startScript({ name: 'litellm', port, command, env: { LITELLM_TELEMETRY: 'False' } })
  return { ...running, headers: () => ['authorization: Bearer sk-bench\r\n'] }
}

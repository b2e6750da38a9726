import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { here, startScript, temporaryFolder, type Running } from './script.ts'

/** Other gateways, for comparison. Each returns undefined if it is not installed and cannot be. */
type StartPeer = (port: number, upstreamPort: number) => Promise<Running | undefined>

const buildFolder = here('build')

/** Runs the command unless the file is in `bench/build` already. */
function install(file: string, commands: string): boolean {
  const path = join(buildFolder, file)
  mkdirSync(buildFolder, { recursive: true })
  if (!existsSync(path)) spawnSync('sh', ['-c', commands], { cwd: buildFolder, stdio: ['ignore', 'ignore', 'inherit'] })
  return existsSync(path)
}

/** The package of the system, as one process. */
export const startNginx: StartPeer = async (port, upstreamPort) => {
  if (spawnSync('nginx', ['-v']).status !== 0) return undefined
  const folder = temporaryFolder()
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

/** The web server of Portkey is fixed to the last version with which its streams work on Node. */
const portkeyPackage = {
  private: true,
  dependencies: { '@portkey-ai/gateway': '1.15.2' },
  overrides: { '@hono/node-server': '1.14.1' },
}

export const startPortkey: StartPeer = async (port, upstreamPort) => {
  const file = 'portkey/node_modules/@portkey-ai/gateway/build/start-server.js'
  const json = JSON.stringify(portkeyPackage)
  const commands = `mkdir -p portkey && cd portkey && echo '${json}' > package.json && npm install --loglevel=error`
  if (!install(file, commands)) return undefined
  const words = [`--port=${port}`, '--headless']
  const running = await startScript({ name: 'portkey', file: here(`build/${file}`), port, words })
  const lines = (provider: string): string =>
    `authorization: Bearer none\r\nx-portkey-provider: ${provider}\r\nx-portkey-custom-host: http://127.0.0.1:${upstreamPort}/v1\r\n`
  return { ...running, headers: ({ model }) => [lines(model === 'chat' ? 'openai' : 'anthropic')] }
}

export const startLitellm: StartPeer = async (port, upstreamPort) => {
  const commands = "python3 -m venv litellm && litellm/bin/pip install --quiet 'litellm[proxy]==1.106.2'"
  if (!install('litellm/bin/litellm', commands)) return undefined
  const config = join(temporaryFolder(), 'litellm.json')
  const model = { model: 'openai/m', api_base: `http://127.0.0.1:${upstreamPort}/v1`, api_key: 'none' }
  const settings = {
    model_list: [{ model_name: 'chat', litellm_params: model }],
    general_settings: { master_key: 'sk-bench' },
  }
  writeFileSync(config, JSON.stringify(settings))
  const words = ['--config', config, '--port', String(port), '--host', '127.0.0.1', '--telemetry', 'False']
  const running = await startScript({ name: 'litellm', port, command: [here('build/litellm/bin/litellm'), ...words] })
  return { ...running, headers: () => ['authorization: Bearer sk-bench\r\n'] }
}

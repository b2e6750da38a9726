import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { here, startScript, type Running } from './script.ts'

/** The features that can be switched off, in the order in which they are added. Content scanning is always on. */
export const parts = ['log', 'limits', 'credits', 'audit', 'policies'] as const
export type Part = (typeof parts)[number]

export type Started = {
  readonly name?: string
  readonly port: number
  readonly upstreamPort: number
  readonly on?: readonly Part[]
}

/** A real instance: embedded storage, a key, two upstreams, and all features on by default. */
export async function startGatehouse(started: Started): Promise<Running> {
  const { name = 'gatehouse', port, on = parts } = started
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
  const config = join(folder, 'gatehouse.yaml')
  writeFileSync(config, JSON.stringify(settings(started, join(folder, 'data'))))
  const env = { GATEHOUSE_CONFIG: config }
  const main = here('../bin/gatehouse.mjs')
  const command = (...words: string[]): string =>
    spawnSync(process.execPath, [main, ...words], { env: { ...process.env, ...env }, encoding: 'utf8' }).stdout
  const keys = JSON.parse(command('setup', '--json')) as { api_key: string; admin_key: string }
  if (!on.includes('credits')) command('orgs', 'set-metering', 'off')
  const running = await startScript({ name, file: main, port, flags: startFlags(), words: ['serve'], env })
  if (on.includes('policies')) await publishPolicies(port, keys.admin_key)
  return { ...running, headers: () => ({ authorization: `Bearer ${keys.api_key}` }) }
}

/** The Node options of `npm start`. */
function startFlags(): string[] {
  const { scripts } = JSON.parse(readFileSync(here('../package.json'), 'utf8')) as { scripts: { start: string } }
  return scripts.start.split(' ').filter((word) => word.startsWith('--'))
}

function settings({ port, upstreamPort, on = parts }: Started, dataDir: string): object {
  const base = `http://127.0.0.1:${upstreamPort}`
  const price = { input: 1, output: 2 }
  return {
    server: { port },
    storage: { data_dir: dataDir },
    log: { level: on.includes('log') ? 'info' : 'silent' },
    limits: { tiers: { free: on.includes('limits') ? plenty : unlimited } },
    credits: { starting: 1_000_000_000 },
    audit: { requests: on.includes('audit') },
    upstreams: [
      { name: 'c', kind: 'openai-chat', base_url: `${base}/v1` },
      { name: 'a', kind: 'anthropic', base_url: base },
    ],
    models: [
      { name: 'chat', targets: [{ upstream: 'c', model: 'm' }], price },
      { name: 'messages', targets: [{ upstream: 'a', model: 'm' }], price },
    ],
  }
}

/** The usual limits, with higher values. */
const plenty = {
  rpm: 100_000_000,
  rpd: 1_000_000_000,
  tpm: 1_000_000_000_000,
  tpd: 1_000_000_000_000,
  concurrent: { key: 10_000, project: 10_000, organization: 10_000 },
}

const unlimited = { rpm: 0, rpd: 0, tpm: 0, tpd: 0, concurrent: { key: 0, project: 0, organization: 0 } }

const policyCount = 20

/** Typical rules in rotation. None matches, and none holds back a whole stream. */
const rules = [
  (at: number) => `Never mention "Project Falcon ${at}" or "Condor ${at}".`,
  (at: number) => `cel:text.lowerAscii().contains("launch code ${at}") || text.contains("Red Alert ${at}")`,
  (at: number) => `No card numbers, and never "account ${at}".`,
  () => 'Block hate speech and harassment.',
  () => 'cel:categories["hate"] > 0.9 || pii["email"] > 3 && user != "ann"',
]

async function publishPolicies(port: number, adminKey: string): Promise<void> {
  const post = async (path: string, body: object): Promise<{ id: string; revision: number }> => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/organization/policies${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`a policy was rejected: ${await answer.text()}`)
    return (await answer.json()) as { id: string; revision: number }
  }
  for (let at = 0; at < policyCount; at++) {
    const rule = rules[at % rules.length]?.(at)
    const { id, revision } = await post('', { name: `Policy ${at}`, mode: 'enforcing', rule })
    await post(`/${id}/publish`, { revision })
  }
}

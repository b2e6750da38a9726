import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createApiClient, socketTransport, type ApiClient } from '../../src/app/client/api-client.ts'
import { controlSocketPath } from '../../src/app/client/control-socket-path.ts'
import { policyRules } from './policy-rules.ts'
import { here, startScript, temporaryFolder, type Running } from './script.ts'

/** The features that can be switched off, in the order in which they are added. Content scanning is always on. */
export const features = ['log', 'limits', 'credits', 'audit'] as const
export type Feature = (typeof features)[number]

export type GatehouseOptions = {
  readonly on?: readonly Feature[]
  readonly policies?: number
  /** Each matches every request and is never used up. */
  readonly budgets?: number
  /** Of the first organization, all in one project. */
  readonly keys?: number
  /** Each with a key of its own. The policies are those of the first. */
  readonly organizations?: number
  /** The share of requests that are traced. Without it no traces are recorded. */
  readonly traced?: number
}

/** A real instance: embedded storage, keys, two upstreams, and all features on by default. */
export async function startGatehouse(
  { on = features, policies = 0, budgets = 0, keys = 1, organizations = 1, traced }: GatehouseOptions,
  port: number,
  upstreamPort: number,
): Promise<Running> {
  const folder = temporaryFolder()
  const dataDir = join(folder, 'data')
  const config = join(folder, 'gatehouse.yaml')
  writeFileSync(
    config,
    JSON.stringify({
      server: { port },
      storage: { data_dir: dataDir },
      ...settings(on, upstreamPort),
      ...(traced !== undefined && { traces: { endpoint: `http://127.0.0.1:${upstreamPort}`, sample_ratio: traced } }),
    }),
  )
  const env = { GATEHOUSE_CONFIG: config }
  const main = here('../bin/gatehouse.mjs')
  const command = (...words: string[]): string =>
    spawnSync(process.execPath, [main, ...words], { env: { ...process.env, ...env }, encoding: 'utf8' }).stdout
  const created = JSON.parse(command('setup', '--json')) as { api_key: string; project_id: string }
  if (!on.includes('credits')) command('orgs', 'set-metering', 'off')
  const running = await startScript({ name: 'gatehouse', file: main, port, flags: startFlags(), words: ['serve'], env })
  const client = createApiClient(socketTransport(controlSocketPath(dataDir)))
  await publishPolicies(client, policyRules(policies))
  await createBudgets(client, budgets)
  const apiKeys = [
    created.api_key,
    ...(await createKeys(client, created.project_id, keys - 1)),
    ...(await createOrganizations(client, organizations - 1)),
  ]
  return { ...running, hasEncoder: true, headers: () => apiKeys.map((key) => `authorization: Bearer ${key}\r\n`) }
}

/** The Node options of `npm start`. */
export function startFlags(): string[] {
  const { scripts } = JSON.parse(readFileSync(here('../package.json'), 'utf8')) as { scripts: { start: string } }
  return scripts.start.split(' ').filter((word) => word.startsWith('--'))
}

function settings(on: readonly Feature[], upstreamPort: number): object {
  const base = `http://127.0.0.1:${upstreamPort}`
  const price = { input: 1, output: 2 }
  return {
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

async function publishPolicies(client: ApiClient, rules: readonly string[]): Promise<void> {
  const path = '/v1/organization/policies'
  for (const [at, rule] of rules.entries()) {
    const policy = { name: `Policy ${at}`, mode: 'enforcing', rule }
    const { id, revision } = await client.post<{ id: string; revision: number }>(path, policy)
    await client.post(`${path}/${id}/publish`, { revision })
  }
}

async function createBudgets(client: ApiClient, count: number): Promise<void> {
  const members = ['all', 'project', 'key'] as const
  for (let at = 0; at < count; at++) {
    const budget = { name: `Budget ${at}`, per: members[at % members.length], amount_usd: 1_000_000, period: 'month' }
    await client.post('/v1/organization/budgets', budget)
  }
}

async function createKeys(client: ApiClient, projectId: string, count: number): Promise<string[]> {
  const created: string[] = []
  for (let at = 0; at < count; at++) {
    const path = `/v1/organization/projects/${projectId}/api_keys`
    created.push((await client.post<{ value: string }>(path, { name: `Key ${at}` })).value)
  }
  return created
}

async function createOrganizations(client: ApiClient, count: number): Promise<string[]> {
  const keys: string[] = []
  for (let at = 0; at < count; at++) {
    const body = { name: `Organization ${at}`, with_project: true }
    keys.push((await client.post<{ api_key: string }>('/operator/organizations', body)).api_key)
  }
  return keys
}

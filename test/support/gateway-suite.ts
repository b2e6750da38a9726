import { after, before } from 'node:test'
import { textOf } from './administration.ts'
import { startExportScene, type ExportScene } from './export-scene.ts'
import type { TestAppOptions } from './app.ts'

/** An app for the policy gateway tests of one file. Call it inside `describe`. */
export function gatewaySuite(options: TestAppOptions = {}) {
  let scene: ExportScene | undefined
  before(async () => void (scene = await startExportScene(options)))
  after(() => scene?.[Symbol.asyncDispose]())
  const opened = (): ExportScene => {
    if (!scene) throw new Error('the app is not open yet')
    return scene
  }
  return {
    scene: opened,
    send: (method: string, path: string, what?: Parameters<ExportScene['gateway']>[2]) =>
      opened().gateway(method, path, what),
  }
}

/** A valid sink configuration whose destination does not exist. */
export const webhookConfig = { url: 'https://hooks.example.com/in', secret: 'a-secret-of-the-webhook-0123' }

/** It only should pass, so that every configuration can be saved. */
const newGatewayCase = { says: 'asked outright', given: { text: 'Project X?' }, expect: 'refuse', weight: 'should' }

export type GatewayRoute = {
  readonly method: string
  /** Path after `/api/policy-gateway`; names of ids such as `{export_id}` are replaced. */
  readonly path: string
  readonly permission: 'exports:read' | 'exports:write' | 'gateway:read' | 'gateway:write'
  /** Further permissions that it needs. The key of a project cannot have them. */
  readonly alsoNeeds?: readonly string[]
  readonly body?: object
}

/** Every route of the policy gateway. A test fails if one is missing here. */
export const gatewayRoutes: readonly GatewayRoute[] = [
  { method: 'GET', path: '/config', permission: 'gateway:read' },
  { method: 'PUT', path: '/config', permission: 'gateway:write', body: { name: 'House rules' } },
  { method: 'POST', path: '/config', permission: 'gateway:write', body: { config: { rules: { redact: true } } } },
  { method: 'POST', path: '/config/preview', permission: 'gateway:read', body: { name: 'House rules' } },
  { method: 'GET', path: '/config/versions', permission: 'gateway:read' },
  {
    method: 'POST',
    path: '/config/backtest',
    permission: 'gateway:write',
    alsoNeeds: ['content:read'],
    body: { limit: 10 },
  },
  { method: 'GET', path: '/config/backtest', permission: 'gateway:read' },
  { method: 'GET', path: '/config/backtest/{backtest_id}', permission: 'gateway:read' },
  { method: 'POST', path: '/config/backtest/{backtest_id}/cancel', permission: 'gateway:write' },
  { method: 'GET', path: '/config/cases', permission: 'gateway:read' },
  { method: 'POST', path: '/config/cases', permission: 'gateway:write', body: newGatewayCase },
  { method: 'GET', path: '/config/cases/{case_id}', permission: 'gateway:read' },
  {
    method: 'PATCH',
    path: '/config/cases/{case_id}',
    permission: 'gateway:write',
    body: { revision: 1, weight: 'should' },
  },
  { method: 'DELETE', path: '/config/cases/{case_id}', permission: 'gateway:write' },
  { method: 'POST', path: '/config/cases/run', permission: 'gateway:read', body: {} },
  { method: 'POST', path: '/config/gate', permission: 'gateway:write', body: { config: {} } },
  { method: 'GET', path: '/config/gate', permission: 'gateway:read' },
  { method: 'GET', path: '/config/gate/{gate_run_id}', permission: 'gateway:read' },
  {
    method: 'POST',
    path: '/config/gate/{gate_run_id}/approve',
    permission: 'gateway:write',
    alsoNeeds: ['policies:publish'],
  },
  { method: 'POST', path: '/simulate', permission: 'gateway:read', body: { categories: ['hate'] } },
  { method: 'GET', path: '/exports', permission: 'exports:read' },
  { method: 'POST', path: '/exports', permission: 'exports:write', body: { type: 'webhook', config: webhookConfig } },
  { method: 'GET', path: '/exports/{export_id}', permission: 'exports:read' },
  { method: 'PATCH', path: '/exports/{export_id}', permission: 'exports:write', body: { label: 'Changed' } },
  { method: 'DELETE', path: '/exports/{export_id}', permission: 'exports:write' },
  { method: 'POST', path: '/exports/{export_id}/test', permission: 'exports:write' },
  { method: 'GET', path: '/exports/{export_id}/dead_letters', permission: 'exports:read' },
  { method: 'POST', path: '/exports/{export_id}/dead_letters/replay', permission: 'exports:write', body: {} },
  { method: 'GET', path: '/history', permission: 'gateway:read' },
]

/** An id of each kind that does not exist. */
export const unknownIds: Readonly<Record<string, string>> = {
  export_id: 'sink_00000000000000000000000000',
  case_id: 'case_00000000000000000000000000',
  backtest_id: 'bt_00000000000000000000000000',
  gate_run_id: 'gate_00000000000000000000000000',
}

/** The name of the id in the path. */
export const idIn = ({ path }: GatewayRoute): string | undefined => /\{(\w+)\}/.exec(path)?.[1]

/** Creates what the path of a route names. */
export async function createFor(route: GatewayRoute, scene: ExportScene): Promise<string> {
  if (idIn(route) === 'export_id') return textOf(await scene.createSink(webhookConfig))
  const [path, body] = {
    case_id: ['/config/cases', newGatewayCase] as const,
    backtest_id: ['/config/backtest', {}] as const,
    gate_run_id: ['/config/gate', { config: {} }] as const,
  }[idIn(route) ?? ''] ?? ['', {}]
  return textOf((await scene.gateway('POST', path, { body, key: scene.admin.key })).body)
}

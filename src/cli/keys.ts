import { apiPath, type ApiClient } from '../app/client/api-client.ts'
import type { AdminKeyBody, ApiKeyBody, CreatedKeyBody, KeysBody } from '../http/admin/operator-keys.ts'
import type { ProjectBody } from '../http/admin/projects/schema.ts'
import { readArguments, readList, readTime, required } from './arguments.ts'
import { UsageError, unknownSubcommand, type Command } from './command.ts'
import { budgetOptions, readKeyBudget, withBudget } from './key-budget.ts'
import { runOnServer, type Result, type Work } from './run-on-server.ts'
import type { Connection } from '../app/client/in-process.ts'
import { dateOf, tableWithOwners } from './table.ts'

const options = {
  org: { type: 'string' },
  project: { type: 'string' },
  name: { type: 'string' },
  admin: { type: 'boolean' },
  models: { type: 'string' },
  permissions: { type: 'string' },
  role: { type: 'string' },
  expires: { type: 'string' },
  'allow-ip': { type: 'string', multiple: true },
  grace: { type: 'string' },
  ...budgetOptions,
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']

export const keys: Command = {
  summary: 'List, create, change, rotate and revoke keys',
  isRemote: true,
  usage: `gatehouse keys list [--project ID] [--org ID] [--json]
gatehouse keys create --name NAME [--project ID] [--models a,b] [--permissions p,q] [--expires 30d] [--allow-ip NETWORK]... [--budget-usd 20] [--budget-period month] [--budget-action warn] [--org ID] [--json]
gatehouse keys create --admin --name NAME [--permissions p,q | --role ROLE] [--expires 2027-01-31] [--allow-ip NETWORK]... [--org ID] [--json]
gatehouse keys update ID [--name NAME] [--models a,b] [--permissions p,q] [--expires TIME] [--allow-ip NETWORK]... [--org ID] [--json]
gatehouse keys rotate ID [--grace 24h] [--org ID] [--json]
gatehouse keys revoke ID [--org ID] [--json]

A key's secret is shown when it is created, and never again. An API key may call models and nothing else, unless
--permissions or keys.default_permissions in gatehouse.yaml give it more: gateway:read, gateway:write, exports:read,
exports:write. An administrator key may do everything (*) unless --permissions lists less, or --role names a role such as
auditor.
update changes what is given: --models any, --expires never and --allow-ip any remove a restriction. rotate gives the key a
new secret; the replaced one works until the grace time has passed, without --grace not at all.
--budget-usd, --budget-tokens or --budget-requests also creates a budget of the key: for a day, week, month (the default) or once.
Over it, requests are rejected, or --budget-action warn lets them pass.
--allow-ip 203.0.113.0/24 restricts the key to these addresses; it may be given more than once.
--org and --project may be left out while there is only one.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'list', id] = positionals
    return runOnServer(context, values, verbOf(verb, id, values))
  },
}

function verbOf(verb: string, id: string | undefined, values: Values): Work {
  if (verb === 'list') return list(values)
  if (verb === 'create') return create(values)
  if (verb === 'update') return update(required(id, 'The id of the key'), values)
  if (verb === 'rotate') return rotate(required(id, 'The id of the key'), values)
  if (verb === 'revoke') return revoke(required(id, 'The id of the key'))
  throw unknownSubcommand('keys', verb)
}

/** Every API key may call models. */
const permissionText = (key: AdminKeyBody | ApiKeyBody): string =>
  ['project_id' in key ? ['inference'] : [], key.permissions].flat().join(' ')

const list =
  ({ project }: Values): Work =>
  async (connection) => {
    const response = await readKeys(connection, project)
    const all: readonly (AdminKeyBody | ApiKeyBody)[] = [...response.api_keys, ...response.admin_api_keys]
    const rows = all.map((key) => ({
      managed_by: key.managed_by,
      cells: [
        key.id,
        key.name,
        key.redacted_value,
        permissionText(key),
        'project_id' in key ? key.project_id : '(administrator)',
        dateOf(key.last_used_at),
        key.revoked_at === undefined ? dateOf(key.expires_at) : 'revoked',
      ],
    }))
    return {
      json: response,
      text: tableWithOwners(['ID', 'NAME', 'KEY', 'MAY', 'PROJECT', 'LAST USED', 'EXPIRES'], rows),
    }
  }

function create(values: Values): Work {
  const name = required(values.name, '--name')
  if (values.admin && (values.models ?? values.project) !== undefined)
    throw new UsageError('--models and --project are for API keys, not for administrator keys.')
  if (values.role !== undefined && !values.admin) throw new UsageError('--role is for administrator keys: add --admin.')
  const permissions = readList(values.permissions)
  const models = readList(values.models)
  const allowedIps = values['allow-ip']?.flatMap((text) => readList(text) ?? [])
  const budget = readKeyBudget(values)
  return async ({ client, clock }) => {
    const expiresAtMs = readTime(values.expires, clock.nowMs())
    const body = {
      name,
      ...(permissions && { permissions }),
      ...(values.role !== undefined && { role: values.role }),
      ...(models && { models }),
      ...(expiresAtMs !== null && { expires_at: Math.floor(expiresAtMs / 1000) }),
      ...(allowedIps && { allowed_ips: allowedIps }),
    }
    const path = values.admin
      ? '/v1/organization/admin_api_keys'
      : apiPath`/v1/organization/projects/${values.project ?? (await onlyProject(client))}/api_keys`
    const created = await client.post<CreatedKeyBody>(path, body)
    const result = issuedResult(created)
    return budget === undefined ? result : withBudget(client, created, { result, budget })
  }
}

const issuedResult = (response: CreatedKeyBody): Result => ({
  json: response,
  text: `${response.value}\n\n${response.id} ${response.name} may: ${permissionText(response)}. Keep the key: it is not shown again.`,
})

function update(id: string, values: Values): Work {
  const { name, expires } = values
  const [models, networks] = [readList(values.models), values['allow-ip']?.flatMap((text) => readList(text) ?? [])]
  const permissions = readList(values.permissions)
  return async (connection) => {
    const endMs = expires === 'never' ? null : readTime(expires, connection.clock.nowMs())
    const body = {
      ...(name !== undefined && { name }),
      ...(permissions && { permissions }),
      ...(models && { models: orAny(models) }),
      ...(networks && { allowed_ips: orAny(networks) }),
      ...(expires !== undefined && { expires_at: endMs === null ? null : Math.floor(endMs / 1000) }),
    }
    if (Object.keys(body).length === 0) throw new UsageError('There is nothing to change.')
    const path = await keyPath(connection, id)
    const { body: response } = await connection.client.request<AdminKeyBody | ApiKeyBody>('PATCH', path, { body })
    return { json: response, text: `${response.id} ${response.name} may: ${permissionText(response)}.` }
  }
}

/** `any` removes a restriction. */
const orAny = (words: readonly string[]): readonly string[] | null => (words[0] === 'any' ? null : words)

const rotate =
  (id: string, { grace }: Values): Work =>
  async (connection) => {
    const nowMs = connection.clock.nowMs()
    const endMs = grace === undefined ? nowMs : (readTime(grace, nowMs) ?? nowMs)
    const body = { grace_seconds: Math.round((endMs - nowMs) / 1000) }
    return issuedResult(await connection.client.post<CreatedKeyBody>(`${await keyPath(connection, id)}/rotate`, body))
  }

/** The operator also sees revoked keys. */
async function readKeys({ client, isRemote }: Connection, project?: string): Promise<KeysBody> {
  const query = { project_id: project }
  if (!isRemote) return client.get<KeysBody>('/operator/organization/keys', query)
  const apiKeys = await client.list<ApiKeyBody>('/v1/organization/api_keys', query)
  const adminKeys =
    project === undefined ? (await client.list<AdminKeyBody>('/v1/organization/admin_api_keys')).data : []
  return { api_keys: apiKeys.data, admin_api_keys: adminKeys }
}

/** The path of a key in the API, which names the project of an API key. */
async function keyPath(connection: Connection, id: string): Promise<string> {
  if (id.startsWith('adk_')) return apiPath`/v1/organization/admin_api_keys/${id}`
  const { api_keys: keysOfProjects } = await readKeys(connection)
  const found = keysOfProjects.find((key) => key.id === id)
  if (!found) throw new Error(`There is no key ${id}. gatehouse keys list shows all of them.`)
  return apiPath`/v1/organization/projects/${found.project_id}/api_keys/${id}`
}

async function onlyProject(client: ApiClient): Promise<string> {
  const { data } = await client.list<ProjectBody>('/v1/organization/projects')
  const [first, second] = data.filter(({ status }) => status === 'active')
  if (first === undefined) throw new Error('There is no project yet: run gatehouse projects create.')
  if (second !== undefined) throw new Error('There is more than one project: name it with --project.')
  return first.id
}

const revoke =
  (id: string): Work =>
  async (connection) => {
    // The operator may also revoke the last administrator key.
    const path = connection.isRemote ? await keyPath(connection, id) : apiPath`/operator/organization/keys/${id}`
    const { body: response } = await connection.client.request<{ id: string; name?: string }>('DELETE', path)
    return { json: response, text: `${[response.id, response.name].filter(Boolean).join(' ')} is revoked.` }
  }

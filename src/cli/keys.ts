import type { ShownAdminKey, ShownApiKey } from '../app/operations/keys.ts'
import { inOrganization, readArguments, readList, readTime, required } from './arguments.ts'
import { UsageError, type Command } from './command.ts'
import { runOnServer, type Work } from './run-command.ts'
import { dateOf, table } from './table.ts'

const options = {
  org: { type: 'string' },
  project: { type: 'string' },
  name: { type: 'string' },
  admin: { type: 'boolean' },
  models: { type: 'string' },
  permissions: { type: 'string' },
  expires: { type: 'string' },
  'allow-ip': { type: 'string', multiple: true },
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']

export const keys: Command = {
  summary: 'List, create and revoke keys',
  usage: `gatehouse keys list [--project ID] [--org ID] [--json]
gatehouse keys create --name NAME [--project ID] [--models a,b] [--permissions p,q] [--expires 30d] [--allow-ip NETWORK]... [--org ID] [--json]
gatehouse keys create --admin --name NAME [--permissions p,q] [--expires 2027-01-31] [--allow-ip NETWORK]... [--org ID] [--json]
gatehouse keys revoke ID [--org ID] [--json]

A key's secret is shown when it is created, and never again. An API key calls models and nothing else unless
--permissions or keys.default_permissions in gatehouse.yaml say more: gateway:read, gateway:write, exports:read,
exports:write. An administrator key may do everything (*) unless --permissions says less.
--allow-ip 203.0.113.0/24 lets the key work from there alone; it may be given more than once.
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
  if (verb === 'revoke') return revoke(required(id, 'The id of the key'), values)
  throw new UsageError(`There is no keys ${verb}.`)
}

/** Every API key calls models. */
const mayDo = (key: ShownAdminKey | ShownApiKey): string =>
  ['project_id' in key ? ['inference'] : [], key.permissions].flat().join(' ')

const inProject = ({ project }: Values) => (project === undefined ? {} : { project })

const list =
  (values: Values): Work =>
  async ({ operations }) => {
    const answer = await operations['keys.list']({ ...inOrganization(values), ...inProject(values) })
    const all: readonly (ShownAdminKey | ShownApiKey)[] = [...answer.api_keys, ...answer.admin_api_keys]
    const rows = all.map((key) => [
      key.id,
      key.name,
      key.redacted_value,
      mayDo(key),
      'project_id' in key ? key.project_id : '(administrator)',
      dateOf(key.last_used_at),
      key.revoked_at === undefined ? dateOf(key.expires_at) : 'revoked',
    ])
    return { answer, text: table(['ID', 'NAME', 'KEY', 'MAY', 'PROJECT', 'LAST USED', 'EXPIRES'], rows) }
  }

function create(values: Values): Work {
  const name = required(values.name, '--name')
  if (values.admin && (values.models ?? values.project) !== undefined)
    throw new UsageError('--models and --project are for API keys, not for administrator keys.')
  const permissions = readList(values.permissions)
  const models = readList(values.models)
  const allowedIps = values['allow-ip']?.flatMap((text) => readList(text) ?? [])
  return async ({ operations, clock }) => {
    const expiresAtMs = readTime(values.expires, clock.nowMs())
    const answer = values.admin
      ? await operations['keys.createAdmin']({
          ...inOrganization(values),
          key: { name, expiresAtMs, ...(permissions && { permissions }), ...(allowedIps && { allowedIps }) },
        })
      : await operations['keys.create']({
          ...inOrganization(values),
          ...inProject(values),
          key: {
            name,
            expiresAtMs,
            ...(permissions && { permissions }),
            ...(models && { models }),
            ...(allowedIps && { allowedIps }),
          },
        })
    return {
      answer,
      text: `${answer.value}\n\n${answer.id} ${answer.name} may: ${mayDo(answer)}. Keep the key: it is shown this once.`,
    }
  }
}

const revoke =
  (id: string, values: Values): Work =>
  async ({ operations }) => {
    const answer = await operations['keys.revoke']({ ...inOrganization(values), id })
    return { answer, text: `${answer.id} ${answer.name} is revoked.` }
  }

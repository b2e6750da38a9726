import type { ApiList } from '../app/client/api-client.ts'
import type { CreatedOrganizationBody } from '../http/operator/organizations-schema.ts'
import type { GrantBody } from '../http/admin/credits/balance-schema.ts'
import type { OrganizationBody } from '../http/resources/organization.ts'
import type { OverrideBody } from '../http/admin/limits/override-routes.ts'
import { readArguments, readNumber, required } from './arguments.ts'
import { UsageError, unknownSubcommand, type Command } from './command.ts'
import { balanceResult } from './credits.ts'
import { runOnServer, type Result, type Work } from './run-on-server.ts'
import { setupText } from './setup.ts'
import { dateOf, table } from './table.ts'

const organizationsPath = '/operator/organizations'

const limitNames = ['rpm', 'rpd', 'tpm', 'tpd', 'concurrent'] as const

const text = { type: 'string' } as const
const options = {
  name: text,
  org: text,
  usd: text,
  ref: text,
  credits: text,
  project: text,
  key: text,
  rpm: text,
  rpd: text,
  tpm: text,
  tpd: text,
  concurrent: text,
  'with-project': { type: 'boolean' },
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']

export const orgs: Command = {
  summary: 'List and create organizations; set their plan, payments and limits',
  usage: `gatehouse orgs list [--json]
gatehouse orgs create --name NAME [--with-project] [--json]
gatehouse orgs set-plan free|developer|growth|scale [--org ID] [--json]
gatehouse orgs set-metering on|off [--org ID] [--json]
gatehouse orgs record-payment --usd AMOUNT --ref REF [--credits N] [--org ID] [--json]
gatehouse orgs set-limits [--project ID | --key ID] [--rpm N] [--rpd N] [--tpm N] [--tpd N] [--concurrent N] [--org ID] [--json]

create --with-project also creates a project, an administrator key, and API keys for the policy gateway and for applications,
which are shown once.
--org may be left out while there is only one organization. A payment counts towards the tier and adds the credits it
buys, once for each --ref. set-limits replaces the limits that were set before; 0 removes a limit, and without any number
the limits of the tier apply again.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'list', word] = positionals
    return runOnServer(context, { ...values, mayCreate: verb === 'create' }, verbOf(verb, word, values))
  },
}

function verbOf(verb: string, word: string | undefined, values: Values): Work {
  switch (verb) {
    case 'list':
      return async ({ client }) => resultOf(await client.list<OrganizationBody>(organizationsPath))
    case 'create': {
      const body = { name: required(values.name, '--name'), with_project: values['with-project'] ?? false }
      return async ({ client }) => createdResult(await client.post<CreatedOrganizationBody>(organizationsPath, body))
    }
    case 'set-plan':
      return update({ plan: required(word, 'The plan') })
    case 'set-metering':
      if (word !== 'on' && word !== 'off') throw new UsageError('Write on or off.')
      return update({ metered: word === 'on' })
    case 'record-payment':
      return recordPayment(values)
    case 'set-limits':
      return setLimits(values)
    default:
      throw unknownSubcommand('orgs', verb)
  }
}

const update =
  (body: { readonly plan: string } | { readonly metered: boolean }): Work =>
  async ({ client }) =>
    resultOf((await client.request<OrganizationBody>('PATCH', '/v1/organization', { body })).body)

function recordPayment(values: Values): Work {
  const usd = readNumber(required(values.usd, '--usd'), '--usd') ?? 0
  const ref = required(values.ref, '--ref')
  const credits = readNumber(values.credits, '--credits')
  const payment = { usd, ref, ...(credits === undefined ? {} : { credits }) }
  return async ({ client }) => balanceResult(await client.post<GrantBody>('/v1/organization/credits/payments', payment))
}

function setLimits(values: Values): Work {
  if (values.project !== undefined && values.key !== undefined)
    throw new UsageError('Use --project or --key, not both.')
  const given = limitNames.flatMap((name) => {
    const limit = readNumber(values[name], `--${name}`)
    return limit === undefined ? [] : [[name, limit] as const]
  })
  const body = {
    ...(values.project === undefined ? {} : { project_id: values.project }),
    ...(values.key === undefined ? {} : { api_key_id: values.key }),
    limits: Object.fromEntries(given),
  }
  return async ({ client }) => {
    const { body: response } = await client.request<OverrideBody>('PUT', '/v1/organization/limits/overrides', { body })
    const numbers = given.map(([name, limit]) => `${name} ${limit}`).join(', ') || 'the limits of its tier'
    return { json: response, text: `${response.scope} ${response.subject_id}: ${numbers}` }
  }
}

function createdResult(response: CreatedOrganizationBody): Result {
  const { project_id: projectId, admin_key: adminKey, api_key: apiKey, application_key: applicationKey } = response
  const { json, text: organization } = resultOf(response)
  if (projectId === undefined || adminKey === undefined || apiKey === undefined || applicationKey === undefined)
    return { json, text: organization }
  const created = {
    organization_id: response.id,
    project_id: projectId,
    admin_key: adminKey,
    api_key: apiKey,
    application_key: applicationKey,
  }
  return { json, text: setupText({ created, keysFile: undefined }) }
}

function resultOf(response: OrganizationBody | ApiList<OrganizationBody>): Result {
  const rows = 'data' in response ? response.data : [response]
  const cells = rows.map((org) => [
    org.id,
    org.name,
    org.plan,
    org.tier,
    `${org.lifetime_paid_usd} USD`,
    org.metered ? 'metered' : 'free',
    dateOf(org.created_at),
  ])
  return { json: response, text: table(['ID', 'NAME', 'PLAN', 'TIER', 'PAID', 'USE', 'CREATED'], cells) }
}

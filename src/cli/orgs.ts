import type { ShownOrganization } from '../app/operations/registry.ts'
import { inOrganization, readArguments, readNumber, required } from './arguments.ts'
import { UsageError, type Command } from './command.ts'
import { balanceText } from './credits.ts'
import { runOnServer, type Result, type Work } from './run-command.ts'
import { dateOf, table } from './table.ts'

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
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']

export const orgs: Command = {
  summary: 'List and create organizations; set their plan, payments and limits',
  usage: `gatehouse orgs list [--json]
gatehouse orgs create --name NAME [--json]
gatehouse orgs set-plan free|developer|growth|scale [--org ID] [--json]
gatehouse orgs set-metering on|off [--org ID] [--json]
gatehouse orgs record-payment --usd AMOUNT --ref REF [--credits N] [--org ID] [--json]
gatehouse orgs set-limits [--project ID | --key ID] [--rpm N] [--rpd N] [--tpm N] [--tpd N] [--concurrent N] [--org ID] [--json]

--org may be left out while there is only one organization. A payment counts towards the tier and adds the credits it
buys, once for each --ref. set-limits replaces what was set before; 0 lifts a limit, and without any the tier's hold again.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'list', word] = positionals
    return runOnServer(context, values, verbOf(verb, word, values))
  },
}

function verbOf(verb: string, word: string | undefined, values: Values): Work {
  const where = inOrganization(values)
  switch (verb) {
    case 'list':
      return async ({ operations }) => shown(await operations['orgs.list']({}))
    case 'create': {
      const name = required(values.name, '--name')
      return async ({ operations }) => shown(await operations['orgs.create']({ name }))
    }
    case 'set-plan': {
      const plan = required(word, 'The plan')
      return async ({ operations }) => shown(await operations['orgs.setPlan']({ ...where, plan }))
    }
    case 'set-metering': {
      if (word !== 'on' && word !== 'off') throw new UsageError('Say on or off.')
      return async ({ operations }) => shown(await operations['orgs.setMetered']({ ...where, metered: word === 'on' }))
    }
    case 'record-payment':
      return recordPayment(where, values)
    case 'set-limits':
      return setLimits(where, values)
    default:
      throw new UsageError(`There is no orgs ${verb}.`)
  }
}

type Where = { readonly organization?: string }

function recordPayment(where: Where, values: Values): Work {
  const usd = readNumber(required(values.usd, '--usd'), '--usd') ?? 0
  const ref = required(values.ref, '--ref')
  const credits = readNumber(values.credits, '--credits')
  return async ({ operations }) => {
    const payment = { ...where, usd, ref, ...(credits === undefined ? {} : { credits }) }
    const answer = await operations['orgs.recordPayment'](payment)
    return { answer, text: balanceText(answer) }
  }
}

function setLimits(where: Where, values: Values): Work {
  if (values.project !== undefined && values.key !== undefined)
    throw new UsageError('Say --project or --key, not both.')
  const given = limitNames.flatMap((name) => {
    const limit = readNumber(values[name], `--${name}`)
    return limit === undefined ? [] : [[name, limit] as const]
  })
  const subject = {
    ...(values.project === undefined ? {} : { project: values.project }),
    ...(values.key === undefined ? {} : { key: values.key }),
  }
  return async ({ operations }) => {
    const answer = await operations['orgs.setLimits']({ ...where, ...subject, limits: Object.fromEntries(given) })
    const said = given.map(([name, limit]) => `${name} ${limit}`).join(', ') || 'as its tier has it'
    return { answer, text: `${answer.scope} ${answer.subject_id}: ${said}` }
  }
}

function shown(found: ShownOrganization | readonly ShownOrganization[]): Result {
  const rows = 'id' in found ? [found] : found
  const cells = rows.map((org) => [
    org.id,
    org.name,
    org.plan,
    org.tier,
    `${org.lifetime_paid_usd} USD`,
    org.metered ? 'metered' : 'free',
    dateOf(org.created_at),
  ])
  return { answer: found, text: table(['ID', 'NAME', 'PLAN', 'TIER', 'PAID', 'USE', 'CREATED'], cells) }
}

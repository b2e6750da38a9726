import { connect } from '../app/operations/open.ts'
import { isProven, verifyWith } from '../app/audit-verification.ts'
import { plural } from '../base/plural.ts'
import { inOrganization, readArguments, required } from './arguments.ts'
import { describeVerification } from './audit-report.ts'
import { UsageError, type Command, type CommandContext } from './command.ts'
import { runOnServer } from './run-command.ts'

const options = {
  org: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  file: { type: 'string' },
  against: { type: 'string' },
  keys: { type: 'string' },
  request: { type: 'string' },
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']

export const audit: Command = {
  summary: 'Check, export and read the keys of the audit log',
  usage: `gatehouse audit verify [--from N] [--to N] [--keys FILE] [--against FILE] [--org ID] [--json]
gatehouse audit verify --file FILE [--keys FILE] [--json]
gatehouse audit export [--from N] [--to N] [--org ID]
gatehouse audit keys [--json]
gatehouse audit erase --request ID [--org ID] [--json]

verify names the first event that was changed, removed or moved, and then exits with 1, as it does where there was nothing
to check. It says what is proven and by which key. Keys are derived from the server secret or, with --keys, read from a file
(as keys prints them, also with --json, or plain PEM); those in the database are compared and never trusted. --against
compares the log with what sinks wrote elsewhere, which shows what a holder of the secret changed or cut off. --file checks
exported events as a log of its own; with --keys it needs nothing of the service. FILE is a file or a folder of files: events
on lines, plain or gzipped, as export and S3 sinks write them, or bodies of a webhook. export prints events as they were
hashed. keys prints the public keys to pin elsewhere. erase removes the texts of a request's prompt and answer: its events
stay, and the log stays whole. --org may be left out while there is only one organization.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 1)
    const verbs = { verify, export: exportEvents, keys: listKeys, erase }
    const [verb = ''] = positionals
    if (!isVerb(verbs, verb)) throw new UsageError(verb === '' ? 'What is to be done?' : `There is no audit ${verb}.`)
    return verbs[verb](context, values)
  },
}

const isVerb = <V extends object>(verbs: V, verb: PropertyKey): verb is keyof V => Object.hasOwn(verbs, verb)

async function verify({ config, say }: CommandContext, values: Values): Promise<number> {
  const { file, against, keys } = values
  if (file !== undefined && against !== undefined) {
    throw new UsageError('--file checks exported events alone; --against compares the log with them. Choose one.')
  }
  const input = { ...inOrganization(values), ...rangeOf(values), file, against, keys }
  const verification = await verifyWith(() => connect(config()), input)
  const { text, json } = describeVerification(verification)
  say(values.json ? JSON.stringify(json, null, 2) : text)
  return isProven(verification) ? 0 : 1
}

async function exportEvents({ config, say }: CommandContext, values: Values): Promise<number> {
  const { from = 1, to } = rangeOf(values)
  await using house = await connect(config())
  for (let after: number | null = from - 1; after !== null;) {
    const range = { after, ...(to !== undefined && { to }) }
    const page: { lines: string[]; last: number | null } = await house.operations['audit.page']({
      ...inOrganization(values),
      ...range,
    })
    if (page.lines.length > 0) say(page.lines.join('\n'))
    after = page.last
  }
  return 0
}

function listKeys(context: CommandContext, values: Values): Promise<number> {
  return runOnServer(context, values, async ({ operations }) => {
    const answer = await operations['audit.keys']({})
    return { answer, text: answer.map(({ id, public_key: pem }) => `${id}\n${pem}`).join('\n') }
  })
}

async function erase({ config, say }: CommandContext, values: Values): Promise<number> {
  const request = required(values.request, '--request')
  await using house = await connect(config())
  const answer = await house.operations['audit.erase']({ ...inOrganization(values), request })
  say(values.json ? JSON.stringify(answer) : `Erased the texts of ${plural(answer.erased, 'event')}.`)
  return 0
}

function rangeOf({ from, to }: Values): { from?: number; to?: number } {
  const first = from === undefined ? undefined : sequenceOf(from)
  const last = to === undefined ? undefined : sequenceOf(to)
  if (first !== undefined && last !== undefined && first > last) throw new UsageError('--from lies behind --to.')
  return { ...(first !== undefined && { from: first }), ...(last !== undefined && { to: last }) }
}

function sequenceOf(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new UsageError(`${text} is not the number of an event.`)
}

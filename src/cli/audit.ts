import { openOperations } from '../app/operations/open.ts'
import type { LogReport } from '../app/operations/audit.ts'
import { readKeys, verifyFile } from '../app/audit/verify-file.ts'
import { inOrganization, readArguments, required } from './arguments.ts'
import { UsageError, type Command, type CommandContext } from './command.ts'
import { inHouse } from './in-house.ts'

const options = {
  org: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  file: { type: 'string' },
  keys: { type: 'string' },
  request: { type: 'string' },
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']

export const audit: Command = {
  summary: 'Check, export and read the keys of the audit log',
  usage: `gatehouse audit verify [--from N] [--to N] [--org ID] [--json]
gatehouse audit verify --file FILE [--keys FILE] [--json]
gatehouse audit export [--from N] [--to N] [--org ID]
gatehouse audit keys [--json]
gatehouse audit erase --request ID [--org ID] [--json]

verify names the first event that was changed, removed or moved, and then exits with 1, as it does where there was nothing
to check. A file holds exported events, one on a line, and may be gzipped; --keys takes the public keys from a file (as
keys --json prints them) where the service that signed is not here. export prints events as they were hashed. erase removes
the texts of a request's prompt and answer: its events stay, and the log stays whole. --org may be left out while there is
only one organization.`,
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
  const { file, keys } = values
  const report =
    file !== undefined && keys !== undefined
      ? { ...(await verifyFile(file, readKeys(keys))), organization: file }
      : await verifyWithHouse(config, values)
  // Whoever runs it each night wants to hear of an empty file, too.
  const isWhole = report.checked > 0 && report.finding === undefined && report.checkpointFinding === undefined
  say(values.json ? JSON.stringify({ whole: isWhole, ...spelled(report) }, null, 2) : textOf(report))
  return isWhole ? 0 : 1
}

/** In the words of the API, for scripts. */
const spelled = ({
  end: { chainUid, ...end },
  checkpointFinding,
  ...report
}: LogReport & { organization: string }) => ({
  ...report,
  end: { chain_uid: chainUid, ...end },
  ...(checkpointFinding && { checkpoint_finding: checkpointFinding }),
})

async function verifyWithHouse(config: CommandContext['config'], values: Values) {
  await using house = await openOperations(config())
  if (values.file === undefined)
    return await house.operations['audit.verify']({ ...inOrganization(values), ...rangeOf(values) })
  const report = await verifyFile(values.file, await house.operations['audit.keys']({}))
  return { ...report, organization: values.file }
}

async function exportEvents({ config, say }: CommandContext, values: Values): Promise<number> {
  const { from = 1, to } = rangeOf(values)
  await using house = await openOperations(config())
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
  return inHouse(context, values, async ({ operations }) => {
    const answer = await operations['audit.keys']({})
    return { answer, text: answer.map(({ id, public_key: pem }) => `${id}\n${pem}`).join('\n') }
  })
}

async function erase({ config, say }: CommandContext, values: Values): Promise<number> {
  const request = required(values.request, '--request')
  await using house = await openOperations(config())
  const answer = await house.operations['audit.erase']({ ...inOrganization(values), request })
  say(values.json ? JSON.stringify(answer) : `Texts erased: of ${answer.erased} events.`)
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

const words: Readonly<Record<NonNullable<LogReport['finding']>['reason'], string>> = {
  altered: 'was altered: it does not have the fingerprint that it carries',
  texts_altered: 'has other texts beside it than it was written with',
  missing: 'is missing',
  misplaced: 'stands where another belongs',
  unlinked: 'does not follow from the one before: one of the two was replaced',
  rewritten: 'is not the one that a checkpoint was signed for: the log was written anew',
  cut: 'is missing, and so is all behind it: the end of the log was cut off',
}

const checkpointWords: Readonly<Record<NonNullable<LogReport['checkpointFinding']>['reason'], string>> = {
  unknown_key: 'was signed with a key that is not known',
  bad_signature: 'has a signature that is not its own',
  unlinked: 'does not follow from the one before',
}

function textOf(report: LogReport & { organization: string }): string {
  const { organization, checked, first, end, checkpoints, finding, checkpointFinding } = report
  if (checked === 0 && !finding && !checkpointFinding) return `${organization}: there was no event to check.`
  const lines = [
    `${organization}: ${checked} events are whole${checked > 0 ? ` (${first} to ${end.sequence})` : ''}, ${checkpoints} checkpoints.`,
  ]
  if (finding) lines.push(`Event ${finding.sequence} ${words[finding.reason]}.`)
  if (checkpointFinding) {
    lines.push(`The checkpoint of event ${checkpointFinding.sequence} ${checkpointWords[checkpointFinding.reason]}.`)
  }
  return lines.join('\n')
}

import { apiPath } from '../app/client/api-client.ts'
import { readRegularFile } from '../base/regular-file.ts'
import type { ExplanationBodyOf } from '../http/admin/requests/explanation-schema.ts'
import { readArguments, required } from './arguments.ts'
import { UsageError, type Command } from './command.ts'
import { runOnServer } from './run-on-server.ts'
import { table } from './table.ts'

const options = {
  text: { type: 'string' },
  file: { type: 'string', short: 'f' },
  response: { type: 'string' },
  texts: { type: 'boolean' },
  org: { type: 'string' },
  json: { type: 'boolean' },
} as const

export const explain: Command = {
  summary: 'Explain why a request was decided as it was',
  isRemote: true,
  usage: `gatehouse explain ID [--texts] [--org ID] [--json]
gatehouse explain ID [--text TEXT | -f FILE] [--response TEXT] [--org ID] [--json]

ID is the id of a request (req_…), or of its event (evt_…), which an error response names. Prints the rule that decided, what it
acted on, and the smallest change with which the request would have passed. Texts that audit.content keeps are evaluated
again by the versions that decided; the judge model is not asked.
--texts also prints the words that the rule acted on; the audit log records who read them.
--text, --file and --response evaluate another text instead, for requests whose texts are not kept.
--org may be left out while there is only one organization. The exit code is 0 whatever the decision was. Needs a running server.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 1)
    const given = required(positionals[0], 'The id of the request or of its event')
    if (values.file !== undefined && values.text !== undefined) throw new UsageError('Give a text or a file, not both.')
    const text = values.file === undefined ? values.text : readRegularFile(values.file)
    const isSent = text !== undefined || values.response !== undefined
    return runOnServer(context, values, async ({ client }) => {
      const id = given.startsWith('evt_') ? await requestOf(given) : given
      const path = apiPath`/v1/organization/requests/${id}/explanation`
      const explanation = isSent
        ? await client.post<ExplanationBodyOf>(path, { text, response: values.response })
        : await client.get<ExplanationBodyOf>(path, { include: values.texts ? 'content' : undefined })
      return { json: explanation, text: describe(explanation) }

      async function requestOf(eventId: string): Promise<string> {
        const event = await client.get<{ request_id: string | null }>(apiPath`/v1/organization/audit_logs/${eventId}`)
        return event.request_id ?? eventId
      }
    })
  },
}

function describe(explanation: ExplanationBodyOf): string {
  const { evidence, others, nearest, differs, incomplete } = explanation
  const section = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : ['', title, ...lines]
  return [
    `${explanation.request_id}  ${explanation.decision}; effect: ${explanation.effective_decision}${explanation.enforced ? '' : ', because it is not enforced'}`,
    ...decidingLines(explanation),
    `based on ${bases[explanation.basis]}`,
    ...section('ACTED ON', evidence.length === 0 ? [] : [evidenceTable(evidence)]),
    ...section('WOULD HAVE PASSED', nearest.map(changeLine)),
    ...section('OTHER CHECKS', others.length === 0 ? [] : [othersTable(others)]),
    ...section(
      'THE RERUN DIFFERS',
      differs.map(({ field, recorded, rerun }) => `${field}: recorded ${recorded ?? '-'}, now ${rerun ?? '-'}`),
    ),
    ...(incomplete.length === 0 ? [] : ['', `the rerun lacked: ${incomplete.join(', ')}`]),
  ].join('\n')
}

const bases: Readonly<Record<ExplanationBodyOf['basis'], string>> = {
  record: 'the audit log alone: no text is kept',
  rerun: 'the kept texts, evaluated again by the versions of that time',
  rerun_of_sent_text: 'the text that was given, which may be another one',
}

function decidingLines({ deciding, versions, direction }: ExplanationBodyOf): readonly string[] {
  if (deciding === null) return ['every check allowed it']
  const { check, policy, rollout } = deciding
  const name = check === 'policy' ? `policy "${policy.name ?? '-'}" (${policy.id ?? '-'})` : checkNames[check]
  const version = policy.version === null ? '' : `, version ${policy.version}`
  const share = rollout.percent === null ? '' : ` ${rollout.percent} %`
  const score = deciding.score_bp === null ? [] : [`score ${deciding.score_bp} of ${deciding.threshold_bp ?? '-'}`]
  const exception = deciding.exception_id === null ? [] : [`let through by the exception ${deciding.exception_id}`]
  const judge = versions.judge === null ? [] : [`judge ${versions.judge}`]
  return [
    `decided by the ${name}${version}, about the ${direction ?? 'request'}`,
    [
      `reason ${deciding.reason_code ?? '-'}`,
      ...score,
      `${rollout.mode ?? '-'}${share}${rollout.side === 'observed' ? ', only observed' : ''}`,
      ...exception,
      ...judge,
    ].join('; '),
  ]
}

const checkNames = {
  always_blocked: 'always blocked categories',
  requested: 'requested categories',
  prompt_injection: 'search for prompt injections',
  gateway: 'gateway configuration',
} as const

const evidenceTable = (evidence: ExplanationBodyOf['evidence']): string =>
  table(
    ['KIND', 'NAME', 'WHERE', 'RANGE', 'VALUE', 'TEXT'],
    evidence.map(({ kind, name, part, start, end, value, score_bp: score, quote }) => [
      kind,
      name === null || name === '' ? '-' : name,
      part ?? '-',
      start === null ? '-' : `${start}-${end ?? start}`,
      value ?? (score === null ? '-' : String(score)),
      clipped(quote ?? ''),
    ]),
  )

const othersTable = (others: ExplanationBodyOf['others']): string =>
  table(
    ['CHECK', 'NAME', 'VERSION', 'DECISION', 'ALONE', 'SCORE'],
    others.map(({ check, name, policy_id: id, version, decision, alone, score_bp: score, threshold_bp: threshold }) => [
      check,
      name ?? id ?? '-',
      String(version ?? '-'),
      decision,
      alone,
      score === null ? '-' : `${score} / ${threshold ?? '-'}`,
    ]),
  )

function changeLine(nearest: ExplanationBodyOf['nearest'][number]): string {
  const { change, check, policy_id: policyId, threshold_bp: threshold, part, start, end, quote } = nearest
  const doubt = nearest.verified ? '' : ', unless a later part of the response is denied'
  if (change === 'without_text')
    return `without ${quote === null ? `characters ${start}-${end}` : `"${clipped(quote)}"`} in ${part}`
  if (change === 'threshold') return `with a threshold of ${threshold} in ${policyId}${affected(nearest)}${doubt}`
  return `without the ${check === 'policy' ? `policy ${policyId}` : check === null ? 'check' : checkNames[check]}${doubt}`
}

function affected({ also_affects: affects }: ExplanationBodyOf['nearest'][number]): string {
  if (affects === null) return ''
  const bound = affects.is_complete ? '' : 'at least '
  return `; of ${affects.checked} other denials in seven days, ${bound}${affects.requests} would have passed, too`
}

const maxShown = 60
const clipped = (text: string): string => (text.length > maxShown ? `${text.slice(0, maxShown - 1)}…` : text)

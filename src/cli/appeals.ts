import { apiPath, type ApiClient } from '../app/client/api-client.ts'
import { systemClock } from '../base/clock.ts'
import type { AppealBody } from '../http/admin/appeals/schema.ts'
import type { LabelBody } from '../http/admin/appeals/label-schema.ts'
import { readArguments, readTime, required } from './arguments.ts'
import { unknownSubcommand, UsageError, type Command } from './command.ts'
import { runOnServer, type Result } from './run-on-server.ts'
import { dateOf, table } from './table.ts'

const options = {
  org: { type: 'string' },
  state: { type: 'string' },
  policy: { type: 'string' },
  event: { type: 'string' },
  claim: { type: 'string' },
  should: { type: 'string' },
  by: { type: 'string' },
  note: { type: 'string' },
  outcome: { type: 'string' },
  reason: { type: 'string' },
  case: { type: 'boolean' },
  says: { type: 'string' },
  weight: { type: 'string' },
  threshold: { type: 'string' },
  rule: { type: 'string' },
  revision: { type: 'string' },
  exception: { type: 'string' },
  until: { type: 'string' },
  'exception-reason': { type: 'string' },
  texts: { type: 'boolean' },
  reveal: { type: 'boolean' },
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']
type Call = {
  readonly client: ApiClient
  readonly id: string
  readonly values: Values
  /** What resolve makes of the appeal. */
  readonly made: { readonly case: ReturnType<typeof caseOf>; readonly exception: ReturnType<typeof exceptionOf> }
}
type Verb = (call: Call) => Promise<Result>

const path = '/v1/organization/appeals'

export const appeals: Command = {
  summary: 'List, label and close appeals against decisions',
  isRemote: true,
  usage: `gatehouse appeals list [--state STATE] [--policy ID] [--org ID] [--json]
gatehouse appeals show ID [--texts] [--reveal] [--org ID] [--json]
gatehouse appeals labels [--policy ID] [--event EVENT] [--should match|no_match|unsure] [--by ID] [--org ID] [--json]
gatehouse appeals open --event EVENT --claim should_be_allowed|should_be_denied --note TEXT [--policy ID] [--org ID] [--json]
gatehouse appeals review ID --should match|no_match|unsure [--note TEXT] [--org ID] [--json]
gatehouse appeals resolve ID --outcome overturned|upheld|dismissed [--reason TEXT] [--case [--says TEXT] [--weight must|should]]
    [--threshold N] [--rule TEXT] [--revision N]
    [--exception user|key|project|text --until TIME [--exception-reason TEXT]] [--org ID] [--json]

An appeal says that the decision on a request was wrong. review says whether the rule should match the text; only then the decision,
the claim and the note are shown. show --reveal shows them before, and your label is then not blind. --texts also prints the text, if it
is kept; the audit log records who reads it. resolve closes the appeal as its labels say, or dismisses it: --case makes a case of
the text, --threshold (basis points) and --rule change the draft of the policy, by default at its current revision. --exception lets further
requests of the same user, key or project through, or exactly the same text, until a date such as 7d, at most 30 days ahead. open appeals a
decision, whose id is the event_id of a request. labels lists what people said, of open appeals only those that you have labelled. --org may
be left out while there is only one organization.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'list', id = ''] = positionals
    const work = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
    if (!work) throw unknownSubcommand('appeals', verb)
    if (!withoutId.has(verb)) required(id, 'The id of the appeal')
    for (const name of needed[verb] ?? []) required(values[name], `--${name}`)
    const made = { case: caseOf(values), exception: exceptionOf(values) }
    return runOnServer(context, values, ({ client }) => work({ client, id, values, made }))
  },
}

const withoutId: ReadonlySet<string> = new Set(['list', 'labels', 'open'])

/** The options without which a subcommand does not ask the server. */
const needed: Readonly<Record<string, readonly ('event' | 'claim' | 'note' | 'should' | 'outcome')[]>> = {
  open: ['event', 'claim', 'note'],
  review: ['should'],
  resolve: ['outcome'],
}

const verbs: Readonly<Record<string, Verb>> = {
  async list({ client, values: { state, policy } }) {
    const response = await client.list<AppealBody>(path, { state, policy_id: policy })
    const rows = response.data.map((appeal) => [
      appeal.id,
      appeal.needs_third ? `${appeal.state}, needs a third person` : appeal.state,
      dateOf(appeal.opened_at),
      appeal.policy?.name ?? appeal.policy?.id ?? '-',
      appeal.claim ?? '-',
      appeal.note ?? '-',
    ])
    return { json: response, text: table(['ID', 'STATE', 'OPENED', 'POLICY', 'CLAIM', 'NOTE'], rows) }
  },
  async labels({ client, values: { policy, event, should, by } }) {
    const query = { policy_id: policy, event_id: event, should, by }
    const response = await client.list<LabelBody>('/v1/organization/labels', query)
    const rows = response.data.map((label) => [
      label.id,
      label.should,
      label.blind ? 'yes' : 'no',
      label.labelled_by,
      dateOf(label.labelled_at),
      label.policy_id ?? '-',
      label.appeal_id,
    ])
    return { json: response, text: table(['ID', 'SHOULD', 'BLIND', 'BY', 'WHEN', 'POLICY', 'APPEAL'], rows) }
  },
  async show({ client, id, values: { texts, reveal } }) {
    const query = { include: texts ? 'content' : undefined, blind: reveal ? 'false' : undefined }
    return resultOf(await client.get<AppealBody>(pathOf(id), query))
  },
  async open({ client, values: { event, claim, note, policy } }) {
    const body = {
      event_id: event,
      claim,
      note,
      policy_id: policy,
    }
    return resultOf(await client.post<AppealBody>(path, body))
  },
  async review({ client, id, values: { should, note } }) {
    return resultOf(await client.post<AppealBody>(`${pathOf(id)}/review`, { should, note }))
  },
  async resolve({ client, id, values, made }) {
    const body = {
      outcome: values.outcome,
      reason: values.reason,
      ...made,
      ...(await draftOf(client, id, values)),
    }
    return resultOf(await client.post<AppealBody>(`${pathOf(id)}/resolve`, body))
  },
}

const pathOf = (id: string): string => apiPath`/v1/organization/appeals/${id}`

function caseOf({ case: isCase, says, weight }: Values) {
  if (isCase === true) return { says, weight }
  if (says !== undefined || weight !== undefined) throw new UsageError('--says and --weight need --case.')
  return undefined
}

function exceptionOf({ exception, until, 'exception-reason': reason }: Values) {
  if (exception !== undefined) {
    const expiresAtMs = readTime(required(until, '--until'), systemClock.nowMs()) ?? 0
    return { for: exception, reason, expires_at: Math.floor(expiresAtMs / 1000) }
  }
  if (until !== undefined || reason !== undefined)
    throw new UsageError('--until and --exception-reason need --exception.')
  return undefined
}

/** The change of the draft, at the revision that is given or the current one. */
async function draftOf(client: ApiClient, id: string, { threshold, rule, revision }: Values) {
  if (threshold === undefined && rule === undefined) return {}
  const draft = { match_threshold_basis_points: numberOf(threshold, '--threshold'), rule }
  const known = numberOf(revision, '--revision')
  if (known !== undefined) return { draft, revision: known }
  const { policy } = await client.get<AppealBody>(pathOf(id))
  if (policy === null) throw new Error('The decision is not about a policy, so there is no draft to change.')
  const current = await client.get<{ revision: number }>(apiPath`/v1/organization/policies/${policy.id}`)
  return { draft, revision: current.revision }
}

function numberOf(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d+$/.test(text)) throw new UsageError(`${option} must be a whole number.`)
  return Number(text)
}

function resultOf(appeal: AppealBody): Result {
  const { policy, decision, labels } = appeal
  const lines: readonly (readonly [string, string | null | undefined])[] = [
    [
      'state',
      appeal.needs_third ? `${appeal.state}; two people disagree, so a third one has to label it` : appeal.state,
    ],
    ['decision', appeal.event_id],
    ['request', appeal.request_id],
    ['opened', dateOf(appeal.opened_at)],
    ['policy', policy && `${policy.name ?? 'deleted'} (${policy.id})`],
    ['rule', policy?.rule],
    [appeal.direction, appeal.text],
    ['claim', appeal.claim],
    ['note', appeal.note],
    ['decided', decision && `${decision.decision}; effect: ${decision.effective_decision}${scoreText(decision)}`],
    ...labels.map((label) => ['label', labelText(label)] as const),
    ['closed', appeal.closed_at === null ? null : dateOf(appeal.closed_at)],
    ['reason', appeal.reason],
    ['case', appeal.case_id],
    ['draft', appeal.draft_revision === null ? null : `changed, revision ${appeal.draft_revision}`],
    ['exception', appeal.exception_id],
  ]
  const shown = lines.flatMap(([name, value]) => (value === null || value === undefined ? [] : [[name, value]]))
  const hint = appeal.blind ? ['', 'The decision is shown once you have labelled the appeal.'] : []
  return { json: appeal, text: [appeal.id, table(['', ''], shown).trim(), ...hint].join('\n') }
}

const scoreText = ({ score_bp: score, threshold_bp: threshold }: NonNullable<AppealBody['decision']>): string =>
  score === null ? '' : `; score ${score}${threshold === null ? '' : ` of ${threshold}`}`

const labelText = ({ should, blind, labelled_by: by, note }: AppealBody['labels'][number]): string =>
  `${should} by ${by}${blind ? '' : ', who had seen the decision'}${note === null ? '' : `: ${note}`}`

import { apiPath } from '../app/client/api-client.ts'
import type { RequestBody, RequestDetailBody } from '../http/admin/requests/schema.ts'
import { readArguments, readCount, readPastTime, required } from './arguments.ts'
import { unknownSubcommand, type Command, type CommandContext } from './command.ts'
import { runOnServer } from './run-on-server.ts'
import { dateOf, table } from './table.ts'

const text = { type: 'string' } as const
const texts = { type: 'string', multiple: true } as const
const options = {
  decision: texts,
  status: texts,
  model: texts,
  project: texts,
  policy: texts,
  key: texts,
  user: texts,
  reason: texts,
  error: texts,
  category: texts,
  'not-decision': texts,
  'not-status': texts,
  'not-model': texts,
  'not-project': texts,
  'not-policy': texts,
  'not-key': texts,
  'not-user': texts,
  'not-reason': texts,
  'not-error': texts,
  'not-category': texts,
  search: text,
  'min-ms': text,
  since: text,
  until: text,
  limit: text,
  org: text,
  texts: { type: 'boolean' },
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']

export const requests: Command = {
  summary: 'List requests with their decisions; show the timeline of one',
  isRemote: true,
  usage: `gatehouse requests list [--status ok|denied|error] [--decision DECISION] [--model NAME] [--project ID] [--policy ID] [--key ID] [--user ID] [--reason CODE] [--error CODE] [--category NAME] [--search TEXT] [--min-ms N] [--since TIME] [--until TIME] [--limit N] [--org ID] [--json]
gatehouse requests show ID [--texts] [--org ID] [--json]

list prints the newest requests, 20 unless --limit says otherwise; TIME is 2027-01-31, or 7d for a week ago. A filter that is
repeated allows each of its values, and --not-status, --not-model and so on leave values out. --search looks in models, users,
names of keys, projects and policies, reasons, errors and ids. show prints what
happened to a request, how long each step took, what each check decided, and where its event is in the audit log. --texts
also prints its texts, if audit.content keeps them; the audit log records who read them.
--org may be left out while there is only one organization.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'list', id] = positionals
    if (verb === 'list') return list(context, values)
    if (verb === 'show') return show(context, values, required(id, 'The id of the request'))
    throw unknownSubcommand('requests', verb)
  },
}

function list(context: CommandContext, values: Values): Promise<number> {
  const limit = readCount(values.limit, '--limit') ?? 20
  return runOnServer(context, values, async ({ client, clock }) => {
    const query = {
      order: 'desc',
      decision: values.decision,
      status: values.status,
      model: values.model,
      project_id: values.project,
      policy_id: values.policy,
      api_key_id: values.key,
      user_id: values.user,
      reason_code: values.reason,
      error: values.error,
      category: values.category,
      not_decision: values['not-decision'],
      not_status: values['not-status'],
      not_model: values['not-model'],
      not_project_id: values['not-project'],
      not_policy_id: values['not-policy'],
      not_api_key_id: values['not-key'],
      not_user_id: values['not-user'],
      not_reason_code: values['not-reason'],
      not_error: values['not-error'],
      not_category: values['not-category'],
      q: values.search,
      min_ms: values['min-ms'],
      from: readPastTime(values.since, clock.nowMs()),
      to: readPastTime(values.until, clock.nowMs()),
    }
    const response = await client.list<RequestBody>('/v1/organization/requests', query, limit)
    const rows = response.data.map((request) => [
      dateOf(request.created_at),
      request.status,
      request.decision,
      request.policy_name ?? request.error ?? request.reason_code ?? '-',
      request.model,
      String(request.latency_ms ?? '-'),
      request.id,
    ])
    return { json: response, text: table(['AT', 'STATUS', 'DECISION', 'REASON', 'MODEL', 'MS', 'ID'], rows) }
  })
}

function show(context: CommandContext, values: Values, id: string): Promise<number> {
  return runOnServer(context, values, async ({ client }) => {
    const query = { include: values.texts ? 'content' : undefined }
    const request = await client.get<RequestDetailBody>(apiPath`/v1/organization/requests/${id}`, query)
    return { json: request, text: describe(request, values) }
  })
}

function describe(request: RequestDetailBody, values: Values): string {
  const { proof } = request
  const steps = request.timeline.map(({ step, at_ms: at, ms, outcome, detail }) => [
    step,
    at.toFixed(1),
    ms.toFixed(1),
    [outcome, ...Object.values(detail ?? {})].filter((word) => word !== null).join(' '),
  ])
  const outcomes = request.outcomes.map((outcome) => [
    `${outcome.is_deciding ? '*' : ' '} ${checkNames[outcome.check]}`,
    outcome.name ?? outcome.policy_id ?? '-',
    outcome.version === null ? '-' : String(outcome.version),
    outcome.decision,
    modeOf(outcome),
    outcome.score_bp === null ? '-' : `${outcome.score_bp} / ${outcome.threshold_bp ?? '-'}`,
    foundBy(outcome),
  ])
  return [
    `${request.id}  ${dateOf(request.created_at)}  ${request.status}  ${request.decision}`,
    `model ${request.model}, project ${request.project_id ?? '-'}, key ${request.api_key_id ?? '-'}${request.error === null ? '' : `, error ${request.error}`}`,
    ...(steps.length === 0 ? [] : ['', table(['STEP', 'AT MS', 'MS', ''], steps)]),
    ...(request.classifier === null
      ? []
      : ['', `classifier ${request.classifier.id}, decided by: ${request.classifier.stage}`]),
    ...(outcomes.length === 0
      ? []
      : ['', table(['  CHECK', 'NAME', 'VERSION', 'DECISION', 'MODE', 'SCORE', 'FOUND'], outcomes), '* decided']),
    ...(values.texts ? ['', ...textLines(request)] : []),
    '',
    `event ${request.event_id}, sequence ${proof.sequence}, ${proof.checkpoint === null ? 'not signed yet' : `signed up to ${proof.checkpoint.sequence} by ${proof.checkpoint.key_id}`}`,
  ].join('\n')
}

type Outcome = RequestDetailBody['outcomes'][number]

function modeOf({ is_enforced: isEnforced, exception_id: exceptionId }: Outcome): string {
  if (exceptionId !== null) return exceptionId
  return isEnforced === null ? '-' : isEnforced ? 'enforced' : 'monitoring'
}

const checkNames: Readonly<Record<Outcome['check'], string>> = {
  always_blocked: 'always blocked categories',
  requested: 'requested categories',
  gateway: 'gateway configuration',
  prompt_injection: 'prompt injection',
  policy: 'policy',
}

/** What the check acted on, as far as the log has it. */
function foundBy(outcome: Outcome): string {
  const found = [
    ...outcome.categories,
    ...outcome.places.map((place) => `in ${place}`),
    ...outcome.terms.map((term) => `"${term}"`),
    ...outcome.personal_data.map(({ kind, count }) => `${count} ${kind}`),
    ...(outcome.has_no_allowed_term ? ['no allowed term'] : []),
  ]
  return found.length === 0 ? '-' : found.join(', ')
}

function textLines({ content }: RequestDetailBody): readonly string[] {
  if (content === null) return ['The texts of this request are not kept.']
  const { prompt, response, level } = content
  const { text: whole, withheld_from: withheldFrom } = response
  const sent = whole.slice(0, withheldFrom ?? undefined)
  return [
    `PROMPT (${level})`,
    prompt.text,
    ...(sent === '' ? [] : ['', 'RESPONSE', sent]),
    ...(withheldFrom === null ? [] : ['', 'RESPONSE, NOT SENT', whole.slice(withheldFrom)]),
  ]
}

import { apiPath } from '../../app/client/api-client.ts'
import { systemClock } from '../../base/clock.ts'
import type { ExceptionBody } from '../../http/admin/policies/exception-schema.ts'
import { readList, readTime, required } from '../arguments.ts'
import { UsageError } from '../command.ts'
import type { Result } from '../run-on-server.ts'
import { dateOf, table } from '../table.ts'
import type { PolicyCall, Verb } from './call.ts'

const pathOf = (policyId: string): string => apiPath`/v1/organization/policies/${policyId}/exceptions`

/** `gatehouse policies exceptions list|add|end`. */
export const exceptions: Verb = async (call) => {
  const verb = call.id === '' ? 'list' : call.id
  const [policyId = '', id = ''] = call.rest
  if (verb === 'list') return list(call, policyId)
  if (verb !== 'add' && verb !== 'end')
    throw new UsageError(`gatehouse policies exceptions has no subcommand ${verb}. Use list, add or end.`)
  required(policyId, 'The id of the policy')
  return verb === 'add' ? add(call, policyId) : end(call, policyId, required(id, 'The id of the exception'))
}

/** Those of one policy, also ended ones; without a policy the live ones of all. */
async function list({ connection: { client } }: PolicyCall, policyId: string): Promise<Result> {
  const response =
    policyId === ''
      ? await client.get<{ readonly data: readonly ExceptionBody[] }>('/v1/organization/exceptions')
      : await client.list<ExceptionBody>(pathOf(policyId))
  const rows = response.data.map((each) => [
    each.id,
    each.policy_id,
    subjectOf(each),
    each.state,
    dateOf(each.ended_at ?? each.expires_at),
    each.owner,
    each.reason,
  ])
  return { json: response, text: table(['ID', 'POLICY', 'FOR', 'STATE', 'UNTIL', 'OWNER', 'REASON'], rows) }
}

async function add({ connection: { client }, values }: PolicyCall, policyId: string): Promise<Result> {
  const until = readTime(required(values.until, '--until'), systemClock.nowMs())
  const body = {
    for: subjectIn(values),
    reason: required(values.reason, '--reason'),
    ...(values.owner !== undefined && { owner: values.owner }),
    expires_at: Math.floor((until ?? 0) / 1000),
  }
  const made = await client.post<ExceptionBody>(pathOf(policyId), body)
  return {
    json: made,
    text: `${made.id}: ${policyId} is not enforced for ${subjectOf(made)} until ${dateOf(made.expires_at)}.`,
  }
}

async function end({ connection: { client } }: PolicyCall, policyId: string, id: string): Promise<Result> {
  const path = `${pathOf(policyId)}/${encodeURIComponent(id)}`
  const { body } = await client.request<ExceptionBody>('DELETE', path)
  return { json: body, text: `${id} has ended. ${policyId} is enforced for ${subjectOf(body)} again.` }
}

/** Exactly one option says what the exception covers. */
function subjectIn({
  project,
  user,
  key,
  text,
  digests,
  event,
}: PolicyCall['values']): Readonly<Record<string, unknown>> {
  const given = Object.entries({
    project_id: project,
    user,
    key_id: key,
    text,
    text_digests: readList(digests),
    event_id: event,
  }).filter(([, value]) => value !== undefined)
  if (given.length === 1) return Object.fromEntries(given)
  throw new UsageError(
    'Name what the exception is for: one of --project, --user, --key, --text, --digests and --event.',
  )
}

function subjectOf({
  for: { project_id: project, user, key_id: key, text_digests: digests = [] },
}: ExceptionBody): string {
  if (user !== undefined) return `user ${user}`
  const [first = ''] = digests
  return project ?? key ?? `text ${first.slice(0, 19)}…${digests.length > 1 ? ` and ${digests.length - 1} more` : ''}`
}

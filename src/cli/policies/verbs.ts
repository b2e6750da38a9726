import type { PolicyBody, PolicySummaryBody, PolicyVersionBody } from '../../http/admin/policies/schema.ts'
import { required } from '../arguments.ts'
import type { Result } from '../run-on-server.ts'
import type { PolicyCall, Verb } from './call.ts'
import { changePolicy, policyPath, readPolicy, revisionOf, type ChangedPolicy } from './change.ts'
import { contentDifferences, contentLines, policyDiffLines } from './diff.ts'
import { fieldsOf, wholeNumber } from './fields.ts'
import { publishDraft } from './gate.ts'
import type { RolloutBody } from '../../http/admin/policies/rollout-routes.ts'
import { dateOf, table, tableWithOwners } from '../table.ts'

export const policiesPath = '/v1/organization/policies'

/** The subcommands for one policy, and the list. */
export const verbs: Readonly<Record<string, Verb>> = {
  async list({ connection: { client } }) {
    const response = await client.list<PolicySummaryBody>(policiesPath)
    const rows = response.data.map((policy) => ({
      managed_by: policy.managed_by,
      cells: [
        policy.id,
        policy.name,
        policy.state,
        String(policy.revision),
        String(policy.current_version ?? '-'),
        policy.has_unpublished_changes ? 'yes' : 'no',
      ],
    }))
    const head = ['ID', 'NAME', 'STATE', 'REVISION', 'VERSION', 'UNPUBLISHED']
    return { json: response, text: tableWithOwners(head, rows) }
  },
  show: async (call) => resultOf(await readPolicy(call.connection.client, call.id)),
  async create({ connection: { client }, values }) {
    required(values.name, '--name')
    return resultOf(await client.post<PolicyBody>(policiesPath, fieldsOf(values)))
  },
  async update(call) {
    const body = { ...fieldsOf(call.values), revision: await revisionOf(call) }
    return resultOf((await changePolicy(call.connection.client, { method: 'PATCH', id: call.id, body })).policy)
  },
  async publish(call) {
    const { connection, id, values, context } = call
    const { reason, override, 'gate-run': gateRun } = values
    const rolloutPercent = percentOf(call)
    const publication = { id, revision: await revisionOf(call), reason, override, gateRun, rolloutPercent }
    return publishedResult(await publishDraft(connection.client, publication, { progress: context.progress }))
  },
  /** With --percent it changes the share, otherwise it compares both sides. */
  async rollout(call) {
    const percent = percentOf(call)
    if (percent !== undefined) return resultOf((await actOn(call, 'rollout', { percent })).policy)
    return rolloutResult(await call.connection.client.get<RolloutBody>(`${policyPath(call.id)}/rollout`))
  },
  pause: async (call) => resultOf((await actOn(call, 'pause')).policy),
  resume: async (call) => publishedResult(await actOn(call, 'resume')),
  discard: async (call) => resultOf((await actOn(call, 'discard_draft')).policy),
  async rollback(call) {
    const version = wholeNumber(required(call.values.version, '--version'), '--version')
    return publishedResult(await actOn(call, 'rollback', { version, ...reasonOf(call) }))
  },
  async delete(call) {
    const { id, name } = await readPolicy(call.connection.client, call.id)
    const query = { revision: await revisionOf(call) }
    const { body: response } = await call.connection.client.request('DELETE', policyPath(id), { query })
    return { json: response, text: `${id} ${name} is deleted.` }
  },
  async diff(call) {
    const { draft, published } = await readPolicy(call.connection.client, call.id)
    const { version: number } = call.values
    const version = number === undefined ? published : await readVersion(call, wholeNumber(number, '--version'))
    if (version === null) return { json: [], text: 'No version is published yet.' }
    const differences = contentDifferences(version, draft)
    const title = `version ${version.version} and the draft`
    return {
      json: differences,
      text:
        differences.length === 0 ? `No difference between ${title}.` : differences.flatMap(policyDiffLines).join('\n'),
    }
  },
}

const percentOf = ({ values: { percent } }: PolicyCall): number | undefined =>
  percent === undefined ? undefined : wholeNumber(percent, '--percent')

function rolloutResult(rollout: RolloutBody): Result {
  const { percent, arms, steps, matches_7d: matches } = rollout
  const rows = arms.map(
    ({ side, callers, denied_callers: denied, low_bp: low, bound_bp: high, requests, matches: matched }) => [
      side,
      String(callers),
      String(denied),
      `${low / 100} % - ${high / 100} %`,
      String(requests),
      String(matched),
    ],
  )
  return {
    json: rollout,
    text: [
      `enforced for ${percent} % of users; the last hour:`,
      '',
      table(['SIDE', 'CALLERS', 'MATCHED', 'SHARE', 'REQUESTS', 'MATCHES'], rows),
      ...(rollout.denies_more ? ['', 'More callers are denied than the other side matches, by more than chance.'] : []),
      ...(steps.length === 0
        ? []
        : ['', `By ${matches} recorded matches of 7 days, a higher share would have denied more:`]),
      ...steps.map(({ percent: step, added_denials: added }) => `${step} %: ${added}`),
    ].join('\n'),
  }
}

const reasonOf = ({ values: { reason } }: PolicyCall) => (reason === undefined ? {} : { reason })

async function readVersion({ connection: { client }, id }: PolicyCall, number: number): Promise<PolicyVersionBody> {
  const { data } = await client.list<PolicyVersionBody>(`${policyPath(id)}/versions`)
  const version = data.find((each) => each.version === number)
  if (version) return version
  throw new Error(`The policy ${id} has no version ${number}.`)
}

async function actOn(call: PolicyCall, action: string, more: object = {}): Promise<ChangedPolicy> {
  const body = { ...more, revision: await revisionOf(call) }
  return changePolicy(call.connection.client, { method: 'POST', id: call.id, action, body })
}

function resultOf(policy: PolicyBody): Result {
  const { draft, published } = policy
  const unpublished = published === null ? [] : contentDifferences(published, draft).flatMap(policyDiffLines)
  const lines = [
    `${policy.id}  ${policy.name}`,
    ...(policy.description === '' ? [] : [policy.description]),
    `${policy.state}${policy.rollout_percent === 100 ? '' : ` for ${policy.rollout_percent} % of users`}, revision ${policy.revision}, version ${policy.current_version ?? 'none'}, changed ${dateOf(policy.updated_at)}`,
    '',
    ...contentLines(draft),
    ...(unpublished.length === 0 ? [] : ['', 'Not published yet:', ...unpublished]),
  ]
  return { json: policy, text: lines.join('\n') }
}

const publishedResult = ({ policy, isEvaluable }: ChangedPolicy): Result => ({
  ...resultOf(policy),
  ...(isEvaluable ? {} : { warnings: [notEvaluable(policy.name)] }),
})

export const notEvaluable = (name: string): string =>
  `${name}: this rule cannot be evaluated yet. It names no quoted phrase, moderation category, kind of personal data or prompt injection, and no judge is configured: requests are logged as not evaluated and never blocked.`

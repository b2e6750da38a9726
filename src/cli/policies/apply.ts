import { messageOf } from '../../base/fault.ts'
import { apiPath, type ApiClient } from '../../app/client/api-client.ts'
import type { PolicyBody, PolicySummaryBody } from '../../http/admin/policies/schema.ts'
import { required } from '../arguments.ts'
import type { Result } from '../run-on-server.ts'
import type { PolicyCall } from './call.ts'
import { readPolicyFile, type PolicyFileEntry } from './file.ts'
import { isIdle, planLines, planStep, type PlanStep } from './plan.ts'
import { changePolicy, notEvaluable, policiesPath } from './verbs.ts'

/** Creates and updates the policies of a file, after showing the plan and a confirmation. */
export async function apply(call: PolicyCall): Promise<Result> {
  const { values, context } = call
  const steps = await planFile(call, required(values.file, '-f FILE'))
  const plan = planLines(steps).join('\n')
  if (values.plan || steps.every(isIdle)) return { json: steps, text: plan }
  if (!values.yes) {
    context.printError(plan)
    if (!(await context.confirm('Apply this plan?')))
      return { json: steps, text: 'Nothing was changed. Confirm with --yes.', isFailed: true }
  }
  const done = await applySteps(call.connection.client, steps)
  return { json: done, text: [plan, 'Done.'].join('\n'), warnings: done.flatMap(({ warning }) => warning ?? []) }
}

/** Compares the file with the stored policies. Every mistake in the file is reported here, before any change. */
async function planFile({ connection: { client } }: PolicyCall, file: string): Promise<PlanStep[]> {
  const { data: stored } = await client.list<PolicySummaryBody>(policiesPath)
  const steps: PlanStep[] = []
  for (const entry of readPolicyFile(file)) {
    const path = '/v1/organization/policies/preview'
    const target = await client.post<PolicyBody>(path, entry.policy).catch((error: unknown) => {
      throw new Error(`${file}: ${entry.name}: ${messageOf(error)}`, { cause: error })
    })
    const match = matchOf(entry, stored)
    const current = match && (await client.get<PolicyBody>(apiPath`/v1/organization/policies/${match.id}`))
    steps.push(planStep(entry, target, current))
  }
  return steps
}

function matchOf({ id, name }: PolicyFileEntry, stored: readonly PolicySummaryBody[]): PolicySummaryBody | undefined {
  const matches = stored.filter((policy) => (id === undefined ? policy.name === name : policy.id === id))
  if (id !== undefined && matches.length === 0) throw new Error(`${name}: there is no policy ${id}.`)
  if (matches.length <= 1) return matches[0]
  throw new Error(`${name}: ${matches.length} policies have this name; name one with id.`)
}

export type AppliedPolicy = {
  readonly id: string
  readonly name: string
  readonly revision: number
  readonly warning?: string
}

/** Applies one policy after the other, each at the revision of the plan: a change since then stops it. */
async function applySteps(client: ApiClient, steps: readonly PlanStep[]): Promise<AppliedPolicy[]> {
  const done: AppliedPolicy[] = []
  for (const step of steps.filter((each) => !isIdle(each))) {
    try {
      done.push(await applyStep(client, step))
    } catch (error) {
      const before =
        done.length === 0 ? 'nothing was changed' : `done before: ${done.map(({ name }) => name).join(', ')}`
      throw new Error(`${step.name}: ${messageOf(error)} (${before})`, {
        cause: error,
      })
    }
  }
  return done
}

/** Creates, updates and publishes one policy, at the revision of the plan. */
export async function applyStep(client: ApiClient, step: PlanStep): Promise<AppliedPolicy> {
  const { name, id = '', revision = 0, body } = step
  const written =
    step.action === 'create'
      ? await client.post<PolicyBody>(policiesPath, body)
      : step.action === 'update'
        ? (await changePolicy(client, { method: 'PATCH', id, body: { ...body, revision } })).policy
        : { id, revision }
  if (!step.publish) return { id: written.id, name, revision: written.revision }
  const { policy, isEvaluable } = await changePolicy(client, {
    method: 'POST',
    id: written.id,
    action: 'publish',
    body: { revision: written.revision },
  })
  return { id: policy.id, name, revision: policy.revision, ...(isEvaluable ? {} : { warning: notEvaluable(name) }) }
}

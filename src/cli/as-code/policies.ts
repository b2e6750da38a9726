import { ApiError, type ApiClient } from '../../app/client/api-client.ts'
import type { PolicyBody } from '../../http/admin/policies/schema.ts'
import { caseProblems } from '../../app/client/file-cases.ts'
import { problemAt } from '../../app/client/file-problems.ts'
import type { PolicyResourceEntry } from '../../app/client/resource-files.ts'
import { leafDiffLines } from '../leaf-diff.ts'
import { policyDiffLines, type FieldDifference } from '../policies/diff.ts'
import { changePolicy } from '../policies/change.ts'
import { publishDraft } from '../policies/gate.ts'
import { notEvaluable, policiesPath } from '../policies/verbs.ts'
import { planCases, type PlannedCases } from './cases.ts'
import type { Located } from './files.ts'
import { isIdle as isUnchanged, planStep, type PlanStep } from './policy-plan.ts'
import { planPolicyGate, type PlannedGate } from './publish-gate.ts'
import type { PlannedProject, PlannedProjects } from './projects.ts'
import { isActiveProject, readPolicy } from './state.ts'
import { matchOf, ownerDifference, reportDuplicates, type Planning, type Step } from './step.ts'

export async function planPolicies(planning: Planning, projects: PlannedProjects): Promise<Step[]> {
  const entries = planning.resources.policies
  const planned: { entry: Located<unknown>; step: Step }[] = []
  for (const entry of entries)
    for (const step of await planPolicy(planning, entry, projects)) planned.push({ entry, step })
  reportDuplicates(
    planning,
    planned.map(({ entry, step: { id, name } }) => ({ entry, id, name: [name] })),
  )
  const steps = planned.map(({ step }) => step)
  // Names are unique, so a new policy can have the name of an existing one only after that one was renamed.
  const isNew = ({ action }: Step): boolean => action === 'create'
  return [...steps.filter((step) => !isNew(step)), ...steps.filter(isNew)]
}

async function planPolicy(
  planning: Planning,
  entry: Located<PolicyResourceEntry>,
  projects: PlannedProjects,
): Promise<Step[]> {
  const {
    id: _id,
    cases: _cases,
    publish_gate: settings,
    rollout_percent: rolloutPercent,
    name,
    publish = true,
    projects: references,
    ...policy
  } = entry.value
  if (references && policy.project_ids)
    planning.report(entry, { path: ['project_ids'], message: 'write either projects or project_ids' })
  for (const problem of caseProblems(entry.value.cases ?? [])) planning.report(entry, problem)
  const scope = references && scopeOf(entry, projects)
  const stored = planning.state.policies
  const match = matchOf(planning, entry, {
    kind: 'policy',
    all: stored,
    entries: planning.resources.policies,
    named: (candidates) => candidates.filter((each) => each.name === name),
  })
  const current = match && (await readPolicy(planning.client, match.id))
  const given = scope ? existingIds(scope, planning.state) : policy.project_ids
  const target = await checked(planning, entry, {
    ...policy,
    name,
    ...(given && { project_ids: withoutKeptArchived(given, current, planning.state) }),
  })
  if (!target) return []
  const projectIds = scope ? scope.map(idOrName) : (policy.project_ids ?? target.draft.project_ids)
  const body = { name, ...policy, ...(scope && { project_ids: projectIds }) }
  const plan = planStep(
    { name, publish, policy: body },
    { ...target, draft: { ...target.draft, project_ids: projectIds } },
    current,
  )
  const cases = await planCases(planning.client, entry.value, current?.id)
  const gate = await planPolicyGate(planning.client, settings, current?.id)
  const rollout = planRollout(rolloutPercent, current, plan)
  if (rolloutPercent !== undefined && target.draft.mode !== 'enforcing')
    planning.report(entry, { path: ['rollout_percent'], message: 'rollout_percent needs the mode enforcing' })
  const beside = [...cases.differences, ...gate.differences, ...rollout]
  const created = Object.entries(body).map(([field, after]) => ({ field, before: undefined, after }))
  const others = (plan.action === 'create' ? created : plan.differences).map((each) => shown(each, projects))
  const isKept = isUnchanged(plan) && beside.length === 0
  // A publication alone has no difference, but is a change.
  const publication = plan.publish ? [{ field: 'publish', before: false, after: true }] : []
  const owner = ownerDifference(planning, entry, {
    current,
    others: [...others, ...beside, ...publication],
  })
  const differences = [...others, ...owner]
  const action = plan.action === 'keep' && owner.length > 0 ? 'update' : plan.action
  const verb = action === 'keep' && beside.length > 0 ? 'update' : action
  const words = [...(verb === 'keep' ? [] : [verb]), ...(plan.publish ? ['publish'] : [])]
  return [
    {
      kind: 'policy',
      name,
      id: current?.id,
      action: isKept && owner.length === 0 ? 'keep' : action === 'create' ? 'create' : 'update',
      verb: words.join(' and '),
      differences: [...differences, ...beside],
      lines: [
        ...(plan.action === 'create' ? leafDiffLines(differences) : differences.flatMap(policyDiffLines)),
        ...cases.lines,
        ...leafDiffLines([...gate.differences, ...rollout]),
      ],
      run: async (client) => {
        const { project_ids: _, ...fields } = plan.body
        const changesScope = scope && 'project_ids' in plan.body
        const sent = changesScope ? { ...fields, project_ids: scope.flatMap(({ id: each }) => each ?? []) } : plan.body
        const applied = { ...plan, action, body: { ...(action === 'update' && { name }), ...sent } }
        const isRolledOut = rollout.length > 0
        const besides = { cases, gate, override: planning.gateOverride, rolloutPercent, isRolledOut }
        const done = await applyPlan(client, applied, besides)
        return { id: done.id, warnings: done.warning === undefined ? [] : [done.warning] }
      },
    },
  ]
}

type AppliedPolicy = { readonly id: string; readonly warning?: string }

type Besides = {
  readonly cases: PlannedCases
  readonly gate: PlannedGate
  readonly override: string | undefined
  readonly rolloutPercent: number | undefined
  /** Whether the percent differs from the present one. */
  readonly isRolledOut: boolean
}

/** A publication sets the percent, too. */
function planRollout(
  percent: number | undefined,
  current: PolicyBody | undefined,
  { publish }: PlanStep,
): readonly FieldDifference[] {
  const before = current?.rollout_percent ?? 100
  if (percent === undefined || percent === before) return []
  return current === undefined || publish || current.published !== null
    ? [{ field: 'rollout_percent', before, after: percent }]
    : []
}

/** Creates, updates and publishes one policy, at the revision of the plan. Its cases and gate are there before it is published. */
async function applyPlan(
  client: ApiClient,
  step: PlanStep,
  { cases, gate, override, rolloutPercent, isRolledOut }: Besides,
): Promise<AppliedPolicy> {
  const { name, id = '', revision = 0, body } = step
  const written =
    step.action === 'create'
      ? await client.post<PolicyBody>(policiesPath, body)
      : step.action === 'update'
        ? (await changePolicy(client, { method: 'PATCH', id, body: { ...body, revision } })).policy
        : { id, revision }
  await cases.apply(client, written.id)
  await gate.apply(client, written.id)
  if (!step.publish) {
    const change = { revision: written.revision, percent: rolloutPercent }
    if (isRolledOut) await changePolicy(client, { method: 'POST', id: written.id, action: 'rollout', body: change })
    return { id: written.id }
  }
  const publication = { id: written.id, revision: written.revision, override, rolloutPercent }
  const { policy, isEvaluable } = await publishDraft(client, publication)
  return { id: policy.id, ...(isEvaluable ? {} : { warning: notEvaluable(name) }) }
}

function scopeOf(entry: Located<PolicyResourceEntry>, projects: PlannedProjects): PlannedProject[] {
  return (entry.value.projects ?? []).flatMap(
    (project, at) => projects.find(entry, { path: ['projects', at], field: `projects[${at}]`, project }) ?? [],
  )
}

/** The ids of the projects that exist, without those that the files unarchive. When the step runs, all of them exist and are active. */
function existingIds(scope: readonly PlannedProject[], state: Planning['state']): string[] {
  const archived = archivedIn(state)
  return scope.flatMap(({ id, isArchived }) => (id === undefined || (archived.has(id) && !isArchived) ? [] : [id]))
}

/** A policy may keep a project that was archived after it was added. The check of a new policy would reject it. */
function withoutKeptArchived(
  ids: readonly string[],
  current: PolicyBody | undefined,
  state: Planning['state'],
): string[] {
  const archived = archivedIn(state)
  const kept = new Set(current?.draft.project_ids)
  return ids.filter((id) => !archived.has(id) || !kept.has(id))
}

const archivedIn = ({ projects }: Planning['state']): ReadonlySet<string> =>
  new Set(projects.filter((project) => !isActiveProject(project)).map(({ id }) => id))

const idOrName = ({ id, name }: PlannedProject): string => id ?? name

/** Projects are shown by their names. */
const shown = ({ field, before, after }: FieldDifference, { nameOf }: PlannedProjects): FieldDifference => {
  if (field !== 'project_ids') return { field, before, after }
  const names = (ids: unknown): unknown =>
    Array.isArray(ids) ? ids.map((id: unknown) => nameOf(String(id)) ?? id) : ids
  return { field: 'projects', before: names(before), after: names(after) }
}

/** The policy with all defaults; undefined if the service would reject it. */
async function checked(
  { client, report }: Planning,
  entry: Located<PolicyResourceEntry>,
  policy: object,
): Promise<PolicyBody | undefined> {
  try {
    return await client.post<PolicyBody>('/v1/organization/policies/preview', policy)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    report(entry, problemAt(error.param ?? '', error.message))
    return undefined
  }
}

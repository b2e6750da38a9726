import { apiPath } from '../../app/client/api-client.ts'
import { budgetProblems, type BudgetFileEntry } from '../../app/client/budget-entry.ts'
import type { BudgetBody } from '../../http/admin/budgets/schema.ts'
import { budgetsPath } from '../budgets.ts'
import { leafDifferences } from '../leaf-diff.ts'
import type { Located } from './files.ts'
import type { PlannedProjects } from './projects.ts'
import { actionOf, asSet, matchOf, ownerDifference, reportDuplicates, type Planning, type Step } from './step.ts'

/** Budgets by name. */
export function planBudgets(planning: Planning, projects: PlannedProjects): Step[] {
  const { budgets } = planning.resources
  const [first] = budgets
  if (first && planning.state.budgetsProblem !== undefined)
    planning.report(first, { path: [], message: planning.state.budgetsProblem })
  const planned = budgets.map((entry) => ({ entry, step: planBudget(planning, entry, projects) }))
  reportDuplicates(
    planning,
    planned.map(({ entry, step: { id, name } }) => ({ entry, id, name: [name] })),
  )
  return planned.map(({ step }) => step)
}

function planBudget(planning: Planning, entry: Located<BudgetFileEntry>, projects: PlannedProjects): Step {
  const { name, match = {} } = entry.value
  const current = matchOf(planning, entry, {
    kind: 'budget',
    all: planning.state.budgets,
    entries: planning.resources.budgets,
    named: (candidates) => candidates.filter((each) => each.name === name),
  })
  for (const problem of budgetProblems(entry.value)) planning.report(entry, problem)
  const meant = (match.projects ?? []).map((project, at) =>
    projects.find(entry, { path: ['match', 'projects', at], field: 'match.projects', project }),
  )
  const settings = completedBudget(entry.value)
  const wantedProjects = asSet(meant.flatMap((project) => project?.id ?? project?.name ?? []))
  const after = { ...settings, match: { projects: wantedProjects, ...settings.match } }
  const before = current && budgetSettings(current)
  const others = leafDifferences(
    before ? { ...before, match: { projects: asSet(current.match.project_ids), ...before.match } } : {},
    after,
  )
  const differences = [...others, ...ownerDifference(planning, entry, { current, others })]
  const run: Step['run'] = async (client) => {
    const ids = asSet(meant.flatMap((project) => project?.id ?? []))
    const body = { ...settings, match: { project_ids: ids, ...settings.match } }
    if (!current) return client.post<BudgetBody>(budgetsPath, body)
    const path = apiPath`/v1/organization/budgets/${current.id}`
    await client.request('PATCH', path, { body: { revision: current.revision, ...body } })
    return { id: current.id }
  }
  return { kind: 'budget', name, id: current?.id, action: actionOf(current, differences), differences, run }
}

type BudgetSettings = Omit<
  BudgetBody,
  'id' | 'object' | 'match' | 'extra' | 'revision' | 'created_at' | 'updated_at'
> & {
  readonly match: Omit<BudgetBody['match'], 'project_ids'>
}

/** The entry with the defaults of the service, without its projects. */
function completedBudget({ match = {}, ...entry }: Omit<BudgetFileEntry, 'id'>): BudgetSettings {
  return {
    name: entry.name,
    match: {
      api_key_ids: asSet(match.api_key_ids ?? []),
      models: asSet(match.models ?? []),
      users: asSet(match.users ?? []),
      tags: match.tags ?? {},
    },
    per: entry.per ?? 'all',
    amount_usd: entry.amount_usd ?? null,
    tokens: entry.tokens ?? null,
    requests: entry.requests ?? null,
    period: entry.period,
    time_zone: entry.time_zone ?? 'UTC',
    action: entry.action ?? 'deny',
    warn_at: [...new Set(entry.warn_at ?? [50, 80, 95])].toSorted((a, b) => a - b),
    state: entry.state ?? 'active',
  }
}

const budgetSettings = ({ match: { project_ids: _, ...match }, ...budget }: BudgetBody): BudgetSettings =>
  completedBudget({ ...budget, match })

/** For an export. Fields with their default are left out. */
export function exportedBudget(budget: BudgetBody, projectReference: (id: string) => string): BudgetFileEntry {
  const { name, period, match, ...settings } = budgetSettings(budget)
  const { match: _, ...defaults } = completedBudget({ name, period })
  const conditions = {
    projects: budget.match.project_ids.map(projectReference),
    ...match,
  }
  const given = Object.entries(conditions).filter(([, value]) => Object.keys(value).length > 0)
  return {
    name,
    period,
    ...changedFrom(defaults, settings),
    ...(given.length > 0 && { match: Object.fromEntries(given) }),
  }
}

const changedFrom = (defaults: object, settings: object): object => {
  const before = new Map(Object.entries(defaults))
  const isChanged = ([field, value]: [string, unknown]): boolean =>
    JSON.stringify(value) !== JSON.stringify(before.get(field))
  return Object.fromEntries(Object.entries(settings).filter(isChanged))
}

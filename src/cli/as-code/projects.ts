import { apiPath } from '../../app/client/api-client.ts'
import type { ProjectBody } from '../../http/admin/projects/schema.ts'
import type { FileProblem } from '../../app/client/file-problems.ts'
import type { ProjectFileEntry } from '../../app/client/resource-files.ts'
import { leafDifferences } from '../leaf-diff.ts'
import type { Located } from './files.ts'
import { isActiveProject, preferred, projectsPath } from './state.ts'
import {
  actionOf,
  hasChanged,
  matchOf,
  ownerDifference,
  reportDuplicates,
  setLimits,
  type Planning,
  type Step,
} from './step.ts'

/** A project that other resources refer to. Its id is known once it exists. */
export type PlannedProject = { readonly name: string; id: string | undefined; readonly isArchived: boolean }

export type PlannedProjects = {
  readonly steps: readonly Step[]
  /** The project that a name or an id in an entry means, in the files first. Reports one that is missing or ambiguous. */
  find(entry: Located<unknown>, reference: Reference): PlannedProject | undefined
  nameOf(id: string): string | undefined
}

type Reference = { readonly path: FileProblem['path']; readonly field: string; readonly project: string }

export function planProjects(planning: Planning): PlannedProjects {
  const { resources, state } = planning
  const planned = resources.projects.map((entry) => ({ entry, ...planProject(planning, entry) }))
  reportDuplicates(
    planning,
    planned.map(({ entry, project: { id, name } }) => ({ entry, id, name: [name] })),
  )
  const existing = new Map(state.projects.map((project) => [project.id, asPlanned(project)]))
  for (const { project } of planned) if (project.id !== undefined) existing.set(project.id, project)
  return {
    steps: planned.map(({ step }) => step),
    find(entry, { path, field, project: reference }) {
      const described = planned.map(({ project }) => project).filter(({ name }) => name === reference)
      const withId = existing.get(reference)
      const named = namedProjects(state.projects, reference).flatMap(({ id }) => existing.get(id) ?? [])
      const meant = described.length > 0 ? described : withId ? [withId] : named
      if (meant.length === 1) return meant[0]
      const message =
        meant.length === 0
          ? `there is no project ${reference}, neither in the files nor in the organization`
          : `${meant.length} projects have the name ${reference} (${meant.map(({ id }) => id ?? 'new').join(', ')}); use an id`
      planning.report(entry, { path, message: `${field}: ${message}` })
      return undefined
    },
    nameOf: (id) => existing.get(id)?.name,
  }
}

const asPlanned = (project: ProjectBody): PlannedProject => ({
  name: project.name,
  id: project.id,
  isArchived: !isActiveProject(project),
})

/** The projects that a name means. */
export const namedProjects = (projects: readonly ProjectBody[], name: string): readonly ProjectBody[] =>
  preferred(
    projects.filter((project) => project.name === name),
    isActiveProject,
  )

function planProject(planning: Planning, entry: Located<ProjectFileEntry>): { step: Step; project: PlannedProject } {
  const { projects, limitsOf } = planning.state
  const { name, limits = {} } = entry.value
  const current = matchOf(planning, entry, {
    kind: 'project',
    all: projects,
    entries: planning.resources.projects,
    named: (candidates) => namedProjects(candidates, name),
  })
  const before = current && { name: current.name, status: current.status, limits: limitsOf(current.id) ?? {} }
  const others = leafDifferences(before ?? {}, { name, ...(current && { status: 'active' }), limits })
  const differences = [...others, ...ownerDifference(planning, entry, { current, others })]
  const project: PlannedProject = { name, id: current?.id, isArchived: false }
  const action = actionOf(current, differences)
  const run: Step['run'] = async (client) => {
    const { id } = current ?? (await client.post<ProjectBody>(projectsPath, { name }))
    project.id = id
    if (current?.status === 'archived') await client.post(apiPath`/v1/organization/projects/${id}/unarchive`)
    if (current && (hasChanged({ differences }, 'name') || hasChanged({ differences }, 'managed_by')))
      await client.request('PATCH', apiPath`/v1/organization/projects/${id}`, { body: { name } })
    if (hasChanged({ differences }, 'limits')) await setLimits(client, { project_id: id }, limits)
    return { id }
  }
  return { step: { kind: 'project', name, id: current?.id, action, differences, run }, project }
}

/** The limits of the organization. A file without `organization` leaves them as they are. */
export function planOrganization({ resources, state }: Planning): Step[] {
  if (!resources.organization) return []
  const { limits = {} } = resources.organization.value
  const differences = leafDifferences({ limits: state.organizationLimits ?? {} }, { limits })
  const run: Step['run'] = async (client) => {
    await setLimits(client, {}, limits)
    return { id: '' }
  }
  return [{ kind: 'organization', name: '', action: actionOf(state, differences), differences, run }]
}

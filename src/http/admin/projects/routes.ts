import { findProject, type AuditedDirectory } from '../../../domain/identity/audited-directory.ts'
import type { Route } from '../../route.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { contentTag } from '../../resources/entity-tag.ts'
import { none } from '../../resources/fields.ts'
import type { ManagedResource } from '../../resources/managed-by.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import type { AdminRoutes } from '../routes.ts'
import * as Schema from './schema.ts'
import type { ProjectObject } from './schema.ts'
import type { Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import type { Project } from '../../../domain/identity/principal.ts'
import type { DirectoryStore } from '../../../domain/identity/store.ts'

const projectsPath = '/v1/organization/projects'
const projectPath = `${projectsPath}/{project_id}`

const answer = { description: 'The project.', schema: Schema.ProjectObject }

/** `/v1/organization/projects`. */
export function projectRoutes(
  { read, mutation }: AdminRoutes<{ readonly directory: DirectoryStore }>,
  directory: AuditedDirectory,
): Route[] {
  return [
    read({
      name: 'listProjects',
      isManaged: true,
      path: projectsPath,
      summary: 'List projects',
      permission: 'projects:read',
      params: none,
      query: Schema.ProjectQuery,
      answer: { description: 'A page of projects, including archived ones.', schema: Schema.ProjectList },
      operation: async ({ directory: store }, { actor, query }) =>
        presentList(
          await store.listProjects(actor.organization.id, {
            ...pageOf(query),
            ...omitUndefined({ search: query.search, status: query.status }),
          }),
          presentProject,
        ),
    }),
    mutation({
      name: 'createProject',
      method: 'POST',
      path: projectsPath,
      summary: 'Create a project',
      permission: 'projects:write',
      params: none,
      query: none,
      body: Schema.CreateProject,
      status: 201,
      answer,
      operation: ({ directory: store }, { actor, body }) =>
        directory.createProject(store, actor.organization.id, body.name),
      managed: managedProject,
      present: presentProject,
    }),
    read({
      name: 'getProject',
      isManaged: true,
      path: projectPath,
      summary: 'Read a project',
      permission: 'projects:read',
      params: Schema.ProjectParams,
      query: none,
      answer,
      tag: contentTag,
      operation: async ({ directory: store }, input) => presentProject(await findProject(store, projectAt(input))),
    }),
    mutation({
      name: 'updateProject',
      method: 'PATCH',
      path: projectPath,
      summary: 'Rename a project',
      permission: 'projects:write',
      params: Schema.ProjectParams,
      query: none,
      body: Schema.UpdateProject,
      answer,
      operation: ({ directory: store }, input) => directory.renameProject(store, projectAt(input), input.body.name),
      managed: managedProject,
      present: presentProject,
    }),
    mutation({
      name: 'archiveProject',
      method: 'POST',
      path: `${projectPath}/archive`,
      summary: 'Archive a project',
      description: 'The keys of the project stop working at once. Idempotent.',
      permission: 'projects:write',
      params: Schema.ProjectParams,
      query: none,
      body: none,
      answer,
      operation: ({ directory: store }, input) => directory.archiveProject(store, projectAt(input)),
      removes: ({ id }) => ({ id, keepsOwner: true }),
      present: presentProject,
    }),
    mutation({
      name: 'unarchiveProject',
      method: 'POST',
      path: `${projectPath}/unarchive`,
      summary: 'Unarchive a project',
      description: 'The keys of the project that are neither revoked nor expired work again. Idempotent.',
      permission: 'projects:write',
      params: Schema.ProjectParams,
      query: none,
      body: none,
      answer,
      operation: ({ directory: store }, input) => directory.unarchiveProject(store, projectAt(input)),
      managed: managedProject,
      present: presentProject,
    }),
  ]
}

const managedProject = ({ id }: Project): ManagedResource => ({ id, kind: 'project.updated' })

type ProjectInput = {
  readonly actor: { readonly organization: { readonly id: string } }
  readonly params: { readonly project_id: string }
}

const projectAt = ({ actor, params }: ProjectInput) => ({
  organizationId: actor.organization.id,
  projectId: params.project_id,
})

const presentProject = (project: Project): Static<typeof ProjectObject> => ({
  id: project.id,
  object: 'organization.project',
  name: project.name,
  status: project.archivedAtMs === null ? 'active' : 'archived',
  created_at: toUnixSeconds(project.createdAtMs),
  archived_at: project.archivedAtMs === null ? null : toUnixSeconds(project.archivedAtMs),
})

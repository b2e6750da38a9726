import { Fault } from '../../base/fault.ts'
import type { Administrator, Principal } from './principal.ts'
import type { DirectoryStore } from './store.ts'

/** An administrator as the caller of an inference request: it belongs to a project, which limits and pays for it. */
export async function playgroundCaller(
  store: Pick<DirectoryStore, 'findProject'>,
  { kind, id, organization, permissions, networks }: Administrator,
  projectId: string,
): Promise<Principal> {
  const param = 'project_id'
  const project = await store.findProject(organization.id, projectId)
  if (!project) throw new Fault('not_found', 'not_found', `There is no project ${projectId}.`, { param })
  if (project.archivedAtMs !== null)
    throw new Fault('conflict', 'invalid_state', `The project ${projectId} is archived. Name another project.`, {
      param,
    })
  return { kind, id, organization, projectId, models: null, permissions, networks }
}

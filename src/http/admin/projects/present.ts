import type { Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import type { Project } from '../../../domain/identity/principal.ts'
import type { ProjectObject } from './schema.ts'

export const presentProject = (project: Project): Static<typeof ProjectObject> => ({
  id: project.id,
  object: 'organization.project',
  name: project.name,
  status: project.archivedAtMs === null ? 'active' : 'archived',
  created_at: toUnixSeconds(project.createdAtMs),
  archived_at: project.archivedAtMs === null ? null : toUnixSeconds(project.archivedAtMs),
})

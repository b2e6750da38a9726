import { searchText } from '../../session/search-text.ts'

const views = ['events', 'verify'] as const
export type AuditView = (typeof views)[number]

/** What the address of the page holds beside the time range and the open event. */
export type AuditSearch = {
  readonly view?: AuditView | undefined
  readonly event_kind?: string | undefined
  readonly actor_id?: string | undefined
  readonly policy_id?: string | undefined
  readonly project_id?: string | undefined
  readonly resource_id?: string | undefined
  /** Signatures of the log are hidden unless somebody asks for them: there is one each minute. */
  readonly checkpoints?: true | undefined
}

export const readAuditSearch = (search: Record<string, unknown>): AuditSearch => ({
  view: views.find((view) => view === search['view']),
  event_kind: searchText(search['event_kind']),
  actor_id: searchText(search['actor_id']),
  policy_id: searchText(search['policy_id']),
  project_id: searchText(search['project_id']),
  resource_id: searchText(search['resource_id']),
  checkpoints: search['checkpoints'] === true ? true : undefined,
})

/** The filter by an object. A policy and a project have more events than those that change them. */
export const objectFilter = (id: string | undefined): AuditSearch => ({
  policy_id: id?.startsWith('pol_') === true ? id : undefined,
  project_id: id?.startsWith('proj_') === true ? id : undefined,
  resource_id: id !== undefined && !/^(pol|proj)_/.test(id) ? id : undefined,
})

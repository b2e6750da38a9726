import { auditKinds, type AuditKind } from '../../mutations/audit-log.ts'

/** OCSF class and activity of an event. */
export type EventClass = { readonly classUid: number; readonly activityId: number }

const apiActivity = 6003
const entityManagement = 3004
const api = (activityId: number): EventClass => ({ classUid: apiActivity, activityId })
const entity = (activityId: number): EventClass => ({ classUid: entityManagement, activityId })

const fixed = {
  'gateway.request.decided': api(1),
  'gateway.simulation.run': api(2),
  'gateway.config.updated': entity(3),
  'gateway.rollout.rolled_back': entity(12),
  'gateway.denial_spike.reported': api(3),
  'policy.created': entity(1),
  'policy.updated': entity(3),
  'policy.published': entity(10),
  'policy.rolled_back': entity(10),
  'policy.draft.discarded': entity(3),
  'policy.rollout.changed': entity(3),
  'policy.paused': entity(12),
  'policy.resumed': entity(13),
  'policy.deleted': entity(4),
  'policy.denial_spike.reported': api(3),
  'budget.threshold_reached': api(3),
  'export.test': api(3),
  'export.auth_error': api(3),
  'export.config_error': api(3),
  'export.dead_lettered': api(3),
  'export.backlog_alarm': api(3),
  'export.gap': api(3),
  'export.recovered': api(3),
  'audit.checkpoint': api(1),
  'audit.content.read': api(2),
  'audit.trimmed': api(4),
  'audit.events_lost': api(3),
  'audit.loss_accepted': api(3),
  'audit.signed_late': api(3),
  'audit.tamper_found': api(3),
} as const satisfies Record<string, EventClass>

const adminVerbs = {
  created: api(1),
  updated: api(3),
  archived: api(3),
  unarchived: api(3),
  deleted: api(4),
  revoked: api(4),
  removed: api(4),
  rotated: api(3),
  replayed: api(3),
  granted: api(1),
  corrected: api(3),
  recorded: api(1),
  erased: api(4),
  cancelled: api(3),
  denied: api(2),
  probed: api(2),
  tested: api(2),
  paused: api(3),
  resumed: api(3),
  fired: api(1),
  resolved: api(3),
  approved: api(3),
  opened: api(1),
  revealed: api(2),
  labelled: api(3),
  overturned: api(3),
  upheld: api(3),
  dismissed: api(3),
  ended: api(4),
  expired: api(4),
  activated: api(3),
  shadowed: api(3),
  retired: api(3),
} as const satisfies Record<string, EventClass>

type AdminVerb = keyof typeof adminVerbs

/** The stable code of an event, such as `policy.published` or `admin.project_key.created`. */
export type EventCode = keyof typeof fixed | `admin.${string}.${AdminVerb}`

/** First segments of the codes; an export sink can be limited to some of them. */
export const eventFamilies = ['gateway', 'policy', 'admin', 'budget', 'export', 'audit'] as const
export type EventFamily = (typeof eventFamilies)[number]

const adminPrefix = 'admin.'

/** The event code of an administrative kind: `project.created` becomes `admin.project.created`. */
export const codeOfKind = (kind: AuditKind): EventCode => (isFixedKind(kind) ? kind : `${adminPrefix}${kind}`)

/** The kind of an event as the API names it: its code without the prefix `admin.`. */
export const kindOfCode = (code: string): string =>
  code.startsWith(adminPrefix) ? code.slice(adminPrefix.length) : code

/** Kinds of rejected requests, which change nothing. */
const deniedKinds = ['api_key.denied', 'admin_api_key.denied', 'member.denied']

/** Every kind, for filters. */
export const eventKinds: readonly string[] = [...new Set([...auditKinds, ...deniedKinds, ...Object.keys(fixed)])].sort()

/** The event code for a filter by kind. */
export const codeOfFilter = (kind: string): string => (Object.hasOwn(fixed, kind) ? kind : adminPrefix + kind)

export function classOf(code: EventCode): EventClass {
  if (isFixed(code)) return fixed[code]
  const verb = code.slice(code.lastIndexOf('.') + 1)
  return isAdminVerb(verb) ? adminVerbs[verb] : api(99)
}

type FixedKind = Extract<AuditKind, keyof typeof fixed>
const isFixedKind = (kind: AuditKind): kind is FixedKind => isFixed(kind)
const isFixed = (code: string): code is keyof typeof fixed => Object.hasOwn(fixed, code)
const isAdminVerb = (verb: string): verb is AdminVerb => Object.hasOwn(adminVerbs, verb)

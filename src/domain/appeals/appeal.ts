import type { Check } from '../audit/event/verdict.ts'
import type { Page, Paged } from '../identity/store.ts'
import type { TextDirection } from '../scan/classify/classifier.ts'
import type { Label, LabelFilter } from './label.ts'

export const appealClaims = ['should_be_allowed', 'should_be_denied'] as const
export type AppealClaim = (typeof appealClaims)[number]

/** Who opened it: a key of the project, a person with the address of the decision, an administrator, or two judges that differ. */
export const appealOrigins = ['caller', 'person', 'administrator', 'judge'] as const
export type AppealOrigin = (typeof appealOrigins)[number]

/** How a reviewer closes an appeal. */
export const appealOutcomes = ['overturned', 'upheld', 'dismissed'] as const
export type AppealOutcome = (typeof appealOutcomes)[number]

export const appealStates = ['open', ...appealOutcomes, 'expired'] as const
export type AppealState = (typeof appealStates)[number]

/** Somebody says that the decision on a request was wrong. There is at most one for each decision, besides those of judges. */
export type Appeal = {
  readonly id: string
  readonly organizationId: string
  /** The decision, in the audit log. */
  readonly eventId: string
  readonly requestId: string | null
  readonly projectId: string | null
  /** The policy that decided, or that should have; null if the decision is not about a policy. */
  readonly policyId: string | null
  readonly policyVersion: number | null
  /** The check that decided; null if every check allowed the request. */
  readonly check: Check | null
  /** Which text of the request is disputed. */
  readonly direction: TextDirection
  readonly claim: AppealClaim
  readonly origin: AppealOrigin
  /** The key or member; null for a person with the address, and for judges. */
  readonly openedBy: string | null
  /** Why the decision was wrong, in the words of who opened it; null after it was erased. */
  readonly note: string | null
  /** The answer to who opened it. */
  readonly reason: string | null
  readonly state: AppealState
  /** The case that the text became. */
  readonly caseId: string | null
  readonly openedAtMs: number
  readonly expiresAtMs: number
  readonly closedAtMs: number | null
  readonly closedBy: string | null
}

export type AppealFilter = {
  readonly state?: AppealState
  readonly policyId?: string
  /** Only those that somebody has labelled. */
  readonly isLabelled?: true
  /** An open appeal whose time is over counts as expired. */
  readonly nowMs: number
}

/** The closed appeals about a policy, without those of judges: they are about texts on which judges differ, not about decisions. */
export type ClosedAppeals = { readonly policyId: string; readonly overturned: number; readonly closed: number }

export type AppealStore = {
  /** Makes the transactions that change appeals of an organization wait for one another. */
  lock(organizationId: string): Promise<void>
  /** Returns false if there is an appeal against this decision; of judges, about this text and policy. */
  insert(appeal: Appeal): Promise<boolean>
  find(organizationId: string, id: string): Promise<Appeal | undefined>
  /** The one against the decision, not those of judges. */
  findByEvent(organizationId: string, eventId: string): Promise<Appeal | undefined>
  list(organizationId: string, filter: AppealFilter, page: Page): Promise<Paged<Appeal>>
  /** When a key or member opened its last appeals, the oldest first. */
  openedSince(organizationId: string, openedBy: string, sinceMs: number): Promise<readonly number[]>
  /** Writes the state, the reason and the case. Returns false if the appeal was closed before. */
  close(appeal: Appeal): Promise<boolean>
  /** Returns false if this person has labelled it before. */
  insertLabel(label: Label): Promise<boolean>
  /** The labels of an appeal, the oldest first. */
  labels(organizationId: string, appealId: string): Promise<readonly Label[]>
  listLabels(organizationId: string, filter: LabelFilter, page: Page): Promise<Paged<Label>>
  countOpen(organizationId: string, nowMs: number): Promise<number>
  /** Of policies with appeals that people decided since then. */
  closedSince(organizationId: string, sinceMs: number): Promise<readonly ClosedAppeals[]>
}

/** Finds open appeals of all organizations whose time is over. */
export type FindDueAppeals = (nowMs: number, limit: number) => Promise<readonly Pick<Appeal, 'id' | 'organizationId'>[]>

import { command } from '../../kit/command.ts'
import type { Appeal, Outcome, Resolution } from './queries.ts'

export type ExceptionSubject = NonNullable<Resolution['exception']>['for']

/** What is typed for the exception: whom it is for, why, and for how many days. */
export type ExceptionForm = { readonly of: ExceptionSubject; readonly reason: string; readonly days: string }

/** What is typed for the draft. Only the chosen way is sent. */
export type DraftForm = { readonly way: 'threshold' | 'rule'; readonly threshold: string; readonly rule: string }

/** What is typed when an appeal is closed. */
export type ResolutionForm = {
  readonly answer: string
  readonly isCase: boolean
  /** What the case is about; empty for the id of the appeal. */
  readonly says: string
  readonly draft: DraftForm | undefined
  readonly exception: ExceptionForm | undefined
}

const daySeconds = 86_400
const maxDays = 30

const highestThreshold = 9_999

/** The nearest threshold that decides the text otherwise; undefined if none does. */
export function movedThreshold({ claim, decision }: Pick<Appeal, 'claim' | 'decision'>): number | undefined {
  const score = decision?.score_bp ?? null
  if (score === null) return undefined
  const threshold = claim === 'should_be_denied' ? score : score + 1
  return threshold >= 1 && threshold <= highestThreshold ? threshold : undefined
}

/** Whether everything that was chosen is filled in. The rule of the draft must differ from the present one. */
export const isComplete = ({ draft, exception }: ResolutionForm, presentRule: string | undefined): boolean =>
  (exception === undefined || isDayCount(exception.days)) &&
  (draft === undefined ||
    (draft.way === 'rule' ? draft.rule.trim() !== '' && draft.rule !== presentRule : Number(draft.threshold) >= 1))

export const isDayCount = (days: string): boolean => /^\d+$/.test(days) && Number(days) >= 1 && Number(days) <= maxDays

/** Only a wrong denial by a policy has something that further requests can be excepted from. */
export const canHaveException = ({ policy, claim }: Pick<Appeal, 'policy' | 'claim'>, outcome: Outcome | undefined) =>
  outcome === 'overturned' && claim === 'should_be_allowed' && policy !== null

type Named = { readonly user_id: string | null; readonly api_key_id: string | null; readonly project_id: string | null }

/** What an exception can be for: what the request names. All, while the request is not known. */
export const subjectsOf = (request: Named | undefined, hasText: boolean): readonly ExceptionSubject[] => [
  ...(request === undefined || request.user_id !== null ? (['user'] as const) : []),
  ...(request === undefined || request.api_key_id !== null ? (['key'] as const) : []),
  ...(request === undefined || request.project_id !== null ? (['project'] as const) : []),
  ...(hasText ? (['text'] as const) : []),
]

type At = { readonly revision: number; readonly nowSeconds: number }

/** The body of the request. Only where the decision was wrong is something changed. */
export function resolutionOf(form: ResolutionForm, outcome: Outcome, { revision, nowSeconds }: At): Resolution {
  const { answer, isCase, says, draft, exception } = form
  const reason = answer.trim() === '' ? {} : { reason: answer }
  if (outcome === 'dismissed') return { outcome, ...reason }
  return {
    outcome,
    ...reason,
    ...(isCase && { case: says.trim() === '' ? (true as const) : { says } }),
    ...(outcome === 'overturned' && draft !== undefined && { draft: draftOf(draft), revision }),
    ...(outcome === 'overturned' &&
      exception !== undefined && {
        exception: {
          for: exception.of,
          ...(exception.reason.trim() !== '' && { reason: exception.reason }),
          expires_at: Math.floor(nowSeconds) + Number(exception.days) * daySeconds,
        },
      }),
  }
}

const draftOf = ({ way, threshold, rule }: DraftForm): NonNullable<Resolution['draft']> =>
  way === 'rule' ? { rule } : { match_threshold_basis_points: Number(threshold) }

/** The same as a command. */
export function resolveCommand(id: string, { outcome, reason, draft, revision, ...made }: Resolution, days: string) {
  const { exception } = made
  return command(`appeals resolve ${id}`, {
    outcome,
    reason,
    case: made.case === undefined ? undefined : true,
    says: made.case === true ? undefined : made.case?.says,
    threshold: draft?.match_threshold_basis_points?.toString(),
    rule: draft?.rule,
    revision: revision?.toString(),
    exception: exception?.for,
    until: exception && `${days}d`,
    'exception-reason': exception?.reason,
  })
}

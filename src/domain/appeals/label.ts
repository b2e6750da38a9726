/** Whether the rule should match the text. `unsure` decides nothing. */
export const labelAnswers = ['match', 'no_match', 'unsure'] as const
export type LabelAnswer = (typeof labelAnswers)[number]
export type SureAnswer = Exclude<LabelAnswer, 'unsure'>

/** What a person says about the text of a decision. */
export type Label = {
  readonly id: string
  readonly organizationId: string
  readonly appealId: string
  readonly eventId: string
  readonly requestId: string | null
  /** The case that the text became. */
  readonly caseId: string | null
  readonly policyId: string | null
  readonly should: LabelAnswer
  /** Whether the person had not seen the decision. */
  readonly isBlind: boolean
  readonly note: string | null
  readonly labelledBy: string
  readonly labelledAtMs: number
}

export type LabelFilter = {
  readonly policyId?: string
  readonly eventId?: string
  readonly should?: LabelAnswer
  /** The key or member. */
  readonly by?: string
  /** Who reads. Labels of appeals that are open at this time are left out unless they have labelled the appeal. */
  readonly reader: string
  readonly nowMs: number
}

type Answer = Pick<Label, 'should'>

/** What people agree on. If two answers differ, a third person decides. Undefined while nobody is sure, or nobody has the majority. */
export function agreedAnswer(labels: readonly Answer[]): SureAnswer | undefined {
  const count = (answer: LabelAnswer): number => labels.filter(({ should }) => should === answer).length
  const [matches, others] = [count('match'), count('no_match')]
  if (matches === others) return undefined
  return matches > others ? 'match' : 'no_match'
}

/** Whether people disagree, so that another person has to answer. */
export const needsAnotherPerson = (labels: readonly Answer[]): boolean =>
  agreedAnswer(labels) === undefined && labels.some(({ should }) => should !== 'unsure')

import type { RuleScore } from '../../policy/compiled-rule.ts'
import { addFindings, isNothing, nothingFound, type Findings } from './findings.ts'

/** What all checks found in some texts, before anybody decides. */
export type TextFindings = {
  readonly findings: Findings
  /** Per text, then per policy that was asked. */
  readonly scores: readonly (readonly RuleScore[])[]
  /** The texts that the gateway's own lists and categories hit. */
  readonly offending: readonly string[]
  /** Of one text at least it is not the last word. */
  readonly isProvisional: boolean
}

/** What was found in several lots of texts, in their order. */
export const joinTextFindings = (lots: readonly TextFindings[]): TextFindings => ({
  findings: lots.reduce((all, { findings }) => addFindings(all, findings), nothingFound),
  scores: lots.flatMap(({ scores }) => scores),
  offending: lots.flatMap(({ offending }) => offending),
  isProvisional: lots.some(({ isProvisional }) => isProvisional),
})

/** Nothing was found, and no policy gave more than 0. */
export const isClean = ({ findings, scores }: Pick<TextFindings, 'findings' | 'scores'>): boolean =>
  isNothing(findings) && scores.every(areAllZero)

const areAllZero = (scores: readonly RuleScore[]): boolean =>
  scores.every((score) => 'basisPoints' in score && score.basisPoints === 0)

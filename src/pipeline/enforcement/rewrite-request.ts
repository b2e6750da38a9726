import { changeTexts } from '../../domain/evaluation/texts/change-texts.ts'
import type { Evaluation, Evaluate } from '../../domain/evaluation/findings/evaluate.ts'
import type { Plan } from '../../domain/evaluation/rules/plan.ts'
import { isRephrasing, type Rephrase } from '../../domain/evaluation/verdict/rephrase.ts'
import type { InferenceRequest } from '../../domain/inference/request.ts'
import type { TextDirection } from '../../domain/moderation/classifier.ts'
import { redact } from '../../domain/moderation/personal-data/redact.ts'
import type { PlaceholderMap } from '../../domain/moderation/personal-data/placeholder-map.ts'

/** Writes texts anew as a verdict wants it; undefined where that cannot be done, or was done no better. */
export type Rephraser = (
  examination: Evaluation,
  direction: TextDirection,
  signal: AbortSignal,
) => Promise<ReadonlyMap<string, string> | undefined>

/** What a model has written anew is judged like any other text: it may not be believed to have obeyed. */
export function createRephraser(plan: Plan, examine: Evaluate, rephrase: Rephrase | undefined): Rephraser {
  return async ({ verdict, offending }, direction, signal) => {
    const kind = verdict.effectiveDecision
    if (rephrase === undefined || !isRephrasing(kind) || offending.length === 0) return undefined
    try {
      const written = await Promise.all(offending.map((text) => rephrase(text, kind, signal)))
      const again = await examine(plan, { texts: written, direction })
      const isFit = again.offending.length === 0 && again.verdict.outcomes.every(isHarmless)
      return isFit ? new Map(offending.map((text, at) => [text, written[at] ?? ''])) : undefined
    } catch {
      return undefined
    }
  }
}

/** A text alone need not hold what the allowlist wants of all of them together. */
const isHarmless = ({ check, effect, isEnforced }: Evaluation['verdict']['outcomes'][number]): boolean =>
  !isEnforced || effect === 'allow' || effect === 'redact' || check === 'gateway'

/** The request with some of its texts replaced. */
export const withTexts = (request: InferenceRequest, texts: ReadonlyMap<string, string>): InferenceRequest =>
  changeTexts(request, (text) => texts.get(text) ?? text)

/** The request with placeholders in place of personal data; the vault knows what for. */
export const withoutPersonalData = (request: InferenceRequest, vault: PlaceholderMap): InferenceRequest =>
  changeTexts(request, (text) => redact(text, vault))

/** Whether personal data is taken out of what passes. */
export const isRedacting = ({ gateway, rollout }: Plan): boolean => rollout.isEnforced && gateway.config.rules.redact

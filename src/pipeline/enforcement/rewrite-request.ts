import type { Evaluation, Evaluate } from '../../domain/evaluation/evaluate.ts'
import type { Plan } from '../../domain/evaluation/plan.ts'
import { isRephrasing, type Rephrase } from '../../domain/evaluation/verdict/rephrase.ts'
import type { ModelRequest } from '../../domain/inference/request.ts'
import type { TextDirection } from '../../domain/scan/classify/classifier.ts'
import { redact } from '../../domain/scan/detect/personal-data/redact.ts'
import type { PlaceholderMap } from '../../domain/scan/detect/personal-data/placeholder-map.ts'
import type { Operation } from '../operation.ts'

/** Rephrases offending texts as the verdict requires. Undefined if that fails or the new texts are denied as well. */
export type Rephraser = (
  evaluation: Evaluation,
  direction: TextDirection,
  signal: AbortSignal,
) => Promise<ReadonlyMap<string, string> | undefined>

/** Rephrased texts are evaluated like any other, because the model may not have followed its instruction. */
export function createRephraser(plan: Plan, evaluate: Evaluate, rephrase: Rephrase | undefined): Rephraser {
  return async ({ verdict, offendingTexts }, direction, signal) => {
    const kind = verdict.effectiveDecision
    if (rephrase === undefined || !isRephrasing(kind) || offendingTexts.length === 0) return undefined
    try {
      const rephrased = await Promise.all(offendingTexts.map((text) => rephrase(text, kind, signal)))
      const again = await evaluate(plan, { texts: rephrased, direction })
      const isAllowed = again.offendingTexts.length === 0 && again.verdict.decisions.every(isHarmless)
      return isAllowed ? new Map(offendingTexts.map((text, at) => [text, rephrased[at] ?? ''])) : undefined
    } catch {
      return undefined
    }
  }
}

/** Ignores the gateway's decision: a single text need not contain the allowlist term that all texts together must contain. */
const isHarmless = ({ check, effect, isEnforced }: Evaluation['verdict']['decisions'][number]): boolean =>
  !isEnforced || effect === 'allow' || effect === 'redact' || check === 'gateway'

/** The request with some of its texts replaced. */
export const withTexts = <Request extends ModelRequest>(
  operation: Operation<Request>,
  request: Request,
  texts: ReadonlyMap<string, string>,
): Request => operation.changeTexts(request, (text) => texts.get(text) ?? text)

/** The request with placeholders instead of personal data; the map can restore it. */
export const withoutPersonalData = <Request extends ModelRequest>(
  operation: Operation<Request>,
  request: Request,
  placeholderMap: PlaceholderMap,
): Request => operation.changeTexts(request, (text) => redact(text, placeholderMap))

/** Whether the plan redacts personal data in requests and responses. */
export const isRedacting = ({ gateway, rollout }: Plan): boolean => rollout.isEnforced && gateway.config.rules.redact

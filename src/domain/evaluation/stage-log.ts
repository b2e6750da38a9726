import type { ClassifierFacts } from '../audit/event/verdict.ts'
import { strongestStage, type ClassifierIdentity, type TextDirection } from '../scan/classify/classifier.ts'
import { noFindings, type Findings } from './findings.ts'

/** Notes for one request and its response which stage of the classifier decided, for the audit event. */
export type StageLog = {
  /** Called with findings that flag a category, or for which the first stage was not enough. */
  note(findings: Findings, direction: TextDirection): void
  /** The classifier with the stage that decided about the request or the response; without a direction, about both. */
  decidedBy(direction?: TextDirection): ClassifierFacts
}

type Staged = Pick<Findings, 'categories' | 'stage'>

export function createStageLog({ id, version }: ClassifierIdentity): StageLog {
  let request: Staged = noFindings
  let response: Staged = noFindings
  return {
    note(findings, direction) {
      if (direction === 'request') request = stronger(request, findings)
      else response = stronger(response, findings)
    },
    decidedBy(direction) {
      const ofDirection = direction === 'request' ? request : response
      const { stage = 'linear' } = direction === undefined ? stronger(request, response) : ofDirection
      return { id, version, stage }
    },
  }
}

function stronger(first: Staged, second: Staged): Staged {
  const stage = strongestStage(
    { flagged: first.categories, stage: first.stage },
    { flagged: second.categories, stage: second.stage },
  )
  return { categories: [...first.categories, ...second.categories], ...(stage !== undefined && { stage }) }
}

import { ConfigError, type Config } from '../config/config.ts'
import type { DayBudget } from '../domain/judges/day-budget.ts'
import { fileJudgeId } from '../domain/judges/judge.ts'
import type { JudgeTally } from '../domain/judges/tally.ts'
import { judgePrompt, judgeVersionOf } from '../domain/policy/judge-prompt.ts'
import type { Judge, RuleJudge } from '../domain/policy/judge.ts'
import type { RuleScore } from '../domain/policy/rule-score.ts'
import { createScanCache, type ScanCache } from '../domain/scan/scan-cache.ts'
import { createCallModel, type CallModelParts } from '../pipeline/judge/call-model.ts'
import { createJudge, type JudgeParts, type JudgeResult } from '../pipeline/judge/judge.ts'
import { countQuestions, type OrganizationJudges } from '../pipeline/judge/organization-judges.ts'
import { createRephrase } from '../pipeline/judge/rephrase.ts'
import type { ServedModels } from './upstreams/models.ts'

export type JudgeSettings = NonNullable<Config['policies']['judge']>

type FileJudgeParts = Omit<CallModelParts, 'findModel'> & {
  readonly settings: JudgeSettings
  readonly served: ServedModels
  readonly cache: ScanCache<RuleScore>
  readonly tally: JudgeTally
  readonly budget: DayBudget
  readonly onResult: (result: JudgeResult) => void
}

/** The judge of the configuration. */
export function openFileJudge({ settings, served, cache, tally, onResult, ...calling }: FileJudgeParts) {
  const { catalogue, providers } = served
  const { random } = calling
  const findModel = () => {
    const model = catalogue.find(settings.model)
    return model && { model, providers }
  }
  if (!findModel()) throw new ConfigError([`policies.judge.model: there is no model ${settings.model}`])
  const callModel = createCallModel({ ...calling, findModel })
  const version = judgeVersionOf(settings.model)
  const of = { judgeId: fileJudgeId, version: 0 }
  const shared = { callModel, random, timeoutMs: settings.timeout_ms, promptOf: judgePrompt, name: fileJudgeId }
  const noHooks = { onResult, onScore: undefined, onSpent: undefined, onRemembered: undefined }
  const askIn = (shadowOf: OrganizationJudges['shadowOf']): Judge =>
    createJudge({
      ...shared,
      ...countQuestions(of, tally, {
        ...noHooks,
        onScore: (request, score) => shadowOf(request.organizationId)?.compare(request, score),
        onRemembered: ({ organizationId, policyId }) =>
          tally.count({ ...of, organizationId, policyId }, { remembered: 1 }),
      }),
      cache,
    })
  return {
    askIn,
    judge: {
      version,
      ask: askIn(() => undefined),
      onSkipped: ({ organizationId, policyId }) => tally.count({ ...of, organizationId, policyId }, { skipped: 1 }),
    } satisfies RuleJudge,
    open: ({ onSpent }: Pick<JudgeParts, 'onSpent'>): Judge =>
      createJudge({
        ...shared,
        ...countQuestions(of, tally, { ...noHooks, onSpent }),
        cache: createScanCache<RuleScore>(0),
      }),
    rephrase: createRephrase({ callModel, random, timeoutMs: settings.rephrase_timeout_ms }),
  }
}

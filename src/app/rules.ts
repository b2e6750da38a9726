import { createBoundedCompiler } from '../adapters/cel/bounded.ts'
import { createCelChecker } from '../adapters/cel/cel.ts'
import { createExpressionThread } from '../adapters/cel/thread.ts'
import { createSemaphore } from '../base/semaphore.ts'
import { ConfigError, type Config } from '../config/config.ts'
import type { Rephrase } from '../domain/evaluation/verdict/rephrase.ts'
import { createUpstreamHealth } from '../domain/inference/health.ts'
import type { CompileRule } from '../domain/policy/compiled-rule.ts'
import type { Judge } from '../domain/policy/judge.ts'
import { createInspectRule, type InspectRule } from '../domain/policy/inspect-rule.ts'
import { judgeVersionOf } from '../domain/policy/judge-prompt.ts'
import { createRuleCompiler } from '../domain/policy/rule-compiler.ts'
import { createCallModel, type CallModelParts } from '../pipeline/judge/call-model.ts'
import { createDayBudget } from '../pipeline/judge/day-budget.ts'
import { createJudge, judgeResults, type JudgeResult } from '../pipeline/judge/judge.ts'
import { createRephrase } from '../pipeline/judge/rephrase.ts'
import { openClassifier, type OpenClassifier } from './classifier.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { ServedModels } from './upstreams/models.ts'

export type Rules = OpenClassifier & {
  readonly compileRule: CompileRule
  readonly inspectRule: InspectRule
  /** Undefined if no judge is configured; a text that a rule would have rephrased is then rejected. */
  readonly rephrase: Rephrase | undefined
  /** A text passes if the judge did not answer for a rule. */
  readonly failsOpen: boolean
}

type JudgeSettings = NonNullable<Config['policies']['judge']>

/** The classifier, the compiler of rules, and the model that evaluates rules in plain language and rephrases texts. */
export async function createRules(infrastructure: Infrastructure, served: ServedModels): Promise<Rules> {
  const { built, clock, config } = infrastructure
  const { judge: settings, expression_time_ms: limitMs } = config.policies
  const { judge, rephrase } = settings === undefined ? noJudge : openJudge(infrastructure, served, settings)
  const thread = built.use(createExpressionThread({ clock, limitMs }))
  const compileExpression = createBoundedCompiler({ clock, thread })
  const compileRule = createRuleCompiler({
    compileExpression,
    judge,
    judgeVersion: settings && judgeVersionOf(settings.model),
  })
  return {
    ...(await openClassifier(infrastructure)),
    compileRule,
    inspectRule: createInspectRule({ checkExpression: createCelChecker(), compileRule }),
    rephrase,
    failsOpen: settings?.fail === 'open',
  }
}

type JudgeParts = { readonly judge: Judge | undefined; readonly rephrase: Rephrase | undefined }

const noJudge: JudgeParts = { judge: undefined, rephrase: undefined }

function openJudge(
  infrastructure: Infrastructure,
  { catalogue, providers }: ServedModels,
  settings: JudgeSettings,
): JudgeParts {
  const { clock, random, ids, log } = infrastructure
  const findModel = () => catalogue.find(settings.model)
  if (!findModel()) throw new ConfigError([`policies.judge.model: there is no model ${settings.model}`])
  const { onUsage, onResult, budget } = countJudging(infrastructure, settings)
  const callModel = createCallModel({
    providers,
    // Separate from the health that requests use: a slow judge must not trip the circuit breaker of an upstream.
    health: createUpstreamHealth(clock),
    clock,
    random,
    ids,
    findModel,
    semaphore: createSemaphore(settings.max_concurrent),
    budget,
    onUsage,
    onFailedCall: ({ upstream }, fault) =>
      log.warn({ upstream, code: fault.code }, `the judge failed: ${fault.message}`),
  })
  const { timeout_ms: timeoutMs, rephrase_timeout_ms, remembered_verdicts: cacheEntries } = settings
  return {
    judge: createJudge({ callModel, random, timeoutMs, cacheEntries, onResult }),
    rephrase: createRephrase({ callModel, random, timeoutMs: rephrase_timeout_ms }),
  }
}

/** No organization pays for the judge, so its usage is counted in metrics. */
function countJudging({ metrics, clock }: Infrastructure, settings: JudgeSettings) {
  const verdicts = metrics.counter('gatehouse_judge_verdicts_total', 'Calls to the judge, by result.', {
    result: judgeResults,
  })
  const tokens = metrics.counter('gatehouse_judge_tokens_total', 'Tokens that the judge used.', {
    kind: ['input', 'output'],
  })
  const cost = metrics.counter('gatehouse_judge_usd_total', 'Cost of the judge, by the prices of its model.', {})
  const budget = createDayBudget(clock, settings.max_usd_per_day)
  metrics.gauge('gatehouse_judge_spent_today_usd', 'Cost of the judge today.', budget.spentTodayUsd)
  const onUsage: CallModelParts['onUsage'] = (usage, usd) => {
    tokens.add({ kind: 'input' }, usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens)
    tokens.add({ kind: 'output' }, usage.outputTokens)
    cost.add({}, usd)
  }
  return { budget, onUsage, onResult: (result: JudgeResult): void => verdicts.add({ result }) }
}
